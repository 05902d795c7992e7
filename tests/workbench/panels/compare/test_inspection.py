"""Looking closely in the real window: modes, pins, the way to wrong pixels, values in cells."""

import gc
import weakref
from dataclasses import replace
from itertools import product
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QSpinBox, QToolButton

from kernels.core.job import Result
from kernels.oracle.reference import filtered
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    child,
    click,
    move,
    pane_of,
    part_values,
    ready,
    settle,
    trigger,
    type_into,
    until,
    view,
)
from tests.workbench.engines import Scripted
from workbench.files import image_files
from workbench.imaging.differences import COLORS, WRONG, subtracting
from workbench.imaging.display import show
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State, Step
from workbench.model.step_files import select
from workbench.panels.compare import inspection
from workbench.panels.compare.picture_layer import Shown, ViewTransform
from workbench.panels.compare.picture_view import PictureView
from workbench.session import live

WRONG_PLACES = ((40, 2), (7, 30), (55, 47))  # x, y


def spoiled(job, steps):
    """A right answer but for a few pixels."""
    for step in steps:
        if isinstance(step, Result):
            picture = step.picture.copy()
            for x, y in WRONG_PLACES:
                picture[y, x, 1] = (
                    picture[y, x, 1] + 1.0
                    if picture.dtype.kind == "f"
                    else (picture[y, x, 1] ^ 128)
                )
            picture.flags.writeable = False
            step = replace(step, picture=picture)
        yield step


@pytest.fixture
def spoiling(qtbot, make_window):
    window = make_window(lambda: Scripted(spoiled))
    window.store.update(implementation="opencv")
    return ready(qtbot, window, noise(60, 90, 3))


@pytest.fixture
def loaded(qtbot, window):
    window.store.update(implementation="opencv")
    return ready(qtbot, window, noise(60, 90, 3))


def comparison(window):
    return view(window, "Comparison")


def centre(window):
    views = window.compare.findChildren(PictureView)
    return next(each for each in views if each.isVisible()).transform.centre


# -- difference


def test_d_shows_the_difference_and_goes_back(qtbot, loaded):
    trigger(loaded, "Difference")
    assert loaded.store.state.view_mode == "difference"
    until(qtbot, lambda: comparison(loaded).display)
    shown = comparison(loaded)
    assert shown.isVisible()
    assert "After − before" in shown.caption
    after, before = loaded.live.result.picture, loaded.store.state.picture.samples
    apart = np.abs(after.astype(int) - before)
    assert f"largest {apart.max()}" in shown.caption
    assert np.array_equal(shown.display.pixels[0][..., 2::-1], apart)  # ×1: noise differs a lot
    gain = child(loaded, "gain", QSpinBox)
    assert gain.text() == "auto"
    type_into(gain, "40")
    assert loaded.store.state.gain == 40
    until(qtbot, lambda: "×40" in comparison(loaded).caption)
    trigger(loaded, "Difference")
    assert loaded.store.state.view_mode == "result"


def test_a_difference_is_shown_though_there_are_newer_results_all_the_time(
    qtbot, loaded, monkeypatch
):
    """As while a slider is dragged over a large picture: one takes longer than the next result."""
    held, begun, shown = Event(), [], []

    def slow(*pictures, **how):
        begun.append(pictures[0])
        held.wait(10)
        yield from subtracting(*pictures, **how)

    monkeypatch.setattr(inspection, "subtracting", slow)
    show = loaded.compare.show_worked_out
    monkeypatch.setattr(
        loaded.compare, "show_worked_out", lambda *what: (shown.append(what), show(*what))
    )
    loaded.store.update(view_mode="difference")
    until(qtbot, lambda: begun)
    first = loaded.live.result.picture
    for size in (7, 9, 11):
        settle(qtbot, loaded, lambda size=size: loaded.store.update(ksize=size))
    held.set()
    until(qtbot, lambda: len(shown) == 2)
    newest = loaded.live.result.picture
    assert [each is first for each in begun] == [True, False]
    assert begun[1] is newest


