"""The panel about the chosen implementation: idea, measured place, source and PTX."""

import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QToolButton,
)

from kernels.core.errors import CompileFailedError
from kernels.core.job import Progress, Result
from kernels.core.timing import Timing
from kernels.cuda import nvdisasm, nvrtc
from kernels.cuda.nvrtc import Compiled
from kernels.pictures.generated import noise
from kernels.rungs.device_text import LADDER
from kernels.sweeps.plan_run import cells_of
from kernels.sweeps.record import Record
from tests.made_sessions import measured as measured_of
from tests.made_up import FAILED, a_job, implementations, result
from tests.workbench.driving import child, click, pick, settle, show_picture, trigger, until
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.base import theme
from workbench.base.background import Background
from workbench.model.plan_draft import plan_of
from workbench.model.rung_times import LadderLine, RungTimes, ladder_places
from workbench.model.state import Picture
from workbench.panels.rung.ladder_list import CHOSEN, PLACE, LadderList
from workbench.panels.rung.ladder_view import LadderView
from workbench.panels.rung.rung_panel import RungPane
from workbench.session import ptx
from workbench.session.store import Store
from workbench.session.worker import Worker

RUNGS = [key for key, each in implementations().items() if each.kind == "cuda"]
PTX_LOG = "Compiling entry function 'convolve' for 'sm_90'\n0 bytes spill\nUsed 22 registers\n"


@pytest.fixture
def window(qtbot, make_window):
    """With a GPU that OpenCV stands in for, a picture, and the panel in front."""
    window = make_window(MadeUpGpu)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    settle(qtbot, window, lambda: choose(window, "shared"))
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    return window


def choose(window, key):
    pick(child(window, "implementation", QComboBox), key)


def tab(window, name):
    window.rung.get().show_tab(name)


def words(window, name):
    return child(window, name, QLabel).text()


def text(window, name):
    return child(window, name, QPlainTextEdit).toPlainText()


def places(window):
    """The lines of the ladder by key."""
    rows = child(window, "ladder-list", LadderList)
    found = [rows.item(row).data(PLACE) for row in range(rows.count())]
    return {each.implementation.key: each for each in found if each}


def marked(window):
    rows = child(window, "ladder-list", LadderList)
    items = [rows.item(row) for row in range(rows.count())]
    return [item.data(PLACE).implementation.key for item in items if item.data(CHOSEN)]


# -- the idea


def test_it_tells_the_idea_of_what_is_chosen_and_follows_at_once(qtbot, window):
    shared = implementations()["shared"]
    assert words(window, "rung-title") == shared.title
    assert words(window, "rung-idea") == shared.idea
    assert "Constant memory" in words(window, "rung-after")
    choose(window, "global")
    assert words(window, "rung-title") == implementations()["global"].title
    choose(window, "parallel")
    assert words(window, "rung-idea") == implementations()["parallel"].idea
    assert words(window, "rung-place").startswith("CPU")


def test_a_link_leads_to_the_rung_it_changes_a_thing_about(qtbot, window):
    child(window, "rung-after", QLabel).linkActivated.emit("constant")
    assert window.store.state.implementation == "constant"
    assert words(window, "rung-title") == implementations()["constant"].title


def test_resources_are_those_of_the_result_and_say_so_while_there_is_none(qtbot, window):
    settle(qtbot, window, window.live.run_again)
    assert "3 × 2 blocks" in words(window, "rung-resources")
    assert "40 per thread" in words(window, "rung-resources")
    assert "WEIGHTS: 5×5 float32 in constant memory" in words(window, "rung-resources")
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    assert "WEIGHTS: 7×7" in words(window, "rung-resources")
    window.worker.close()  # so that the next one never comes
    window.store.update(ksize=9)
    assert words(window, "rung-resources") == "<div>Not measured yet with these settings.</div>"


def test_it_says_whether_the_block_picker_applies(qtbot, window):
    for key in RUNGS:
        window.rung.get().wanted.emit("implementation", key)
        expected = implementations()[key].own_block or "It takes the block shape that you choose."
        assert words(window, "rung-block") == expected


def test_under_auto_it_shows_what_was_picked_and_why(qtbot, window):
    result = settle(qtbot, window, lambda: choose(window, "auto"))
    assert words(window, "rung-title") == implementations()[result.implementation].title
    assert words(window, "rung-place").endswith(f"picked by Auto: {result.picked.why}")
    tab(window, "ladder")
    assert marked(window) == [result.implementation]


