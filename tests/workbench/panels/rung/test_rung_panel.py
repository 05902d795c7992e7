"""The panel about the chosen implementation: idea, measured place, source and PTX."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QTextBrowser,
    QToolButton,
)

from kernels.core.errors import CompileFailedError
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import Compiled
from kernels.pictures.generated import noise
from kernels.rungs.cuda_text import LADDER
from kernels.sweeps.plan_run import cells_of
from kernels.sweeps.record import Record
from tests.made_sessions import measured as measured_of
from tests.made_up import a_job, implementations, result
from tests.workbench.driving import child, click, pick, ready, settle, trigger, until, view
from tests.workbench.engines import MadeUpGpu
from workbench.model.plan_draft import plan_of
from workbench.model.rung_times import RungTimes
from workbench.panels.rung.list_page import FRAMES, words_of
from workbench.panels.rung.rung_pages import IN_USE
from workbench.session import kernel_code

PTX_LOG = "Compiling entry function 'convolve' for 'sm_90'\n0 bytes spill\nUsed 22 registers\n"


@pytest.fixture
def window(qtbot, make_window):
    """With a GPU that OpenCV stands in for, a picture, and the panel in front."""
    window = ready(qtbot, make_window(MadeUpGpu), noise(20, 30, 3))
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


def idea(window):
    """What the first page says, in plain letters."""
    return child(window, "rung-idea-page", QTextBrowser).toPlainText()


def text(window, name):
    return child(window, name, QPlainTextEdit).toPlainText()


def places(window):
    """The lines of the ladder by key."""
    found = window.rung.get().ladder.places
    return {each.implementation.key: each for each in found if each}


def marked(window):
    names = [each.label for each in window.rung.get().ladder.chart.figure.body.groups]
    return [each.removeprefix(IN_USE) for each in names if each.startswith(IN_USE)]


def title(key):
    return implementations()[key].title


# -- the idea


def test_it_tells_the_idea_of_what_is_chosen_and_follows_at_once(qtbot, window):
    shared = implementations()["shared"]
    assert idea(window).startswith(shared.title)
    assert shared.idea in idea(window)
    assert "Constant memory" in idea(window)
    choose(window, "global")
    assert idea(window).startswith(title("global"))
    choose(window, "parallel")
    assert implementations()["parallel"].idea in idea(window)
    assert "CPU · implementation" in idea(window)


def test_resources_are_those_of_the_result_and_say_so_while_there_is_none(qtbot, window):
    settle(qtbot, window, window.live.run_again)
    assert "grid 3×2" in idea(window)
    assert "40 registers" in idea(window)
    assert "WEIGHTS: 5×5 float32 in constant memory" in idea(window)
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    assert "WEIGHTS: 7×7" in idea(window)
    window.worker.close()  # so that the next one never comes
    window.store.update(ksize=9)
    assert "Not measured yet" in idea(window)


def test_the_page_stays_where_it_was_read_until_another_is_chosen(qtbot, window):
    bar = child(window, "rung-idea-page", QTextBrowser).verticalScrollBar()
    window.rung.get().setFixedHeight(220)
    until(qtbot, lambda: bar.maximum() > 40)
    bar.setValue(30)
    before = idea(window)
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    assert idea(window) != before
    assert bar.value() == 30
    choose(window, "global")
    assert bar.value() == 0


def test_under_auto_it_shows_what_was_picked_and_why(qtbot, window):
    result = settle(qtbot, window, lambda: choose(window, "auto"))
    assert idea(window).startswith(title(result.implementation))
    assert f"picked by Auto: {result.picked.why}" in idea(window)
    tab(window, "ladder")
    assert marked(window) == [title(result.implementation)]


def test_what_cannot_run_can_be_read_and_says_why(qtbot, make_window):
    window = ready(qtbot, make_window(), noise(20, 30, 3))
    before = window.store.state.implementation
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    pick(child(window, "rung-shown", QComboBox), "shared")
    assert idea(window).startswith(title("shared"))
    assert "--no-gpu" in idea(window)
    assert window.store.state.implementation == before
    choose(window, "sequential")  # and then it follows again
    assert idea(window).startswith(title("sequential"))


def test_the_source_is_the_file_as_it_lies_there_with_its_headers(qtbot, window):
    tab(window, "source")
    own = next(LADDER.glob("*_shared.cu"))
    assert text(window, "rung-source") == own.read_text(encoding="utf-8").rstrip("\n") + "\n"
    files = child(window, "rung-source-file", QComboBox)
    assert [files.itemText(row) for row in range(files.count())] == [own.name, "prelude.cuh"]
    bar = child(window, "rung-source", QPlainTextEdit).verticalScrollBar()
    bar.setValue(9)
    files.setCurrentIndex(1)
    files.activated.emit(1)
    assert bar.value() == 0
    assert text(window, "rung-source") == (LADDER / "prelude.cuh").read_text(encoding="utf-8")
    choose(window, "constant")  # which has that header too
    assert files.currentText() == "prelude.cuh"


# -- the PTX


@pytest.fixture
def compiler(monkeypatch):
    """A compiler that is asked and answers when it is let."""
    asked, gate = [], {"open": True}

    def compile_text(source, options):
        asked.append(options)
        while not gate["open"]:
            time.sleep(0.001)
        return Compiled(f".version 9.0 // {len(asked)}", PTX_LOG)

    kernel_code.compile_request.cache_clear()
    there = SimpleNamespace(compile=compile_text)
    monkeypatch.setattr(nvrtc, "compiler_here", lambda architecture: {90: there}[architecture])
    yield asked, gate
    kernel_code.compile_request.cache_clear()


def test_ptx_is_made_only_once_it_is_looked_at(qtbot, window, compiler, monkeypatch):
    asked, _ = compiler
    choose(window, "constant")
    tab(window, "source")
    qtbot.wait(20)
    assert asked == []
    tab(window, "ptx")
    until(qtbot, lambda: text(window, "rung-ptx").startswith(".version"))
    assert "-DKSIZE=5" in asked[0]
    assert words(window, "rung-ptx-caption").startswith("22 registers, no spills · sm_90 · size 5")
    tab(window, "idea")
    tab(window, "ptx")
    assert len(asked) == 1
    monkeypatch.setattr(nvrtc, "the_program", lambda: None)
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    texts = child(window, "rung-ptx-file", QComboBox)
    until(qtbot, lambda: texts.isVisible())
    texts.setCurrentText("SASS")
    texts.activated.emit(1)
    until(qtbot, lambda: "pip install nvidia-cuda-nvdisasm" in text(window, "rung-ptx"))


def test_why_there_is_no_ptx_stands_in_its_place(qtbot, window, compiler, monkeypatch):
    def refuse(*_):
        raise CompileFailedError("There is no compiler.", "rung.cu(1): error")

    monkeypatch.setattr(nvrtc, "compiler_here", refuse)
    tab(window, "ptx")
    until(qtbot, lambda: text(window, "rung-ptx") == "There is no compiler.\n\nrung.cu(1): error")
    assert not child(window, "rung-ptx-copy").isEnabled()
    choose(window, "opencv")
    assert text(window, "rung-ptx").startswith("OpenCV runs on the CPU")


# -- the ladder


def test_a_run_takes_its_place_and_the_chosen_one_is_marked(qtbot, window):
    tab(window, "ladder")
    assert marked(window) == [title("shared")]
    assert places(window)["shared"].time is not None
    assert places(window)["constant"].time is None
    settle(qtbot, window, lambda: choose(window, "constant"))
    assert marked(window) == [title("constant")]
    both = places(window)
    ratio = both["constant"].time.median_ms / both["shared"].time.median_ms
    assert both["shared"].ratio == pytest.approx(ratio)
    assert both["shared"].before.key == "constant"


def measured(window):
    found = places(window).items()
    return [key for key, each in found if each.time and not each.time.where]


def test_a_click_and_a_key_choose_a_rung(qtbot, window):
    tab(window, "ladder")
    chart = window.rung.get().ladder.chart
    until(qtbot, lambda: chart.spots)

    def is_chosen():  # the chart may still move
        spot = next(each for each in chart.spots if each.cell == "global")
        place = chart.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y)).toPoint()
        QTest.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
        return window.store.state.implementation == "global"

    until(qtbot, is_chosen)
    chart.setFocus()
    keys = [each.cell for each in chart.spots]
    for _ in range(keys.index("constant") + 1):  # the first enters it
        QTest.keyClick(chart, Qt.Key.Key_Down)
    QTest.keyClick(chart, Qt.Key.Key_Return)
    assert window.store.state.implementation == "constant"


def test_all_are_measured_one_after_another_and_the_sweep_waits(qtbot, window):
    tab(window, "ladder")
    able = [key for key, each in places(window).items() if each.reason is None]
    button = child(window, "ladder-measure", QPushButton)
    asked, timed = [], []
    window.rung.get().ladder.measure_wanted.connect(
        lambda each: asked.extend(one.key for one in each)
    )
    window.worker.sweep.stepped.connect(
        lambda step: timed.append(step.cell.implementation) if isinstance(step, Record) else None
    )
    click(button)
    assert button.text() == "Cancel"
    assert not child(window, "sweep-start").isEnabled()
    until(qtbot, lambda: button.text() == "Compare all")
    assert [
        key for key, each in places(window).items() if each.time and not each.time.where
    ] == able
    assert set(asked) == set(able)
    assert asked[-3:] == ["opencv", "parallel", "sequential"]  # what takes longest comes last
    assert list(dict.fromkeys(timed)) == asked
    timed_now = [places(window)[key] for key in measured(window)]
    least = min(each.median_ms for each in timed_now)
    best = [each for each in timed_now if each.median_ms == least]
    answers = [f"{each.implementation.title}, {each.time.duration}." for each in best]
    assert words(window, "ladder-reason").removeprefix("Fastest here: ") in answers
    window.store.update(ksize=7)  # another job, of which nothing is known
    until(qtbot, lambda: words(window, "ladder-reason") == "")
    bar = child(window, "ladder-progress", QProgressBar)
    assert bar.value() == bar.maximum() == 10 * len(able)  # rounds
    assert child(window, "sweep-start").isEnabled()
    assert window.sessions.shown == ()


def test_measuring_is_cancelled_and_keeps_what_there_is(qtbot, make_window):
    class Endless(MadeUpGpu):
        def filtering(self, job, sampling=None):
            *steps, last = super().filtering(job, sampling)
            yield from steps
            while job.implementation == "constant":
                yield steps[0]
            yield last

    window = ready(qtbot, make_window(Endless), noise(20, 30, 3))
    settle(qtbot, window, lambda: choose(window, "shared"))
    window.resize(1024, 640)
    window.docks.bring_forward("Implementation")
    tab(window, "ladder")
    measure = child(window, "ladder-measure", QPushButton)
    qtbot.wait(50)
    before = measure.mapTo(window, QPoint())
    trigger(window, "Compare all implementations")
    assert window.rung.get().isVisible()
    until(qtbot, lambda: places(window)["global"].time)
    doing = child(window, "ladder-doing", QLabel)
    until(qtbot, lambda: "constant 32×8, gaussian 5×5" in doing.text())
    until(qtbot, lambda: doing.height() >= doing.heightForWidth(doing.width()))
    trigger(window, "Cancel comparing implementations")
    assert measure.mapTo(window, QPoint()) == before
    until(qtbot, lambda: measure.text() == "Compare all")
    assert words(window, "ladder-doing").startswith("Stopped: 1 of")  # the GPU's come first
    assert places(window)["constant"].time is None
    assert child(window, "sweep-start").isEnabled()


def test_points_of_a_sweep_take_their_places_as_well(qtbot, window):
    tab(window, "ladder")
    (cell,) = cells_of(plan_of(window.store.state, ("global",)))
    outcome = measured_of(cell)
    window.worker.sweep.stepped.emit(Record(cell, outcome))
    place = places(window)["global"]
    assert place.time.median_ms == outcome.kernel.median_ms
    assert outcome.occupancy.limit in place.in_words
    window.worker.sweep.stepped.emit(Record(cell, "It cannot."))
    window.worker.sweep.stepped.emit(Record(replace(cell, count=2), outcome))
    window.worker.sweep.stepped.emit(Record(replace(cell, ksize=7), outcome))
    assert places(window)["global"].time.median_ms == outcome.kernel.median_ms


def test_the_block_shape_that_is_chosen_goes_before_a_newer_time_of_another():
    times = RungTimes()
    times.add_result(result("shared", (4.0,)))
    times.add_result(result(samples_ms=(2.0,), job=a_job("shared", block_xy=(16, 16))))
    assert times.of_work(a_job(), "cold")["shared"].median_ms == 4.0
    assert times.of_work(a_job(block_xy=(8, 8)), "cold")["shared"].median_ms == 2.0
    assert times.of_work(a_job(), "warm") == {}


# -- the page on how a list runs as a whole


def is_painted(window):
    """True where a frame is over the picture, which is grey."""
    image = seen(window).convertToFormat(QImage.Format.Format_RGB32)
    return bool((np.frombuffer(image.constBits(), np.uint32) == QColor(FRAMES[0]).rgb()).any())


@pytest.fixture
def explained(qtbot, make_window):
    """Makes a window with a list whose explanation is in front."""

    def make(steps, *engine):
        window = ready(qtbot, make_window(*engine), noise(200, 300, 1))
        for _ in range(steps - 1):
            settle(qtbot, window, lambda: trigger(window, "Add step"))
        trigger(window, "Explain the whole list")
        until(qtbot, lambda: window.rung.get().list_page.cost is not None)
        return window

    return make


def point(pane, x, y):
    """Move the pointer over a pixel, as seen by the picture; not the screen's pointer."""
    place = pane.transform.to_view((x, y), pane.device_size)
    at, none = QPointF(*place) / pane.devicePixelRatioF(), Qt.MouseButton.NoButton
    kind, keys = QEvent.Type.MouseMove, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(pane, QMouseEvent(kind, at, pane.mapToGlobal(at), none, none, keys))