def test_the_difference_of_another_picture_waits_for_that_picture(qtbot, loaded, monkeypatch):
    loaded.store.update(view_mode="difference")
    until(qtbot, lambda: comparison(loaded).display)
    go_on, before = Event(), view(loaded, "Before").display

    def slow(*what):
        go_on.wait(10)
        return show(*what)

    monkeypatch.setattr(live, "show", slow)
    old = loaded.live.newest
    loaded.opener.opened.emit(Picture("other", noise(40, 30, 3)))
    until(qtbot, lambda: loaded.live.newest is not old)
    qtbot.wait(50)
    assert view(loaded, "Before").display is before
    assert comparison(loaded).display is None
    go_on.set()
    until(qtbot, lambda: comparison(loaded).display)
    assert comparison(loaded).display.size == (30, 40)


# -- mismatch


def test_a_right_answer_has_no_pixel_to_go_to(qtbot, window):
    window.store.update(implementation="sequential", filter="identity", ksize=3)
    ready(qtbot, window, noise(40, 30))
    trigger(window, "Next differing pixel")
    assert window.store.state.view_mode == "mismatch"
    until(qtbot, lambda: "No pixel differs" in window.messages.sentence)
    assert "no pixel differs" in comparison(window).caption
    for name in ("previous-differing", "next-differing", "cancel-search"):
        assert not child(window, name, QToolButton).isVisible()  # there is nothing for it to do


def test_p_explains_the_pixel_that_n_went_to(qtbot, spoiling):
    places = sorted(WRONG_PLACES, key=lambda place: (place[1], place[0]))
    trigger(spoiling, "Next differing pixel")
    until(qtbot, lambda: centre(spoiling) == (places[0][0] + 0.5, places[0][1] + 0.5))
    trigger(spoiling, "This pixel")
    until(qtbot, spoiling.pixel.get().isVisible)
    boxes = [child(spoiling, name, QSpinBox) for name in ("pixel-x", "pixel-y")]
    assert tuple(box.value() for box in boxes) == places[0]
    channel = child(spoiling, "pixel-channel", QComboBox)
    channel.setCurrentIndex(2)
    channel.activated.emit(2)
    trigger(spoiling, "Next differing pixel")  # which the open panel follows
    assert tuple(box.value() for box in boxes) == places[1]
    assert channel.currentText() == "green"  # which is what differs there


def test_of_a_list_p_explains_what_is_wrong_at_its_end(qtbot, spoiling):
    """The middle step's own output is right; what became of it is not."""
    steps = Step("box", 3), Step("sharpen", 3, mix=0.5), Step("edges", 3)
    settle(qtbot, spoiling, lambda: spoiling.store.update(**select(steps, 1)))
    trigger(spoiling, "Next differing pixel")
    until(qtbot, lambda: "3 wrong" in comparison(spoiling).caption)
    trigger(spoiling, "This pixel")
    until(qtbot, spoiling.pixel.get().isVisible)
    assert child(spoiling, "pixel-channel", QComboBox).currentText() == "green"
    x, y = spoiling.pixel.get().pixel
    exact = filtered(intents.job_for(spoiling.store.state))[y, x, 1]
    said = child(spoiling, "pixel-result", QLabel).text().split()
    assert said[0] == str(spoiling.live.result.picture[y, x, 1])
    assert float(said[2]) == pytest.approx(exact)


def test_n_goes_from_one_wrong_pixel_to_the_next_and_around(qtbot, spoiling):
    trigger(spoiling, "Next differing pixel")
    places = [(x + 0.5, y + 0.5) for x, y in WRONG_PLACES]
    until(qtbot, lambda: centre(spoiling) == places[0])
    assert "3 wrong" in comparison(spoiling).caption
    for place in (*places[1:], places[0]):
        trigger(spoiling, "Next differing pixel")
        assert centre(spoiling) == place
    trigger(spoiling, "Previous differing pixel")
    assert centre(spoiling) == places[2]
    x, y = WRONG_PLACES[2]
    assert tuple(comparison(spoiling).display.pixels[0][y, x, :3]) == COLORS[WRONG]
    assert comparison(spoiling).transform.scale >= 24
    click(child(spoiling, "next-differing", QToolButton))
    assert centre(spoiling) == places[0]


