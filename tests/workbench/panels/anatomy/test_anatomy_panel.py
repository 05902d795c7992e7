"""Anatomy of a launch in the window: over the picture, in words, lane by lane, without a GPU."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QToolButton

from kernels.anatomy.launch_shapes import Rect
from kernels.cuda_on_cpu import compiler
from kernels.rungs.rung import ladder
from tests.made_up import a_job, implementations
from tests.workbench.driving import (
    child,
    click,
    move,
    pick,
    ready,
    settle,
    show_picture,
    trigger,
    until,
    view,
)
from tests.workbench.engines import MadeUpGpu
from workbench.panels.anatomy.anatomy_overlay import block_area, warp_runs
from workbench.panels.anatomy.launch_parts import LaneGrid
from workbench.panels.anatomy.subject import lanes_of, look_at, marks_of, subject_of
from workbench.panels.compare.picture_layer import ViewTransform

PICTURE = np.zeros((60, 90, 3), np.uint8)
pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


def look(key="shared", block_xy=(32, 8), at=(100, 20), **facts):
    subject = subject_of(implementations()[key], a_job(key, block_xy, **facts), None)
    assert not isinstance(subject, str), subject
    return recorded(subject, *at)


def recorded(subject, x, y):
    """A look at a sample of a block that is recorded."""
    for _ in subject.records.making(subject.shape.block_at(x, y)):
        pass
    assert not subject.records.problem
    return look_at(subject, x, y)


# -- without a window


def test_the_thread_that_makes_a_sample_is_found():
    found = look(at=(100, 20))  # of 600 samples and 100 rows
    assert (found.block, found.thread) == ((3, 2), 4 * 32 + 4)
    assert (found.warp, found.lane) == (4, 4)
    assert found.sample_of(found.thread) == (100, 20)
    said = found.thread_words()
    assert said == "Thread 132, lane 4 of warp 4, computes the green sample of pixel (33, 20)."
    run = look("register_tile", at=(130, 20)).thread_words()
    assert "samples 128 to 143 (of pixels 42 to 47) in rows 20 to 21" in run
    small = np.zeros((20, 30, 3), np.uint8)
    assert (
        "others in the same tile"
        in look("shared_untiled", (8, 8), (10, 9), picture=small).thread_words()
    )


def test_a_warp_is_drawn_as_the_rectangles_of_its_lanes():
    assert warp_runs(look(block_xy=(32, 8), at=(0, 0)), 2) == [Rect(0, 2, 32, 3)]
    assert warp_runs(look(block_xy=(8, 8), at=(8, 8)), 1) == [Rect(8, 12, 16, 16)]
    # A warp of 7×5 threads ends inside a row.
    assert warp_runs(look(block_xy=(7, 5), at=(0, 0)), 0) == [Rect(0, 0, 7, 4), Rect(0, 4, 4, 5)]


def test_lanes_show_banks_or_sectors_and_who_meets_whom():
    found = look(block_xy=(16, 16), at=(0, 0))
    (tap,) = [step for step in found.steps_of("compute") if found.is_of_taps(step)]
    lanes = lanes_of(found, tap, 0)
    assert "bank" in lanes.legend
    assert [cell.text for cell in lanes.cells[:3]] == ["0", "1", "2"]
    assert (
        sum(cell.is_marked for cell in lanes.cells) == 24
    )  # 28 words to a row of the tile: twelve banks are met twice
    assert "bank conflict among" in lanes.sentence
    assert "sector" in lanes_of(found, found.steps[0], 0).legend
    flat = look("separable_flat", (16, 16), (0, 0))
    (tap,) = [s for s in flat.steps_of("compute") if s.memory == "shared"]
    assert not any(cell.is_marked for cell in lanes_of(flat, tap, 3).cells)


# One of each kind of layout, and of tiles and passes; each is compiled, which takes seconds.
SOME = ("shared", "register_tile", "separable", "fft")


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(rung.key, marks=() if rung.key in SOME else pytest.mark.nightly)
        for rung in ladder()
    ],
)
def test_every_thread_can_be_gone_to(key):
    """As the arrow keys do: what it makes leads back to it; and each access has its own name."""
    picture = np.zeros((60, 90, 3), np.uint8)
    job = a_job(key, picture=picture).but(gradient=implementations()[key].gradient)
    subject = subject_of(implementations()[key], job, None)
    if isinstance(subject, str):
        assert subject.endswith(".")
        return
    for number in range(len(subject.shapes)):
        found = recorded(subject.with_pass(number), 0, 0)
        assert all(heading and text.endswith((".", " …")) for heading, text in found.sentences())
        names = [(step.name, step.array) for step in found.steps]
        assert len(set(names)) == len(names)
        assert all(step.count for step in found.steps)
        if found.thread is None:
            continue
        own = found.subject.shape.picture
        if found.subject.shape.layout is not None:
            continue  # of transforms: below
        for thread in range(0, found.subject.shape.threads, 7):
            sample = found.sample_of(thread)
            if sample is not None and sample[0] < own.right and sample[1] < own.bottom:
                again = look_at(found.subject, *sample)
                assert (again.thread, again.block) == (thread, found.block)


# -- in a window


@pytest.fixture
def opened(qtbot, window):
    """A window of a computer without a GPU, with a picture and the panel open."""
    window.resize(1280, 800)
    show_picture(qtbot, window, np.random.default_rng(0).integers(0, 255, PICTURE.shape, np.uint8))
    trigger(window, "Anatomy of a launch")
    until(qtbot, window.anatomy.get().isVisible)
    wait_for_record(qtbot, window)
    return window


def look_of(window):
    return window.anatomy.get().look


def wait_for_record(qtbot, window):
    """Until the block that is looked at is recorded: then its threads are known."""
    until(qtbot, lambda: look_of(window).thread is not None)


def words(window):
    """What the panel says, that under its last heading too."""
    if not (fold := child(window, "anatomy-fold", QToolButton)).isChecked():
        click(fold)
    labels = window.anatomy.get().findChildren(QLabel)
    return " ".join(each.text() for each in labels if each.isVisible())


def test_the_pointer_chooses_block_and_thread(qtbot, opened):
    pane = view(opened, "After")
    at = QPointF(*pane.transform.to_view((40.5, 25.5), pane.device_size))
    none = Qt.MouseButton.NoButton
    # Not the screen's pointer: that says nothing where it is there already, or a window lies over.
    moved = QMouseEvent(
        QEvent.Type.MouseMove, at, pane.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(pane, moved)
    until(qtbot, lambda: "pixel (40, 25)" in words(opened))
    assert look_of(opened).block == (3, 3)  # sample 121 of 270
    # The panel follows every change.
    until(qtbot, lambda: "Counting" not in words(opened))
    before, look = words(opened), look_of(opened)
    opened.store.choose(border="zero")
    until(qtbot, lambda: look_of(opened) is not look and words(opened) == before)
    opened.anatomy.get().point_at((0.5, 0.5))
    until(qtbot, lambda: "pixel (0, 0)" in words(opened))
    at_the_edge = words(opened)
    opened.store.choose(border="clamp")  # which changes what is loaded at the edge only
    until(qtbot, lambda: words(opened) != at_the_edge)
    opened.store.choose(block_xy=(16, 16))
    until(qtbot, lambda: "of 16 × 16 = 256 threads" in words(opened))


def test_arrow_keys_go_through_numbers_that_have_no_place(qtbot, opened):
    """As those of a frequency, and of rows that are a tile's halo."""
    pick(child(opened, "anatomy-rung", QComboBox), "fft")
    strip = child(opened, "anatomy-lanes", LaneGrid)
    opened.anatomy.get().point_at((0.1, 0.5))
    wait_for_record(qtbot, opened)
    assert (look_of(opened).block, look_of(opened).thread) == ((2, 0), 2)
    for _ in range(4):  # no further than there are
        QTest.keyClick(strip, Qt.Key.Key_Left)
        QTest.keyClick(strip, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
        wait_for_record(qtbot, opened)
    assert (look_of(opened).block, look_of(opened).thread) == ((0, 0), 0)
    assert "stores 1 number of “tiles”" in words(opened)
    passes = child(opened, "anatomy-pass", QComboBox)
    passes.setCurrentIndex(1)
    passes.activated.emit(1)
    wait_for_record(qtbot, opened)
    begin = look_of(opened)
    QTest.keyClick(strip, Qt.Key.Key_Down)
    QTest.keyClick(strip, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    wait_for_record(qtbot, opened)
    assert look_of(opened).thread == begin.thread + 32
    assert look_of(opened).block == (begin.block[0], begin.block[1] + 1)


def test_it_follows_the_rung_that_is_chosen_and_stays_with_it_on_the_cpu(qtbot, make_window):
    window = ready(qtbot, make_window(MadeUpGpu), PICTURE.copy())
    trigger(window, "Anatomy of a launch")
    until(qtbot, window.anatomy.get().isVisible)
    rungs = child(window, "anatomy-rung", QComboBox)
    settle(qtbot, window, lambda: window.store.choose(implementation="constant"))
    assert rungs.currentData() == "constant"
    settle(qtbot, window, lambda: window.store.choose(implementation="opencv"))
    assert rungs.currentData() == "constant"
    settle(qtbot, window, lambda: window.store.choose(implementation="auto"))
    assert rungs.currentData() == window.live.result.implementation


def test_arrow_keys_go_from_lane_to_lane_and_from_block_to_block(qtbot, opened):
    strip = child(opened, "anatomy-lanes", LaneGrid)
    opened.anatomy.get().point_at((20.4, 20.5))  # sample 61 of row 20: lane 29 of warp 4
    wait_for_record(qtbot, opened)
    assert (look_of(opened).lane, look_of(opened).warp) == (29, 4)
    QTest.keyClick(strip, Qt.Key.Key_Left)
    assert look_of(opened).lane == 28
    QTest.keyClick(strip, Qt.Key.Key_Down)
    assert (look_of(opened).lane, look_of(opened).warp) == (28, 5)
    block = look_of(opened).block
    QTest.keyClick(strip, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert look_of(opened).block == (block[0] + 1, block[1])
    for _ in range(20):  # no further than there are blocks
        QTest.keyClick(strip, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    wait_for_record(qtbot, opened)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down):  # the thread has no sample in the last one
        QTest.keyClick(strip, key, Qt.KeyboardModifier.ShiftModifier)
    assert look_of(opened).block[1] == look_of(opened).subject.shape.grid[1] - 1
    wait_for_record(qtbot, opened)
    QTest.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=strip.cell(3).center())
    assert look_of(opened).lane == 3
    # The parts of a launch, with buttons and keys.
    opened.activateWindow()
    assert opened.anatomy.get().part == "load"
    click(child(opened, "anatomy-part-share", QPushButton))
    assert "each byte is read" in words(opened)
    assert child(opened, "anatomy-part-share", QPushButton).isChecked()
    QTest.keyClick(strip, Qt.Key.Key_3)
    assert opened.anatomy.get().part == "compute"
    assert "no bank conflict" in words(opened)
    trigger(opened, "Next part of the anatomy")
    assert opened.anatomy.get().part == "load"
    pick(child(opened, "anatomy-rung", QComboBox), "global")
    wait_for_record(qtbot, opened)
    QTest.keyClick(strip, Qt.Key.Key_2)
    assert "No shared memory" in words(opened)
    assert not strip.isVisible()  # there is no access
    assert not child(opened, "anatomy-access", QComboBox).isVisible()


def in_view(window):
    """The pixels that are in view: top, bottom, left, right."""
    return window.compare.in_view


def test_entering_zooms_to_the_block_and_leaving_goes_back(qtbot, opened):
    area = block_area(look_of(opened))
    until(qtbot, lambda: in_view(opened)[1] - in_view(opened)[0] < 40)
    top, bottom, left, right = in_view(opened)
    assert QRectF(left, top, right - left, bottom - top).contains(area)
    opened.docks["Anatomy"].hide()
    until(qtbot, lambda: in_view(opened) == (0, 60, 0, 90))
    trigger(opened, "Anatomy of a launch")
    until(qtbot, lambda: in_view(opened)[1] - in_view(opened)[0] < 40)
    legend = child(opened, "anatomy-legend", QLabel)
    assert "Zoom in" not in legend.text()
    move(opened.compare, ViewTransform(0.9, (40.0, 30.0)))  # then it stays where it was put
    until(qtbot, lambda: "Zoom in" in legend.text())
    moved = in_view(opened)
    opened.docks["Anatomy"].hide()
    until(qtbot, lambda: not opened.anatomy.get().isVisible())
    assert in_view(opened) == moved
    # Values in the pixels give way to blocks and warps.
    trigger(opened, "Anatomy of a launch")
    until(qtbot, opened.anatomy.get().isVisible)
    move(opened.compare, ViewTransform(90.0, (10.5, 10.5)))
    shown, asked = view(opened, "After"), []
    opened.compare.cells_wanted.connect(lambda request, _: asked.append(request))
    shown.grab()
    assert not asked
    opened.docks["Anatomy"].hide()
    move(opened.compare, ViewTransform(72.0, (20.5, 20.5)))
    shown.grab()
    assert asked


@pytest.mark.parametrize("key", ["shared", "global"])
def test_what_a_warp_loads_is_marked_on_the_picture(key):
    """The first load of warp 0: of a tile's first row, or of the tap above and to the left."""
    found = look(key, at=(96, 24), picture=np.zeros((100, 200, 3), np.float32))
    assert len({each.name for each in found.steps}) == len(found.steps)
    step = next(each for each in found.steps_of("load") if each.array == "picture")
    expected = [(lane, Rect(90 + lane, 22, 91 + lane, 23)) for lane in range(32)]
    assert marks_of(found, "load", step, 0).lanes == tuple(expected)


def test_what_a_thread_reads_is_marked_with_the_tap():
    found = look("shared", at=(100, 30))
    step = next(each for each in found.steps_of("compute") if found.is_of_taps(each))
    marks = marks_of(found, "compute", step, 7)  # tap x 3, y 2
    assert marks.reads == (Rect(94, 28, 107, 33),)
    assert marks.tap == Rect(100, 29, 101, 30)