def seen(window):
    """The picture as it is painted, with what lies over it."""
    return view(window, "After").grab().toImage()


def test_the_halo_grows_over_the_picture_around_the_pointer(qtbot, explained):
    window = explained(3)
    page, picture = window.rung.get().list_page, view(window, "After")
    point(picture, 70, 40)
    first, before = page.frames(), seen(window)
    assert first[-1].getRect() == (64, 32, 64, 32)  # a tile
    assert [each.left() for each in first] == [58, 60, 62, 64]  # of 5×5, two a step
    point(picture, 200, 150)
    assert page.frames()[-1].getRect() == (192, 128, 64, 32)
    assert seen(window) != before
    over = seen(window)
    click(child(window, "list_ring", QToolButton))
    assert page.frames()[-1].width() == 30 * 8  # of a warp
    assert seen(window) != over
    assert is_painted(window)
    window.rung.get().show_tab("idea")
    assert not is_painted(window)


def test_zoom_fills_the_view_with_the_area(qtbot, explained):
    window = explained(2)
    at = window.compare.choices().get("place")
    click(child(window, "list-zoom", QPushButton))
    until(qtbot, lambda: window.compare.choices().get("place") != at)


def test_numbers_and_chart_without_a_gpu_are_of_the_recorded_one(explained):
    window = explained(2)
    table, said = words(window, "list-bytes"), words(window, "list-chart-said")
    assert "One&nbsp;graph" in table
    assert "780" in table
    assert "H200" in said
    assert "Operations take longer: tiles from" in said
    figure = window.rung.get().list_page.chart.figure
    lines = {each.entry.key: [dot.x for dot in each.dots] for each in figure.body.series}
    assert lines["One graph, bytes"] == [*range(1, 9)]
    assert lines["Tiles, operations"][0] == 2