def test_the_search_can_be_cancelled(qtbot, make_window):
    window = make_window()
    window.store.update(implementation="opencv", filter="box", ksize=31)
    ready(qtbot, window, noise(700, 900, 3))
    window.store.update(view_mode="mismatch")
    cancel = child(window, "cancel-search", QToolButton)
    assert cancel.isVisible()
    click(cancel)
    assert not cancel.isVisible()
    assert not window.analysis_thread.is_under_way("mismatch")
    assert "stopped" in comparison(window).caption
    trigger(window, "Next differing pixel")
    assert window.analysis_thread.is_under_way("mismatch")
    assert cancel.isVisible()


def test_the_divider_turns_and_moves_up_and_down(qtbot, loaded):
    trigger(loaded, "Rotate divider")
    assert (loaded.store.state.view_mode, loaded.store.state.divider) == ("wipe", "level")
    wipe = pane_of(loaded.compare, "Before and after")
    until(qtbot, wipe.isVisible)
    QTest.keyClick(wipe.divider, Qt.Key.Key_Down)
    assert wipe.divider.value() == 510
    trigger(loaded, "Rotate divider")
    assert loaded.store.state.divider == "upright"
    assert not wipe.is_level


# -- pins


def test_up_to_three_results_are_kept_beside_the_newest_until_removed(qtbot, loaded):
    for ksize in (3, 7, 9):
        trigger(loaded, "Pin this result")
        settle(qtbot, loaded, lambda ksize=ksize: loaded.store.update(ksize=ksize))
    assert [len(loaded.inspection.pins), view(loaded, "Before").isVisible()] == [3, False]
    panes = [view(loaded, name) for name in ("After", "Pinned 1", "Pinned 2", "Pinned 3")]
    assert all(pane.isVisible() for pane in panes)
    assert "5×5" in panes[1].caption
    assert "ms" in panes[1].caption or "µs" in panes[1].caption
    assert not child(loaded, "pin", QToolButton).isEnabled()
    trigger(loaded, "Pin this result")
    assert "remove one first" in loaded.messages.sentence
    panes[2].moved.emit(ViewTransform(5.0, (20.0, 30.0)))
    assert {pane.transform for pane in panes} == {ViewTransform(5.0, (20.0, 30.0))}
    _, second, third = loaded.inspection.pins
    click(child(loaded, "unpin-1", QToolButton))
    assert loaded.inspection.pins == (second, third)
    assert view(loaded, "Pinned 1").caption.startswith("Gaussian blur 3×3 · OpenCV\nPinned 1 · ")
    trigger(loaded, "Remove the last pinned result")
    trigger(loaded, "Remove the last pinned result")
    assert loaded.inspection.pins == ()
    assert not view(loaded, "Pinned 1").isVisible()
    assert view(loaded, "Pinned 1").display is None
    trigger(loaded, "Remove the last pinned result")
    assert "No result is pinned" in loaded.messages.sentence


def pinned(window):
    return [pin.samples for pin in window.inspection.pins]


def all_looked(qtbot, window):
    """Wait until everything that was to be worked out for looking was, and was taken."""
    answers = []
    window.analysis_thread.ask("the test's", lambda: iter((True,)), answers.append, urgency=-1)
    until(qtbot, lambda: answers)


def test_pins_come_with_a_file_however_it_is_opened(qtbot, loaded, tmp_path):
    paths = [tmp_path / "one.png", tmp_path / "other.png"]
    for seed, path in enumerate(paths):
        image_files.save(path, noise(60, 90, 3, seed=seed))
    settle(qtbot, loaded, lambda: loaded.opener.open_file(paths[0]))
    settle(qtbot, loaded, lambda: loaded.opener.open_file(paths[1]))
    settle(qtbot, loaded, loaded.undo_history.undo)  # read once more, as nothing held it
    trigger(loaded, "Pin this result")
    kept = pinned(loaded)
    settle(qtbot, loaded, loaded.undo_history.redo)
    settle(qtbot, loaded, loaded.undo_history.undo)
    until(qtbot, lambda: pinned(loaded) == kept)
    settle(qtbot, loaded, lambda: loaded.opener.open_file(paths[1]))
    assert pinned(loaded) == []
    settle(qtbot, loaded, lambda: loaded.opener.open_file(paths[0]))
    until(qtbot, lambda: pinned(loaded) == kept)
    image_files.save(paths[0], noise(60, 90, 3, seed=7))  # by now it is another one
    settle(qtbot, loaded, lambda: loaded.opener.open_file(paths[0]))
    all_looked(qtbot, loaded)
    assert pinned(loaded) == []


