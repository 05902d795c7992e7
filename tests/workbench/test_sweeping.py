"""A sweep in the real window: it runs, is kept, stands still, ends, and the window stays live."""

from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QProgressBar,
    QTableWidget,
    QToolButton,
)

from kernels.errors import DeviceLostError, SessionFileError
from kernels.job import Progress
from kernels.pictures import noise
from kernels.sweeps import running
from kernels.sweeps.files import SessionFile, read_session
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.record import Record
from tests.made_sessions import LAPTOP, PLANS, a_session
from tests.workbench.driving import child, click, drop, pick, settle, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu, Scripted
from workbench.sweeps import keeping
from workbench.sweeps.run_row import Phase


def ask_for(window, values, *implementations):
    """Type the sizes, tick the implementations and no others."""
    box = child(window, "values-sizes", QLineEdit)
    box.setText(values)
    box.textEdited.emit(values)
    for tick in window.sweep.findChildren(QCheckBox):
        key = tick.objectName().removeprefix("sweep-")
        if tick.isEnabled() and key != "transfers" and tick.isChecked() != (key in implementations):
            tick.click()


def start(window, values="4, 8", *implementations):
    ask_for(window, values, *(implementations or ("opencv",)))
    click(child(window, "sweep-start"))


def doing(window):
    return window.sweep._run._doing.whole_text


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
    """A window whose sweeps measure one cell and then never end."""

    def sweeping(plan, engine, given, done=()):
        for step in running.sweeping(plan, engine, given, done):
            yield step
            while isinstance(step, Record):
                yield Progress("waiting")

    monkeypatch.setattr("workbench.sweeps.keeping.sweeping", sweeping)
    return make_window()


def one_measured(qtbot, window):
    until(qtbot, lambda: window.sessions.live and len(live(window).records) == 1)


# -- it runs


