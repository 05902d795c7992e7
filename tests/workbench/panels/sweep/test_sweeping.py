"""A sweep in the real window: it runs, is kept, stands still, ends, and the window stays live."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import Qt, QThread, QTimer
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QProgressBar,
    QTableWidget,
    QToolButton,
)

from kernels.core.cpu_load import Load
from kernels.core.device import NoDevice
from kernels.core.errors import DeviceLostError, SessionFileError
from kernels.core.job import Progress
from kernels.core.timing import Timing
from kernels.pictures.generated import noise
from kernels.sweeps import machine, plan_run
from kernels.sweeps.cell_jobs import NO_TEXTS
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.record import Machine, Record
from kernels.sweeps.session_files import SessionFile, read_session
from tests.made_sessions import LAPTOP, PLANS, a_session, wrong
from tests.workbench.driving import (
    action,
    answer_file_dialogs,
    child,
    click,
    drop,
    ready,
    settle,
    show_picture,
    trigger,
    until,
)
from tests.workbench.engines import DEVICE, MadeUpGpu, Scripted
from tests.workbench.panels.sweep.test_sweep_panel import is_able, ticks
from workbench.model.plan_draft import short
from workbench.panels.sweep.sweep_controller import unfinished
from workbench.panels.sweep.sweep_panel import OTHER
from workbench.session import session_store
from workbench.session.exporter import save_png
from workbench.session.session_store import NotKept, folder
from workbench.widgets.tile import ElidedLabel
from workbench.window import picture_intake

HERE = Plan("Three sizes", ("opencv",), ((4, 4), (5, 5), (6, 6)))


def ask_for(window, values, *implementations):
    """Type the sizes, tick the implementations and no others."""
    box = child(window, "values-sizes", QLineEdit)
    box.setText(values)
    box.textEdited.emit(values)
    tick_only(window, implementations)


def tick_only(window, keys):
    for key, tick in ticks(window.sweep.get()).items():
        if is_able(tick):
            tick.setCheckState(Qt.CheckState.Checked if key in keys else Qt.CheckState.Unchecked)


def start(window, values="4, 8", *implementations):
    ask_for(window, values, *(implementations or ("opencv",)))
    click(child(window, "sweep-start"))


def doing(window):
    return child(window, "sweep-doing", ElidedLabel).whole_text


def live(window):
    return window.sessions.live.session


def widths(session):
    return [record.cell.width for record in session.records]


def ended(qtbot, window):
    until(qtbot, lambda: doing(window).startswith(("Done", "Stopped")))


def kept_file(folder, session, name="other.jsonl"):
    """A file that holds `session`."""
    with SessionFile.create(folder / name, session.plan, session.machine) as file:
        for record in session.records:
            file.append(record)
    return folder / name


@pytest.fixture
def endless(make_window, monkeypatch):
    """A window whose sweeps measure one cell, in one round, and then never end."""

    def sweeping(plan, engine, given, before=(), texts=NO_TEXTS):
        once = replace(plan, sampling=replace(plan.sampling, max_samples=1))
        for step in plan_run.sweeping(once, engine, given, before, texts):
            yield step
            while isinstance(step, Record):
                yield Progress("waiting")

    monkeypatch.setattr("workbench.session.session_store.sweeping", sweeping)
    return make_window()


def one_measured(qtbot, window):
    until(qtbot, lambda: window.sessions.live and len(live(window).records) == 1)


def test_a_sweep_measures_every_cell_and_keeps_it(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    window.docks.enter("Sweep")
    start(window, "4, 8×6")
    ended(qtbot, window)
    assert window.focusWidget() is child(window, "sweep-start")
    assert doing(window).startswith("Done: 2 of 2 in")
    assert widths(live(window)) == [4, 8]
    assert all(record.verified for record in live(window).records)
    bar = child(window, "sweep-progress", QProgressBar)
    assert bar.value() == bar.maximum() == 2
    (path,) = session_store.saved_sessions()
    assert window.sessions.live.path == path
    assert widths(read_session(path)) == [4, 8]
    assert child(window, "sweep-start").isEnabled()
    assert window.messages.kind != "error", window.messages.sentence
    window.docks.enter("Sweep")
    window.store.choose(ksize=7)  # while the plan is folded away
    until(qtbot, lambda: doing(window).endswith(OTHER))
    assert doing(window).startswith("Done: 2 of 2 in")
    window.store.choose(ksize=5)
    until(qtbot, lambda: not doing(window).endswith(OTHER))


# -- it stands still, and ends


def test_a_sweep_is_cancelled_and_keeps_what_was_measured(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless)
    endless.docks.enter("Sweep")
    one_measured(qtbot, endless)
    cancel = child(endless, "sweep-cancel")
    line = [child(endless, f"sweep-{name}") for name in ("progress", "left")]

    def ends():
        return max(each.geometry().right() for each in line if each.isVisible())

    until(qtbot, lambda: ends() == cancel.geometry().right())
    click(cancel)
    ended(qtbot, endless)
    assert endless.focusWidget() is child(endless, "sweep-start")
    assert doing(endless).startswith("Stopped: 1 of 2 in")
    assert widths(read_session(session_store.saved_sessions()[0])) == [4]
    assert child(endless, "sweep-start").isEnabled()
    assert not child(endless, "sweep-cancel").isEnabled()
    assert endless.messages.kind != "error", endless.messages.sentence


def test_a_paused_sweep_measures_nothing_and_then_goes_on(qtbot, make_window):
    show, gate = [], [True]

    def script(job, steps):
        show.append(job.picture.shape)
        while gate[0] and job.picture.shape[0] == 4:
            yield Progress("waiting")
        yield from steps

    window = make_window(lambda: Scripted(script))
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4, 5")
    button = child(window, "sweep-start")
    assert not button.isEnabled() or button.text() == "P&ause"
    until(qtbot, lambda: (4, 4, 1) in show and window.sweep.get().run.phase == "running")
    until(qtbot, lambda: doing(window).startswith("0 of 2 in round 1 of 10 · "))
    assert button.text() == "P&ause"
    click(button)
    until(qtbot, lambda: doing(window).startswith("Paused at 0 of 2 in round 1 of 10"))
    ask_for(window, "nonsense", ("opencv",))
    assert child(window, "sweep-plan", ElidedLabel).whole_text == short(live(window).plan)
    assert button.text() == "Resume"
    gate[0] = False
    settle(qtbot, window, lambda: window.store.update(border="wrap"))
    qtbot.wait(50)
    assert live(window).records == ()
    click(button)
    ended(qtbot, window)
    assert button.text() == "St&art"
    assert widths(live(window)) == [4, 5]


# -- what goes wrong


def test_a_gpu_lost_in_a_sweep_is_a_sentence_and_nothing_measured_is_lost(qtbot, make_window):
    class Lost(MadeUpGpu):
        def filtering(self, job, sampling=None):
            for step in super().filtering(job, sampling):
                if job.picture.shape[0] == 4 and job.implementation == "shared":
                    raise DeviceLostError("The GPU failed while filtering; restart the program.")
                yield step

    window = ready(qtbot, make_window(Lost), noise(8, 8))
    start(window, "3, 4, 5", "shared", "opencv")
    until(qtbot, lambda: window.messages.kind == "warning")
    assert window.messages.sentence == "The GPU failed while filtering; restart the program."
    ended(qtbot, window)
    assert doing(window).startswith("Stopped: ")
    assert widths(read_session(session_store.saved_sessions()[0])) == widths(live(window))
    assert {3, 4, 5} > set(widths(live(window))) >= {3}
    assert child(window, "sweep-start").isEnabled()
    settle(qtbot, window, lambda: window.store.update(border="wrap"))


def test_a_full_disk_is_one_sentence_and_the_sweep_goes_on(qtbot, window, monkeypatch):
    def full(self, record):
        raise SessionFileError("A measurement could not be written (No space left on device).")

    show_picture(qtbot, window, noise(8, 8))
    told = []
    window.worker.sweep.stepped.connect(lambda each: told.append(isinstance(each, NotKept)))
    with monkeypatch.context() as patch:
        patch.setattr(SessionFile, "append", full)
        start(window, "4, 5")
        ended(qtbot, window)
    assert widths(live(window)) == [4, 5]
    assert sum(told) == 1
    assert window.messages.kind == "warning"
    assert "No space left on device" in window.messages.sentence
    lost = window.sessions.live.number
    start(window, "6")  # what no file holds must not go for it
    until(qtbot, lambda: window.sessions.live.number != lost)
    ended(qtbot, window)
    new, old = window.sessions.sessions()
    assert (widths(new), widths(old)) == ([6], [4, 5])
    window.sessions.close(lost)
    start(window, "7")
    until(qtbot, lambda: widths(live(window)) == [7])
    assert len(window.sessions.shown) == 1  # the file of the one before holds it


# -- sessions from files


def test_a_session_from_another_machine_is_shown_beside_the_live_one(qtbot, window, tmp_path):
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4")
    ended(qtbot, window)
    path = kept_file(tmp_path, a_session("sizes"))
    window.intake.open_paths([path])
    until(qtbot, lambda: len(window.sessions.shown) == 2)
    mine, theirs = window.sessions.sessions()
    assert (mine.is_recorded, theirs.is_recorded) == (False, True)
    assert theirs.machine.gpu == "NVIDIA H200"
    rows = child(window, "session-list")
    until(qtbot, rows.isVisible)
    assert not child(window, "sweep-source").isVisible()  # the chart has the room

    def lines():
        words = [each.accessibleName() for each in rows.findChildren(QLabel)]
        return [(words[at], words[at + 1].split(" · ")[0]) for at in range(0, len(words), 2)]

    told = [("Gaussian blur 5×5", "measured here"), ("Image size", "NVIDIA H200, from a file")]
    until(qtbot, lambda: lines() == told)
    click(child(window, f"close-{window.sessions.shown[1].number}", QToolButton))
    assert window.sessions.sessions() == (mine,)
    assert path.exists()


def test_a_session_is_dropped_on_the_window_and_opened_once(qtbot, window, tmp_path):
    path = kept_file(tmp_path, a_session("sizes"))
    assert drop(window, path)
    assert drop(window, path)
    until(qtbot, lambda: window.sessions.shown)
    qtbot.wait(50)
    assert len(window.sessions.shown) == 1
    assert window.store.state.picture is None


def test_a_broken_session_is_one_sentence(qtbot, window, tmp_path):
    broken = {"empty.jsonl": b"", "broken.jsonl": b"{\n", "z.jsonl.gz": b"\x1f"}
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    for name in ("gone.jsonl", *broken):
        window.sweep_menu.open_session(tmp_path / name)
        until(qtbot, lambda name=name: name in window.messages.sentence)
        assert window.messages.kind == "error"
        assert window.sessions.shown == ()


def test_a_session_that_was_cut_short_is_gone_on_with(qtbot, endless, monkeypatch):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless, "4, 5, 6")
    one_measured(qtbot, endless)
    click(child(endless, "sweep-cancel"))
    ended(qtbot, endless)
    (path,) = session_store.saved_sessions()
    trigger(endless, "Close all sessions")
    assert endless.sessions.shown == ()
    monkeypatch.setattr("workbench.session.session_store.sweeping", plan_run.sweeping)
    endless.sweep_menu.open_session(path)
    until(qtbot, lambda: endless.sessions.shown)
    (shown,) = endless.sessions.shown
    assert shown.missing == 2
    until(qtbot, lambda: endless.findChild(QToolButton, f"resume-{shown.number}"))
    click(child(endless, f"resume-{shown.number}", QToolButton))
    until(qtbot, lambda: doing(endless).startswith("Done: 3 of 3"))
    assert len(endless.sessions.shown) == 1
    assert sorted(widths(live(endless))) == [4, 5, 6]
    assert not live(endless).is_recorded
    assert len(read_session(path).records) == 3


# -- at the next start


def left_here(name="2026-01-01 000000 left.jsonl"):
    """A session that was begun on this computer and left at 3."""
    here = Machine(machine.cpu(), "", "")
    return kept_file(folder(), a_session(HERE, here, first=1), name)


def test_a_sweep_that_was_left_is_offered_and_gone_on_with(qtbot, make_window):
    path = left_here()
    window = make_window()
    until(qtbot, lambda: "A sweep was left at 1 of 3" in window.messages.sentence)
    window.docks.bring_forward("Sweep")
    window.messages.outdate()  # it is offered once
    assert "1 of 3 in round 1 of 10: Three sizes" in window.messages.sentence
    click(child(window.messages, "act"))
    assert "was left" not in window.messages.sentence
    until(qtbot, lambda: doing(window).startswith("Done: 3 of 3, 2 of them new, in"))
    assert len(read_session(path).records) == 3


def test_what_is_old_whole_foreign_or_being_measured_is_not_offered(home):
    path = left_here()
    nothing = NoDevice("None.")
    now = path.stat().st_mtime
    assert unfinished(nothing, (), now).path == path
    assert unfinished(nothing, (), now + 8 * 24 * 3600) is None
    assert unfinished(nothing, (path.name,), now) is None
    assert unfinished(DEVICE, (), now) is None
    with SessionFile.create(
        folder() / "2026-01-02 held.jsonl", HERE, Machine(machine.cpu(), "", "")
    ) as held:
        held.append(a_session(HERE).records[0])
        assert unfinished(nothing, (), now).path == path
    kept_file(folder(), a_session("sizes", LAPTOP, first=3), "2026-01-03 laptop.jsonl")
    kept_file(folder(), a_session(HERE, Machine(machine.cpu(), "", "")), "2026-01-04.jsonl")
    (folder() / "2026-01-05.jsonl").write_text("broken")
    assert unfinished(nothing, ("2026-01-02 held.jsonl",), now).path == path


def test_the_menus_list_what_is_kept_and_what_came_with_it(qtbot, window, tmp_path, monkeypatch):
    path = kept_file(folder(), a_session("sizes"), "2026-01-01 000000 one.jsonl")
    monkeypatch.setattr(session_store, "asset", lambda _: tmp_path)
    came = kept_file(tmp_path, a_session("ksizes"), "H200 kernel size.jsonl")
    for title, expected, count in (("&Recent sessions", path, 1), ("Recor&ded sessions", came, 2)):
        found = next(each for each in window.findChildren(QMenu) if each.title() == title)
        found.aboutToShow.emit()
        tip = f"Show the measurements in {expected.name}."
        until(qtbot, lambda f=found, t=tip: [each.toolTip() for each in f.actions()] == [t])
        found.actions()[0].trigger()
        until(qtbot, lambda n=count: len(window.sessions.shown) == n)
    assert window.sessions.shown[1].path == came


def of_another_day(cell, found):
    """OpenCV is twice as fast, the parallel loops are disturbed, and the sequential are wrong."""
    timing = Timing(tuple(each / 2 for each in found.kernel.samples_ms), found.kernel.cache)
    match cell.implementation:
        case "opencv":
            return replace(found, kernel=timing)
        case "parallel":
            return replace(found, load=Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0))
        case "sequential":
            return wrong(cell)
    return found


def test_two_sessions_are_compared(qtbot, window, tmp_path, monkeypatch):
    assert "two sessions" in action(window, "Compare…").toolTip()
    window.sessions.begin(a_session("sizes"), None)
    other = a_session("sizes", outcome=of_another_day)
    window.sweep_menu.open_session(kept_file(tmp_path, other))
    until(qtbot, lambda: len(window.sessions.shown) == 2)
    trigger(window, "Compare…")
    (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
    table = child(dialog, "compare-table", QTableWidget)
    until(qtbot, lambda: table.rowCount() == len(PLANS["sizes"].cells()))
    said = child(dialog, "compare-said", QLabel).text()
    assert "geometric mean" in said
    assert "B is faster in 5, slower in 0" in said
    assert "without a verdict: 5 cells" in said
    rows = [[table.item(n, column).text() for column in range(6)] for n in range(table.rowCount())]
    (faster,) = {tuple(row[3:6:2]) for row in rows if "OpenCV" in row[0]}
    assert faster == ("2.00×", "faster")
    low, high = rows[0][4].split(" – ")
    assert float(low) <= 2 <= float(high)
    for n, (name, _, in_b, ratio, interval, verdict) in enumerate(rows):
        if "Parallel" in name:
            assert verdict.startswith("No verdict")
            assert "B: * Disturbed" in table.item(n, 0).toolTip()
        if "Sequential" in name:
            assert verdict
            assert (in_b, ratio, interval) == ("—", "", "")
    target = tmp_path / "both"
    answer_file_dialogs(monkeypatch, target)
    click(child(dialog, "compare-save"))
    until(qtbot, lambda: (tmp_path / "both.csv").exists())
    assert (tmp_path / "both.csv").read_text().startswith("implementation,kind,")
    click(child(dialog, "compare-copy"))
    assert QGuiApplication.clipboard().text().startswith("Measurement\tA\tB")
    texts = [child(dialog, f"compare-{each}", QComboBox).currentText() for each in "ab"]
    assert all(each.startswith("20") for each in texts)  # when it was begun
    child(dialog, "compare-a", QComboBox).setCurrentIndex(1)
    dialog.close()  # and the answer that is under way finds nobody
    settle(qtbot, window, lambda: show_picture(qtbot, window, noise(8, 8)))
    assert window.messages.kind != "error", window.messages.sentence


# -- plans and reports


def test_a_plan_is_opened_and_saved(qtbot, window, tmp_path, monkeypatch):
    plan = Plan("From a file", ("opencv",), ((8, 8), (9, 9)), (3, 5))
    (tmp_path / "a.toml").write_text(as_toml(plan))
    assert drop(window, tmp_path / "a.toml")
    until(qtbot, lambda: child(window, "sweep-custom").isVisible())
    click(child(window, "sweep-custom"))
    until(qtbot, lambda: child(window, "values-ksizes", QLineEdit).isVisible())
    assert child(window, "values-ksizes", QLineEdit).text() == "3, 5"
    assert child(window, "sweep-source", QComboBox).currentText() == "File: From a file"
    target = tmp_path / "b"
    answer_file_dialogs(monkeypatch, target)
    trigger(window, "Save plan as…")
    until(qtbot, lambda: window.messages.sentence.startswith(f"Saved {target.name}.toml, "))
    assert (tmp_path / "b.toml").read_text() == as_toml(plan)


def test_a_plan_inside_a_picture_is_read_beside_the_window_and_refused_where_it_is_hostile(
    qtbot, window, tmp_path, monkeypatch
):
    threads, read = [], picture_intake.plan_of

    def noted(text, name):
        threads.append(QThread.currentThread())
        return read(text, name)

    monkeypatch.setattr(picture_intake, "plan_of", noted)
    save_png(tmp_path / "chart.png", noise(5, 5), {"ksize": 7, "plan": "a" + ".a" * 400_000})
    window.opener.open_dropped(tmp_path / "chart.png")
    until(qtbot, lambda: window.messages.kind == "error")
    assert "chart.png has more than 400,000 characters" in window.messages.sentence
    assert window.store.state.ksize == 7
    assert threads
    assert QThread.currentThread() not in threads


def test_a_report_asks_where_and_is_written_and_opened(qtbot, window, tmp_path, monkeypatch):
    opened, places = [], [tmp_path / "hand in.html", tmp_path / "print.pdf"]
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    assert "nothing to report" in action(window, "Report…").toolTip()
    show_picture(qtbot, window, np.zeros((8, 8, 1), np.float32))
    start(window, "4, 5")
    ended(qtbot, window)
    answer_file_dialogs(monkeypatch)
    trigger(window, "Report…")  # and no answer
    assert not opened
    asked = answer_file_dialogs(monkeypatch, places[0])
    click(child(window, "sweep-report", QToolButton))
    until(qtbot, lambda: opened)
    assert (asked[0].name, asked[0].types) == (
        "image-size-gaussian-blur-report.html",
        ["Pages (*.html)"],
    )
    assert opened[0] == str(places[0])
    beside = {"hand in-tables.tex", "hand in-results.csv"}
    assert all(name in window.messages.sentence for name in (places[0].name, *beside))
    assert {each.name for each in tmp_path.glob("hand*")} == {"hand in.html", *beside}
    assert "hand in-tables.tex" in places[0].read_text(encoding="utf-8")
    # It has buttons, and goes with the next change.
    assert not any(timer.isActive() for timer in window.messages.findChildren(QTimer))
    click(child(window.messages, "act-1"))
    click(child(window.messages, "act"))
    assert opened[1:] == [str(tmp_path), opened[0]]
    asked = answer_file_dialogs(monkeypatch, places[1])
    trigger(window, "Report as PDF…")
    until(qtbot, lambda: opened[3:])
    assert asked[0].folder == tmp_path  # as the last time
    assert places[1].read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "print.html").exists()


def test_a_report_that_waits_for_its_charts_can_be_closed(qtbot, window, tmp_path, monkeypatch):
    answer_file_dialogs(monkeypatch, tmp_path / "report.html")
    show_picture(qtbot, window, np.zeros((8, 8, 1), np.float32))
    start(window, "4, 5")
    ended(qtbot, window)
    writer, waits = window.report_writer, Event()
    writer._waits.connect(lambda *_: waits.set(), Qt.ConnectionType.DirectConnection)
    writer.start()
    assert waits.wait(20)
    writer.close()


def test_the_chart_has_a_window_of_its_own_and_comes_back(qtbot, window):
    frame = window.docks["Sweep"]
    trigger(window, "Chart in a window")
    until(qtbot, window.sweep.get().chart.isVisible)
    assert frame.is_enlarged
    until(qtbot, frame.isActiveWindow)
    assert frame.focusWidget() in (frame, None), "no button has a ring"
    assert not window.sweep.get().choice.isVisible()  # the chart has its room
    trigger(window, "Chart in a window")
    assert not frame.is_enlarged
    assert window.sweep.get().chart.isVisible()