def test_pins_too_large_to_be_set_aside_are_removed_alone(qtbot, loaded, monkeypatch):
    first, second = (Picture("a", noise(*size, 3)) for size in ((20, 30), (60, 90)))
    settle(qtbot, loaded, lambda: loaded.opener.opened.emit(first))
    trigger(loaded, "Pin this result")
    kept = pinned(loaded)
    settle(qtbot, loaded, lambda: loaded.opener.opened.emit(second))
    trigger(loaded, "Pin this result")
    monkeypatch.setattr(inspection, "MAX_BYTES", second.samples.nbytes)
    settle(qtbot, loaded, lambda: loaded.opener.opened.emit(first))
    assert loaded.messages.sentence == inspection.TOO_LARGE.format("a")
    until(qtbot, lambda: pinned(loaded) == kept)


def test_what_is_compared_too_late_is_not_pinned_on_another_picture(qtbot, loaded):
    first = loaded.store.state.picture
    trigger(loaded, "Pin this result")
    second = Picture("second", noise(50, 90, 3, seed=5))  # with no other like it
    settle(qtbot, loaded, lambda: loaded.store.update(picture=second))
    may_go_on = Event()
    loaded.analysis_thread.ask(
        "slow", lambda: iter((may_go_on.wait(20),)), lambda _: None, urgency=9
    )
    settle(qtbot, loaded, lambda: loaded.store.update(picture=first))
    settle(qtbot, loaded, lambda: loaded.store.update(picture=second))
    may_go_on.set()
    all_looked(qtbot, loaded)
    assert pinned(loaded) == []


def color_at(pane, x, y):
    """Return the red, green and blue that a pixel of the picture has on the screen."""
    column, row = pane.transform.to_view((x + 0.5, y + 0.5), pane.device_size)
    color = pane.grab().toImage().pixelColor(round(column), round(row))
    return [color.red(), color.green(), color.blue()]


def test_wipe_and_read_out_are_of_the_pin_that_is_compared_with(qtbot, loaded):
    loaded.resize(2200, 900)  # with room for all values
    trigger(loaded, "Compare with the next pinned result")
    assert "No result is pinned" in loaded.messages.sentence
    trigger(loaded, "Pin this result")
    settle(qtbot, loaded, lambda: loaded.store.update(ksize=9))
    pinned, after = loaded.inspection.pins[0], loaded.live.result.picture
    trigger(loaded, "Compare with the next pinned result")
    loaded.store.update(view_mode="wipe")
    wipe = pane_of(loaded.compare, "Before and after")
    move(loaded.compare, ViewTransform(20.0, (45.0, 30.0)))
    assert color_at(wipe, 40, 30) == pinned.samples[30, 40].tolist()
    assert color_at(wipe, 50, 30) == after[30, 50].tolist()
    assert wipe.accessibleDescription().startswith("Gaussian blur 5×5 · OpenCV\nPinned 1 · ")
    assert child(loaded, "against", QComboBox).isVisible()
    loaded.compare.go_to(7, 8)
    said = part_values(child(loaded, "values", QLabel).text())
    assert said["pinned 1"][1::2] == [str(v) for v in pinned.samples[8, 7]]
    apart = after[8, 7].astype(int) - pinned.samples[8, 7]
    assert [int(v) for v in said["after − pinned 1"][1::2]] == apart.tolist()
    loaded.store.update(view_mode="difference")
    until(qtbot, lambda: "After − pinned 1" in comparison(loaded).caption)
    loaded.store.update(view_mode="wipe")
    trigger(loaded, "Compare with the next pinned result")  # around: the original
    assert wipe.accessibleDescription().startswith("Before · ")
    assert "pinned" not in child(loaded, "values", QLabel).text()