def test_a_sweep_measures_every_cell_and_keeps_it(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4, 8×6", "opencv", "parallel")
    ended(qtbot, window)
    assert doing(window).startswith("Done: 4 of 4 in")
    assert widths(live(window)) == [4, 4, 8, 8]
    assert all(record.verified for record in live(window).records)
    bar = child(window, "sweep-progress", QProgressBar)
    assert bar.value() == bar.maximum() == 4
    (path,) = keeping.kept()
    assert window.sessions.live.path == path
    assert widths(read_session(path)) == [4, 4, 8, 8]
    assert child(window, "sweep-start").isEnabled()
    assert window.messages.kind != "error"


def test_this_picture_is_what_is_measured_where_its_size_does_not_vary(qtbot, window):
    samples = show_picture(qtbot, window, noise(7, 9, 3)).job.picture
    click(child(window, "vary-sizes"))
    click(child(window, "vary-ksizes"))
    box = child(window, "values-ksizes", QLineEdit)
    box.setText("1, 3")
    box.textEdited.emit("1, 3")
    for tick in window.sweep.findChildren(QCheckBox):
        if tick.isEnabled() and tick.isChecked() and tick.objectName() != "sweep-opencv":
            tick.click()
    click(child(window, "sweep-start"))
    ended(qtbot, window)
    cells = [record.cell for record in live(window).records]
    assert [cell.ksize for cell in cells] == [1, 3]
    assert {(c.picture, c.height, c.width, c.channels) for c in cells} == {
        ("made up.png", *samples.shape)
    }
    assert all(record.verified for record in live(window).records)


def test_a_sweep_goes_by_the_choices_at_its_start(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    window.store.update(border="wrap", filter="box", ksize=7)
    start(window, "4", "sequential")
    window.store.update(border="zero", ksize=3)
    ended(qtbot, window)
    (record,) = live(window).records
    assert (record.cell.border, record.cell.ksize, record.cell.filter) == ("wrap", 7, "box")


def test_its_times_take_their_places_on_the_ladder_as_well(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    start(window, "8", "sequential")
    ended(qtbot, window)
    job = window.live.result.job
    assert list(window.rung._times.of_work(job, "cold")) == ["opencv", "sequential"]


def test_a_new_sweep_takes_the_place_of_the_one_before(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    for values in ("4", "5"):
        start(window, values)
        ended(qtbot, window)
    assert widths(live(window)) == [5]
    assert len(window.sessions.shown) == 1
    assert len(keeping.kept()) == 2


# -- it stands still, and ends


def test_a_sweep_is_cancelled_and_keeps_what_was_measured(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless)
    one_measured(qtbot, endless)
    click(child(endless, "sweep-cancel"))
    ended(qtbot, endless)
    assert doing(endless).startswith("Stopped: 1 of 2 in")
    assert widths(read_session(keeping.kept()[0])) == [4]
    assert child(endless, "sweep-start").isEnabled()
    assert not child(endless, "sweep-cancel").isEnabled()
    assert endless.messages.kind != "error"


def test_filtering_goes_on_while_a_sweep_runs_or_stands_still(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless)
    one_measured(qtbot, endless)
    for ksize in (7, 9):
        result = settle(qtbot, endless, partial(endless.store.update, ksize=ksize))
        assert result.job.ksize == ksize
    trigger(endless, "Pause or resume")
    until(qtbot, lambda: doing(endless) == "Paused")
    result = settle(qtbot, endless, partial(endless.store.update, ksize=11))
    assert result.job.ksize == 11
    assert doing(endless) == "Paused"
    assert child(endless, "sweep-cancel").isEnabled()


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
    until(qtbot, lambda: (4, 4, 1) in show and window.sweep.phase is Phase.RUNNING)
    click(child(window, "sweep-start"))
    until(qtbot, lambda: doing(window) == "Paused")
    gate[0] = False
    qtbot.wait(50)
    assert live(window).records == ()
    click(child(window, "sweep-start"))
    ended(qtbot, window)
    assert widths(live(window)) == [4, 5]


def test_one_key_starts_and_cancels(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    ask_for(endless, "4, 8", "opencv")
    endless.docks["Gallery"].raise_()
    trigger(endless, "Start or cancel sweep")
    one_measured(qtbot, endless)
    trigger(endless, "Start or cancel sweep")
    until(qtbot, lambda: child(endless, "sweep-start").isEnabled())
    until(qtbot, endless.sweep.isVisible)


def test_nothing_starts_without_a_picture(window):
    assert not child(window, "sweep-start").isEnabled()
    assert child(window, "sweep-hint", QLabel).text() == "Open a picture first."
    trigger(window, "Start or cancel sweep")
    assert not child(window, "sweep-cancel").isEnabled()


def test_it_closes_while_a_sweep_stands_still(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless)
    one_measured(qtbot, endless)
    trigger(endless, "Pause or resume")
    until(qtbot, lambda: doing(endless) == "Paused")
    endless.close()
    assert endless.worker.isFinished()
    assert widths(read_session(keeping.kept()[0])) == [4]


# -- what goes wrong


def test_a_gpu_lost_in_a_sweep_is_a_sentence_and_nothing_measured_is_lost(qtbot, make_window):
    class Lost(MadeUpGpu):
        def filtering(self, job, sampling=None):
            for step in super().filtering(job, sampling):
                if job.picture.shape[0] == 4 and job.implementation == "shared":
                    raise DeviceLostError("The GPU failed while filtering; restart the program.")
                yield step

    window = make_window(Lost)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(8, 8))
    start(window, "3, 4, 5", "shared", "opencv")
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence == "The GPU failed while filtering; restart the program."
    ended(qtbot, window)
    assert doing(window).startswith("Stopped: ")
    assert widths(read_session(keeping.kept()[0])) == widths(live(window))
    assert {3, 4, 5} > set(widths(live(window))) >= {3}
    assert child(window, "sweep-start").isEnabled()


def test_a_full_disk_is_one_sentence_and_the_sweep_goes_on(qtbot, window, monkeypatch):
    def full(self, record):
        raise SessionFileError("A measurement could not be written (No space left on device).")

    monkeypatch.setattr(SessionFile, "append", full)
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4, 5")
    ended(qtbot, window)
    assert widths(live(window)) == [4, 5]
    assert window.messages.kind == "warning"
    assert "No space left on device" in window.messages.sentence


def test_a_bug_in_a_sweep_is_shown_and_the_panel_is_free_again(qtbot, make_window):
    def script(job, steps):
        if job.picture.shape[0] == 4:
            raise ZeroDivisionError("a bug")
        yield from steps

    window = make_window(lambda: Scripted(script))
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4")
    until(qtbot, lambda: window.messages.kind == "error")
    assert "ZeroDivisionError" in window.messages.sentence
    until(qtbot, lambda: child(window, "sweep-start").isEnabled())
    settle(qtbot, window, lambda: window.store.update(border="wrap"))


# -- sessions from files


def test_a_session_from_another_machine_is_shown_beside_the_live_one(qtbot, window, tmp_path):
    show_picture(qtbot, window, noise(8, 8))
    start(window, "4")
    ended(qtbot, window)
    path = kept_file(tmp_path, a_session("sizes"))
    window.open_paths([path])
    until(qtbot, lambda: len(window.sessions.shown) == 2)
    mine, theirs = window.sessions.sessions()
    assert (mine.is_recorded, theirs.is_recorded) == (False, True)
    assert theirs.machine.gpu == "NVIDIA H200"
    rows = child(window, "session-list")
    until(qtbot, rows.isVisible)
    assert not child(window, "sweep-source").isVisible()  # the chart has the room
    lines = ["Gaussian blur 5×5 · measured here", "Image size, table 5.5 · NVIDIA H200, recorded"]
    until(qtbot, lambda: [e.accessibleName() for e in rows.findChildren(QLabel)] == lines)
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


def test_a_folder_with_a_session_is_opened(qtbot, window, tmp_path):
    session = a_session("ksizes")
    with SessionFile.create(tmp_path / "sweep", session.plan, session.machine):
        pass
    window.open_paths([tmp_path / "sweep"])
    until(qtbot, lambda: window.sessions.shown)
    assert window.sessions.sessions()[0].plan == session.plan


@pytest.mark.parametrize(
    ("name", "content"),
    [("gone.jsonl", None), ("empty.jsonl", b""), ("broken.jsonl", b"{\n"), ("z.jsonl.gz", b"\x1f")],
)
def test_a_broken_session_is_one_sentence(qtbot, window, tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    window.open_session(tmp_path / name)
    until(qtbot, lambda: window.messages.kind == "error")
    assert name in window.messages.sentence
    assert window.sessions.shown == ()


def test_a_session_of_implementations_that_are_gone_does_no_harm(qtbot, window, tmp_path):
    path = kept_file(tmp_path, a_session("ksizes"))
    path.write_text(path.read_text().replace('"shared"', '"gone"'))
    window.open_session(path)
    until(qtbot, lambda: window.sessions.shown or window.messages.kind == "error")
    window.screenshot()
    qtbot.wait(500)
    window.sweep.chart.image()


def test_a_session_that_was_cut_short_is_gone_on_with(qtbot, endless, monkeypatch):
    show_picture(qtbot, endless, noise(8, 8))
    start(endless, "4, 5, 6")
    one_measured(qtbot, endless)
    click(child(endless, "sweep-cancel"))
    ended(qtbot, endless)
    (path,) = keeping.kept()
    trigger(endless, "Close all sessions")
    assert endless.sessions.shown == ()
    monkeypatch.setattr("workbench.sweeps.keeping.sweeping", running.sweeping)
    endless.open_session(path)
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


def test_one_of_another_machine_is_not_gone_on_with(qtbot, window, tmp_path):
    session = a_session("sizes", LAPTOP, first=3)
    path = kept_file(tmp_path, session)
    window.measuring.resume(path)
    until(qtbot, lambda: window.messages.kind == "error")
    assert "was measured on" in window.messages.sentence
    assert doing(window) == "Stopped before it began"
    assert widths(read_session(path)) == widths(session)


def test_nothing_is_gone_on_with_while_something_runs(qtbot, endless, tmp_path):
    path = kept_file(tmp_path, a_session("sizes", first=3))
    show_picture(qtbot, endless, noise(8, 8))
    start(endless)
    one_measured(qtbot, endless)
    endless.measuring.resume(path)
    assert "already" in endless.messages.sentence
    assert len(live(endless).records) == 1


def test_the_menus_list_what_is_kept_and_what_came_with_it(qtbot, window, tmp_path, monkeypatch):
    path = kept_file(keeping.folder(), a_session("sizes"), "2026-01-01 000000 one.jsonl")
    monkeypatch.setattr(keeping, "asset", lambda _: tmp_path)
    came = kept_file(tmp_path, a_session("ksizes"), "H200 kernel size.jsonl")
    for title, expected, count in (
        ("&Recent sessions", path, 1),
        ("Recor&ded sessions", came, 2),
    ):
        found = next(each for each in window.findChildren(QMenu) if each.title() == title)
        found.aboutToShow.emit()
        (line,) = found.actions()
        assert line.toolTip() == str(expected)
        line.trigger()
        until(qtbot, lambda n=count: len(window.sessions.shown) == n)
    assert window.sessions.shown[1].path == came


def test_empty_menus_say_so(window, monkeypatch, tmp_path):
    monkeypatch.setattr(keeping, "asset", lambda _: tmp_path)
    for title in ("&Recent sessions", "Recor&ded sessions"):
        found = next(each for each in window.findChildren(QMenu) if each.title() == title)
        found.aboutToShow.emit()
        (line,) = found.actions()
        assert not line.isEnabled()


def test_two_sessions_are_compared(qtbot, window, tmp_path):
    trigger(window, "Compare…")
    assert "two sessions" in window.messages.sentence
    window.sessions.begin(a_session("sizes"), None)
    window.open_session(kept_file(tmp_path, a_session("sizes", LAPTOP)))
    until(qtbot, lambda: len(window.sessions.shown) == 2)
    trigger(window, "Compare…")
    (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
    table = child(dialog, "compare-table", QTableWidget)
    assert table.rowCount() == len(PLANS["sizes"].cells())
    assert "in the geometric mean" in child(dialog, "compare-said", QLabel).text()
    assert "×" in table.item(0, 3).text()
    dialog.close()


# -- plans and reports


def test_a_plan_is_opened_and_saved(qtbot, window, tmp_path, monkeypatch):
    plan = Plan("From a file", ("opencv",), ((8, 8), (9, 9)), (3, 5))
    (tmp_path / "a.toml").write_text(as_toml(plan))
    assert drop(window, tmp_path / "a.toml")
    until(qtbot, lambda: child(window, "values-ksizes", QLineEdit).isVisible())
    target = tmp_path / "b"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.sweep._choice._source.save_wanted.emit()
    until(qtbot, lambda: window.messages.sentence == f"Saved {target}.toml.")
    assert (tmp_path / "b.toml").read_text() == as_toml(plan)


def test_the_plan_is_remembered_with_the_window(qtbot, make_window):
    window = make_window()
    box = child(window, "sweep-source", QComboBox)
    pick(box, "goettingen_ladder")
    click(child(window, "sweep-opencv"))
    wanted = window.sweep._choice.plan.implementations
    window.close()
    again = make_window()
    until(qtbot, lambda: again.device)
    assert child(again, "sweep-source", QComboBox).currentData() == "goettingen_ladder"
    plan = again.sweep._choice.plan
    assert wanted == ("sequential",)
    assert plan.implementations == ("sequential", "opencv")  # a preset is whole again
    assert plan.title == "BCCN Göttingen: five steps"


def test_a_broken_plan_is_one_sentence(qtbot, window, tmp_path):
    (tmp_path / "a.toml").write_text("sizes = 3")
    window.open_paths([tmp_path / "a.toml"])
    until(qtbot, lambda: window.messages.kind == "error")
    assert child(window, "values-sizes", QLineEdit).text().startswith("256")


def test_a_picture_of_the_chart_brings_its_plan_back(qtbot, window):
    window.sessions.begin(a_session("ksizes"), None)
    kept = window.choices_to_keep() | window.sweep.conditions()
    window.opener.restored.emit(kept, "chart.png")
    assert window.sweep._choice._source.plan(window.sweep._choice._source.key) == PLANS["ksizes"]


def test_a_report_is_written_and_opened(qtbot, window, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    trigger(window, "Report…")
    assert "nothing to report" in window.messages.sentence
    show_picture(qtbot, window, np.zeros((8, 8, 1), np.float32))
    start(window, "4, 5")
    ended(qtbot, window)
    click(child(window, "sweep-report", QToolButton))
    until(qtbot, lambda: opened)
    assert opened[0].endswith("report.html")
    assert opened[0] in window.messages.sentence


# -- the chart in a window


def test_the_chart_has_a_window_of_its_own_and_comes_back(qtbot, window):
    chart = window.sweep.chart
    trigger(window, "Chart in a window")
    shown = child(window, "chart-window")
    until(qtbot, shown.isVisible)
    assert shown.isAncestorOf(chart)
    assert chart.isVisible()
    trigger(window, "Chart in a window")
    until(qtbot, lambda: window.sweep.isAncestorOf(chart))
    assert chart.isVisible()
    click(child(window, "sweep-large", QToolButton))
    assert not window.sweep.isAncestorOf(chart)
    until(qtbot, chart.window().isActiveWindow)
    QTest.keyClick(chart.window(), Qt.Key.Key_Escape)
    until(qtbot, lambda: window.sweep.isAncestorOf(chart))
    click(child(window, "sweep-large", QToolButton))
    window.close()
    assert window.sweep.isAncestorOf(chart)


def test_a_picture_of_the_window_shows_the_chart_at_once(qtbot, window):
    window.sessions.begin(a_session("sizes"), None)
    window.screenshot()
    before = window.sweep.chart.grab().toImage()
    qtbot.wait(600)
    assert window.sweep.chart.grab().toImage() == before