def test_a_reason_is_said_once_of_ways_one_below_the_other(explained):
    cost = explained(2).rung.get().list_page.cost
    graph, no = cost.ways["graph"], "It <cannot>."
    assert len(cost.ways) == 4
    table = words_of(cost._replace(ways=dict(zip(cost.ways, (no, graph, no, no), strict=True))))
    assert [each[0] for each in table.split("rowspan=")[1:]] == ["1", "2"]
    assert table.count("It &lt;cannot&gt;.") == 2


def test_numbers_follow_the_list_and_one_step_says_what_to_do(qtbot, explained):
    window = explained(1)
    assert "Ctrl+Shift+N" in words(window, "list-sentence")
    assert not child(window, "list-zoom", QPushButton).isEnabled()
    tiles = child(window, "list_tiles", QToolButton)
    assert not tiles.isEnabled()
    assert "one step" in tiles.toolTip()
    settle(qtbot, window, lambda: QTest.keySequence(window, "Ctrl+Shift+N"))
    until(qtbot, tiles.isEnabled)
    assert "Ctrl+Shift+N" not in words(window, "list-sentence")


def test_it_is_of_all_steps_whichever_is_selected(qtbot, explained):
    window = explained(2)
    page = window.rung.get().list_page
    settle(qtbot, window, lambda: window.step_row.select(0))
    trigger(window, "Explain the whole list")
    settle(qtbot, window, lambda: window.store.choose(ksize=7))
    until(qtbot, lambda: page.cost.titles[1:] == ("1 Gaussian blur", "2 Gaussian blur"))
    until(qtbot, lambda: [step.filter.ksize for step in page.cost.job.steps] == [7, 5])


def test_on_a_gpu_its_own_limits_count(qtbot, explained):
    window = explained(1, MadeUpGpu)
    assert "Made Up" in words(window, "list-chart-said")
    assert "7,900 GB/s" in words(window, "list-chart-said")