@pytest.mark.parametrize(
    ("pixel_type", "negative_display", "is_wide"),
    [
        (None, "clip", True),
        ("float16", "clip", True),
        ("float32", "clip", True),
        ("uint8", "clip", False),
        ("uint16", "clip", False),
        ("uint8", "offset", True),
    ],
)
def test_only_where_whole_numbers_are_asked_for_may_anything_be_cut_off(
    pixel_type, negative_display, is_wide
):
    """Also while a picture is still being stored in the type that was chosen."""
    state = State(
        Picture("a", noise(9, 9, 1)), filter="sobel_x", ksize=3, negative_display=negative_display
    )
    assert intents.is_unclipped(replace(state, pixel_type=pixel_type)) == is_wide


# -- values in the cells


def zoom_to(window, scale, x=45.0, y=30.0):
    move(window.compare, ViewTransform(scale, (x, y)))


def requests(pane):
    """Return a list to which what a view asks for, to write into its cells, is added."""
    asked = []
    pane.cells_wanted.connect(lambda wish, _: asked.append(wish))
    return asked


def colours_of(pane, x=45, y=30):
    """The colours inside the cell of a pixel."""
    image = pane.grab().toImage()
    left, top = map(int, pane.transform.to_view((x, y), pane.device_size))
    cell = product(range(left + 2, left + 40), range(top + 2, top + 40))
    return {image.pixelColor(*at).rgb() for at in cell}


def test_values_stand_in_cells_that_are_large_enough_and_only_there(qtbot, loaded):
    pane = view(loaded, "After")
    asked = requests(pane)
    zoom_to(loaded, 39.0)
    pane.grab()
    assert asked == []
    zoom_to(loaded, 44.0)
    until(qtbot, lambda: len(colours_of(pane)) > 2)  # with its numbers over it
    assert len(asked) == 1
    pane.show_picture(Shown(pane.display, pane.caption))
    assert len(colours_of(pane)) == 1, "a pixel is one colour"


def test_no_samples_are_held_for_numbers_once_another_picture_is_shown(qtbot, loaded):
    pane = view(loaded, "After")
    samples = noise(60, 90, 3, seed=5)
    pane.show_picture(Shown(pane.display, samples=samples))
    zoom_to(loaded, 44.0)
    until(qtbot, lambda: len(colours_of(pane)) > 2)
    held = weakref.ref(samples)
    pane.show_picture(Shown(pane.display))
    del samples
    all_looked(qtbot, loaded)
    until(qtbot, lambda: gc.collect() >= 0 and held() is None)


def test_under_a_wipe_each_side_has_its_own_values(qtbot, loaded):
    pane = pane_of(loaded.compare, "Before and after")
    loaded.store.update(view_mode="wipe")
    zoom_to(loaded, 50.0, 46.0)
    until(qtbot, lambda: all(len(colours_of(pane, x)) > 2 for x in (44, 47)))

    def cell(x):
        left, top = map(int, pane.transform.to_view((x, 30), pane.device_size))
        return pane.grab(QRect(left + 2, top + 2, 38, 38)).toImage()

    before, after = cell(44), cell(47)
    pane.divider.setValue(pane.divider.minimum())  # uncovers the result
    assert (cell(44) == before, cell(47) == after) == (False, True)
    pane.divider.setValue(pane.divider.maximum())
    assert (cell(44) == before, cell(47) == after) == (True, False)


def test_where_the_pointer_is_is_marked_in_every_pane(qtbot, loaded, monkeypatch):
    loaded.store.update(view_mode="side")
    trigger(loaded, "Pin this result")
    for name in ("After", "Pinned 1"):  # the screen's pointer may be anywhere
        monkeypatch.setattr(view(loaded, name), "underMouse", lambda: False)
    loaded.resize(1600, 1100)  # so that no message covers the middle
    QApplication.processEvents()
    before = view(loaded, "Before")
    middle = QPointF(before.rect().center())
    none = Qt.MouseButton.NoButton
    # Not the screen's pointer: that says nothing where it is there already.
    kind, keys = QEvent.Type.MouseMove, Qt.KeyboardModifier.NoModifier
    moved = QMouseEvent(kind, middle, before.mapToGlobal(middle), none, none, keys)
    QApplication.sendEvent(before, moved)
    pixel = before.pixel_at(middle)
    assert pixel is not None
    assert view(loaded, "Pinned 1").mark == view(loaded, "After").mark == pixel