def test_what_was_picked_is_shown_before_its_answer_is_checked(qtbot, make_window):
    class NeverChecked(MadeUpGpu):
        def filtering(self, job, sampling=None):
            steps = super().filtering(job, sampling)
            if job.implementation == "auto":  # which asks for what it picks in the same way
                yield from steps
                return
            first = next(step for step in steps if isinstance(step, Result))
            yield first
            while True:
                yield Progress("verifying against the float64 reference")

    window = make_window(NeverChecked)
    until(qtbot, lambda: window.device)
    trigger(window, "Implementation")
    window.opener.opened.emit(Picture("made up.png", noise(20, 30, 3)))
    until(qtbot, lambda: window.live.result is not None)
    picked = window.live.result.implementation
    until(qtbot, lambda: words(window, "rung-title") == implementations()[picked].title)
    assert "40 per thread" in words(window, "rung-resources")


def test_what_cannot_run_can_be_read_and_says_why(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    before = window.store.state.implementation
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    pick(child(window, "rung-shown", QComboBox), "shared")
    assert words(window, "rung-title") == implementations()["shared"].title
    assert "--no-gpu" in words(window, "rung-refusal")
    assert window.store.state.implementation == before
    choose(window, "sequential")  # and then it follows again
    assert words(window, "rung-title") == implementations()["sequential"].title


# -- the source


def test_the_source_is_the_file_as_it_lies_there_with_its_headers(qtbot, window):
    tab(window, "source")
    own = next(LADDER.glob("*_shared.cu"))
    assert text(window, "rung-source") == own.read_text(encoding="utf-8").rstrip("\n") + "\n"
    files = child(window, "rung-source-file", QComboBox)
    assert [files.itemText(row) for row in range(files.count())] == [own.name, "prelude.cuh"]
    files.setCurrentIndex(1)
    files.activated.emit(1)
    assert text(window, "rung-source") == (LADDER / "prelude.cuh").read_text(encoding="utf-8")
    choose(window, "constant")  # which has that header too
    assert files.currentText() == "prelude.cuh"


def test_the_source_opens_where_the_code_begins_and_the_header_is_above_it(qtbot, window):
    choose(window, "tile_separable")
    tab(window, "source")
    edit = child(window, "rung-source", QPlainTextEdit)
    assert edit.toPlainText().startswith("/*---")
    first = edit.cursorForPosition(edit.viewport().rect().topLeft()).block().text()
    assert first.startswith("__constant__ ")


def test_a_cpu_implementation_shows_its_module(qtbot, window):
    tab(window, "source")
    choose(window, "sequential")
    assert "def prepare" in text(window, "rung-source")
    assert not child(window, "rung-source-file").isVisible()


def test_all_of_the_source_is_copied(qtbot, window):
    tab(window, "source")
    click(child(window, "rung-source-copy", QToolButton))
    assert QGuiApplication.clipboard().text() == text(window, "rung-source")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_numbers_and_comments_are_told_apart_in_both_themes(scheme, qapp, qtbot, window):
    theme.apply(qapp, scheme)
    tab(window, "source")
    colors = theme.colors()
    document = child(window, "rung-source", QPlainTextEdit).document()
    line = document.find("constexpr int THREADS").block()
    assert color_of(line, "constexpr") == colors.accent
    assert color_of(line, "THREADS") is None
    comment = document.find("// 1. Stage").block()
    assert color_of(comment, "// 1.") == colors.muted
    header = document.find("weights = ").block()  # inside /*--- ... ---*/
    assert color_of(header, "weights") == colors.muted
    theme.apply(qapp, "light")


def color_of(block, piece):
    """What a piece of a line is coloured with; None: nothing."""
    at = block.text().index(piece)
    for each in block.layout().formats():
        if each.start <= at < each.start + each.length:
            return each.format.foreground().color().name()
    return None


def test_it_is_enlarged_into_a_window_of_its_own_and_put_back(qtbot, window):
    tab(window, "source")
    dock = window.docks["Implementation"]
    before = window.rung.get().width()
    click(child(window, "rung-source-large", QToolButton))
    until(qtbot, lambda: dock.is_enlarged and dock.width() > 2 * before)
    assert child(window, "rung-source-large", QToolButton).text() == "Put back"
    click(child(window, "rung-source-large", QToolButton))
    until(qtbot, lambda: not dock.is_enlarged and window.rung.get().isVisible())


# -- the PTX


@pytest.fixture
def compiler(monkeypatch):
    """A compiler that is asked and answers when it is let."""
    asked, gate = [], {"open": True}

    def compile_text(source, options, architecture):
        asked.append((options, architecture))
        while not gate["open"]:
            time.sleep(0.001)
        return Compiled(f".version 9.0 // {len(asked)}", PTX_LOG)

    ptx.compile_request.cache_clear()
    monkeypatch.setattr(nvrtc, "compile_text", compile_text)
    yield asked, gate
    ptx.compile_request.cache_clear()


def test_ptx_is_made_only_once_it_is_looked_at(qtbot, window, compiler, monkeypatch):
    asked, _ = compiler
    choose(window, "constant")
    tab(window, "source")
    qtbot.wait(20)
    assert asked == []
    tab(window, "ptx")
    until(qtbot, lambda: text(window, "rung-ptx").startswith(".version"))
    (options, architecture) = asked[0]
    assert architecture == 90
    assert "-DKSIZE=5" in options
    assert words(window, "rung-ptx-caption").startswith("22 registers, no spills · sm_90 · size 5")
    tab(window, "idea")
    tab(window, "ptx")
    assert len(asked) == 1
    monkeypatch.setattr(nvdisasm, "the_program", lambda: None)
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    texts = child(window, "rung-ptx-file", QComboBox)
    until(qtbot, lambda: texts.isVisible())
    texts.setCurrentText("SASS")
    texts.activated.emit(1)
    until(qtbot, lambda: "pip install nvidia-cuda-nvdisasm" in text(window, "rung-ptx"))


def test_the_window_goes_on_while_ptx_is_made_and_only_the_newest_wish_counts(
    qtbot, window, compiler
):
    asked, gate = compiler
    gate["open"] = False
    tab(window, "ptx")
    until(qtbot, lambda: len(asked) == 1)
    for ksize in (7, 9, 11):
        result = settle(qtbot, window, lambda k=ksize: window.store.update(ksize=k))
        assert result.job.ksize == ksize
    assert text(window, "rung-ptx") == f"Compiling {implementations()['shared'].title}…"
    gate["open"] = True
    until(qtbot, lambda: text(window, "rung-ptx").startswith(".version"))
    assert [options[-1] for options, _ in asked] == [asked[0][0][-1], asked[1][0][-1]]
    assert "-DKSIZE=11" in asked[-1][0]
    assert "size 11" in words(window, "rung-ptx-caption")


def test_why_there_is_no_ptx_stands_in_its_place(qtbot, window, compiler, monkeypatch):
    def refuse(*_):
        raise CompileFailedError("There is no compiler.", "rung.cu(1): error")

    monkeypatch.setattr(nvrtc, "compile_text", refuse)
    tab(window, "ptx")
    until(qtbot, lambda: text(window, "rung-ptx") == "There is no compiler.\n\nrung.cu(1): error")
    assert not child(window, "rung-ptx-copy").isEnabled()
    choose(window, "opencv")
    assert text(window, "rung-ptx").startswith("OpenCV runs on the CPU")


@pytest.mark.skipif(not nvrtc.compilers(), reason="nvidia-cuda-nvrtc is not installed")
def test_without_a_gpu_it_is_compiled_all_the_same(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    tab(window, "ptx")
    pick(child(window, "rung-shown", QComboBox), "global")
    until(qtbot, lambda: ".visible .entry convolve" in text(window, "rung-ptx"))


# -- the ladder


def test_a_run_takes_its_place_and_the_chosen_one_is_marked(qtbot, window):
    tab(window, "ladder")
    assert marked(window) == ["shared"]
    shared = places(window)["shared"]
    assert shared.time is not None
    assert places(window)["constant"].time is None
    settle(qtbot, window, lambda: choose(window, "constant"))
    assert marked(window) == ["constant"]
    both = places(window)
    ratio = both["constant"].time.median_ms / both["shared"].time.median_ms
    assert both["shared"].ratio == pytest.approx(ratio)
    assert both["shared"].before.key == "constant"


def test_another_job_has_its_own_ladder(qtbot, window):
    tab(window, "ladder")
    at_first = measured(window)
    assert "global" not in at_first
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    settle(qtbot, window, lambda: choose(window, "global"))
    assert measured(window) == ["global", "shared"]
    window.store.update(sigma=0.5)
    assert measured(window) == []
    settle(qtbot, window, lambda: window.store.update(ksize=5, sigma=None))
    assert measured(window) == ["global", *at_first]


def measured(window):
    return [key for key, each in places(window).items() if each.time]


def test_a_click_and_a_key_choose_a_rung(qtbot, window):
    tab(window, "ladder")
    rows = child(window, "ladder-list", LadderList)
    first = next(row for row in range(rows.count()) if rows.item(row).text() == "CUDA") + 1
    rows.scrollToItem(rows.item(first))
    place = rows.visualItemRect(rows.item(first)).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.store.state.implementation == "global"
    rows.setFocus()
    QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert window.store.state.implementation == "constant"


def test_all_are_measured_one_after_another_and_the_sweep_waits(qtbot, window):
    tab(window, "ladder")
    able = [key for key, each in places(window).items() if each.reason is None]
    button = child(window, "ladder-measure", QPushButton)
    asked, timed = [], []
    window.rung.get().measure_wanted.connect(lambda each: asked.extend(one.key for one in each))
    window.worker.sweep_stepped.connect(
        lambda step: timed.append(step.cell.implementation) if isinstance(step, Record) else None
    )
    click(button)
    assert button.text() == "Cancel"
    assert not child(window, "sweep-start").isEnabled()
    until(qtbot, lambda: button.text() == "Compare all")
    assert [key for key, each in places(window).items() if each.time] == able
    assert set(asked) == set(able)
    assert asked[-3:] == ["opencv", "parallel", "sequential"]  # what takes longest comes last
    assert list(dict.fromkeys(timed)) == asked
    timed_now = [each for each in places(window).values() if each.time]
    least = min(each.median_ms for each in timed_now)
    best = [each for each in timed_now if each.median_ms == least]
    answers = [f"{each.implementation.title}, median {each.time_in_words}." for each in best]
    assert words(window, "ladder-reason").removeprefix("Fastest here: ") in answers
    window.store.update(ksize=7)  # another job, of which nothing is known
    until(qtbot, lambda: words(window, "ladder-reason") == "")
    bar = child(window, "ladder-progress", QProgressBar)
    assert bar.value() == bar.maximum() == 10 * len(able)  # rounds
    assert child(window, "sweep-start").isEnabled()
    assert window.sessions.shown == ()


def test_the_page_that_opens_first_has_a_button_that_compares_all(qtbot, window):
    window.docks.enter("Implementation")
    compare, measure = child(window, "rung-compare"), child(window, "ladder-measure", QPushButton)
    until(qtbot, compare.isVisible)
    assert not measure.isVisible()
    click(compare)
    assert measure.isVisible()
    assert measure.text() == "Cancel"
    assert not compare.isVisible()  # one button for it at a time
    window.rung.get().show_tab("idea")
    click(compare)  # which cancels nothing
    assert measure.text() == "Cancel"
    click(measure)
    until(qtbot, lambda: measure.text() == "Compare all")


def test_measuring_is_cancelled_and_keeps_what_there_is(qtbot, make_window):
    class Endless(MadeUpGpu):
        def filtering(self, job, sampling=None):
            *steps, last = super().filtering(job, sampling)
            yield from steps
            while job.implementation == "constant":
                yield steps[0]
            yield last

    window = make_window(Endless)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    settle(qtbot, window, lambda: choose(window, "shared"))
    trigger(window, "Compare all implementations")
    assert window.rung.get().isVisible()
    until(qtbot, lambda: places(window)["global"].time)
    trigger(window, "Cancel comparing implementations")
    until(qtbot, lambda: child(window, "ladder-measure", QPushButton).text() == "Compare all")
    assert words(window, "ladder-doing").startswith("Stopped: 1 of")  # the GPU's come first
    assert places(window)["constant"].time is None
    assert child(window, "sweep-start").isEnabled()


def test_the_ladders_progress_counts_rounds_and_its_end_who_has_a_time(qtbot, window):
    keys = ("opencv", "parallel")
    lines = [LadderLine(implementations()[key], None, None, None, None) for key in keys]
    view = LadderView()
    qtbot.addWidget(view)
    view.show_places(lines, "opencv", {}, "a job")
    view.show_begun(10)
    bar = child(view, "ladder-progress", QProgressBar)
    first, second = cells_of(plan_of(window.store.state, keys))
    for cell, rounds in ((first, 1), (first, 2), (second, 1)):
        kernel = Timing((1.0,) * rounds, None, "", 1, (1,) * rounds)
        view.show_record(Record(cell, replace(measured_of(cell), kernel=kernel)))
    assert (bar.value(), bar.maximum()) == (3, 20)
    view.show_ended()
    assert words(view, "ladder-doing") == "Stopped: 2 of 2 measured, with fewer samples"
    view.show_begun(10)
    view.show_record(Record(first, "It cannot."))
    assert bar.value() == 10
    view.show_ended()
    assert words(view, "ladder-doing") == "Stopped: 0 of 2 measured"


def test_points_of_a_sweep_take_their_places_as_well(qtbot, window):
    tab(window, "ladder")
    (cell,) = cells_of(plan_of(window.store.state, ("global",)))
    outcome = measured_of(cell)
    window.worker.sweep_stepped.emit(Record(cell, outcome))
    place = places(window)["global"]
    assert place.time.median_ms == outcome.kernel.median_ms
    assert outcome.occupancy.limit in place.in_words
    window.worker.sweep_stepped.emit(Record(cell, "It cannot."))
    window.worker.sweep_stepped.emit(Record(replace(cell, count=2), outcome))
    window.worker.sweep_stepped.emit(Record(replace(cell, ksize=7), outcome))
    assert places(window)["global"].time.median_ms == outcome.kernel.median_ms


def test_on_the_cpu_the_ladder_is_there_as_well(qtbot, window):
    tab(window, "ladder")
    settle(qtbot, window, lambda: choose(window, "opencv"))
    assert list(places(window)) == list(implementations())
    assert marked(window) == ["opencv"]


def test_without_a_picture_nothing_can_be_measured(qtbot, make_window):
    window = make_window()
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    tab(window, "ladder")
    assert words(window, "ladder-caption") == "Open a picture first."
    assert not child(window, "ladder-measure").isEnabled()


# -- what is remembered, and how it looks


def test_the_page_is_remembered_with_the_window(qtbot, make_window):
    window = make_window()
    trigger(window, "Implementation")
    tab(window, "ladder")
    window.close()
    again = make_window()
    until(qtbot, again.rung.get().isVisible)
    assert child(again, "rung-tabs", QTabWidget).tabText(1) == "Ladder"
    assert child(again, "rung-tabs", QTabWidget).currentIndex() == 1


@pytest.mark.parametrize("remembered", [{}, {"tab": "gone"}, {"tab": 3}, {"tab": None}])
def test_what_makes_no_sense_is_as_on_the_first_day(remembered, qtbot):
    pane = RungPane(Store(), Worker(MadeUpGpu), RungTimes(), Background(()))
    qtbot.addWidget(pane)
    pane.restore(remembered)
    assert pane.choices() == {"tab": "idea"}


@pytest.mark.parametrize("page", ["idea", "ladder", "source", "ptx"])
def test_it_fits_beside_the_pictures_of_a_small_screen(page, qtbot, window, compiler):
    window.resize(1280, 800)
    tab(window, page)
    qtbot.wait(10)
    assert window.width() == 1280
    assert window.rung.get().minimumSizeHint().width() <= 312
    buttons = [
        each for kind in (QPushButton, QToolButton) for each in seen(window.rung.get(), kind)
    ]
    for each in (*buttons, *seen(window.rung.get(), QComboBox)):
        assert each.mapTo(window, QPoint(each.width(), 0)).x() <= window.width()


def seen(panel, kind):
    return [each for each in panel.findChildren(kind) if each.isVisible()]


# -- the times themselves


def test_the_block_shape_that_is_chosen_goes_before_a_newer_time_of_another():
    times = RungTimes()
    times.add_result(result("shared", (4.0,)))
    times.add_result(result(samples_ms=(2.0,), job=a_job("shared", block_xy=(16, 16))))
    assert times.of_work(a_job(), "cold")["shared"].median_ms == 4.0
    assert times.of_work(a_job(block_xy=(8, 8)), "cold")["shared"].median_ms == 2.0
    assert times.of_work(a_job(), "warm") == {}


def test_a_wrong_answer_is_said_to_be_wrong():
    times = RungTimes()
    times.add_result(result("shared", check=FAILED))
    (place,) = ladder_places([(implementations()["shared"], None)], times, a_job(), "cold")
    assert "WRONG" in place.in_words


def test_a_made_up_device_has_the_architecture_that_is_compiled_for():
    rung = implementations()["shared"]
    old = replace(DEVICE, compute_capability=(7, 5))
    assert ptx.request_for(rung, a_job(), old).architecture == 75
    assert ptx.request_for(rung, a_job(), None).architecture == ptx.WITHOUT_A_DEVICE


def test_with_another_offset_it_is_other_work():
    times = RungTimes()
    times.add_result(result("shared"))
    assert times.of_work(a_job("shared"), "cold")
    assert not times.of_work(replace(a_job("shared"), offset=3.0), "cold")


def test_weights_of_another_picture_but_the_same_shape_are_the_same_work():
    times = RungTimes()
    times.add_result(result("shared", (4.0,)))
    other = np.ones((100, 200, 3), np.uint8)
    assert "shared" in times.of_work(a_job(picture=other), "cold")
