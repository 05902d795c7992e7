"""The part of the picture that is filtered: drawn, moved, fed to its menu, in the real window."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QColor, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton

from kernels.pictures.generated import noise
from tests.workbench.driving import action, child, settle, show_picture, trigger, until, view
from workbench.imaging.pictures import Picture
from workbench.model import choices
from workbench.panels.analysis.curves import HEADS
from workbench.panels.compare.part_selection import _moved
from workbench.panels.compare.picture_layer import ViewTransform
from workbench.widgets.number_boxes import WholeBox

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
SCALE = 6.0


@pytest.fixture
def selecting(qtbot, window):
    """A window with a picture of 120×80 pixels, in which the pointer selects."""
    window.store.update(implementation="opencv", ksize=9)
    show_picture(qtbot, window, noise(80, 120, 3))
    view(window, "After").moved.emit(ViewTransform(SCALE, (60.0, 40.0)))
    QTest.keyClick(window, Qt.Key.Key_G)
    assert child(window, "select_part", QToolButton).isChecked()
    return window


def place(window, x, y):
    """Where the pixel's middle is, in the view."""
    pane = view(window, "After")
    ratio = pane.devicePixelRatioF()
    at = pane.transform.to_view((x + 0.5, y + 0.5), pane.device_size)
    return QPointF(at[0] / ratio, at[1] / ratio).toPoint()


def press(window, x, y):
    QTest.mousePress(view(window, "After"), LEFT, NONE, place(window, x, y))


def go_on(window, x, y):
    QTest.mouseMove(view(window, "After"), place(window, x, y))


def release(window, x, y):
    QTest.mouseRelease(view(window, "After"), LEFT, NONE, place(window, x, y))


def drag(window, start, end):
    press(window, *start)
    go_on(window, *end)
    release(window, *end)


def key(window, code, modifiers=NONE):
    QTest.keyClick(view(window, "After"), code, modifiers)


def region(window):
    return window.store.state.region


def test_a_drag_selects_what_is_filtered_and_one_step_takes_it_back(qtbot, selecting):
    press(selecting, 20, 10)
    go_on(selecting, 49, 29)
    assert region(selecting) is None  # while it is drawn
    result = settle(qtbot, selecting, lambda: release(selecting, 49, 29))
    assert region(selecting) == (20, 10, 30, 20, 0)
    line = selecting.timing_views.line  # all is filtered, and the part of it is taken
    assert "of the whole picture" in line.accessibleName()
    changed = (result.picture != selecting.store.state.picture.samples).any(axis=2)
    assert changed[10:30, 20:50].mean() > 0.9
    changed[10:30, 20:50] = False
    assert not changed.any()
    assert selecting.undo_history.undo_words == "part of the picture"
    selecting.undo_history.undo()
    assert region(selecting) is None


@pytest.mark.parametrize("mode", ["result", "wipe", "side", "difference", "mismatch"])
def test_its_outline_stays_in_every_mode(qtbot, selecting, mode):
    selecting.store.update(view_mode=mode)
    pane = view(selecting, "After")
    until(qtbot, lambda: pane.display is not None)
    settle(qtbot, selecting, lambda: drag(selecting, (20, 10), (49, 29)))
    key(selecting, Qt.Key.Key_Escape)
    until(qtbot, lambda: pane.display is not None)
    x, y = (round(each) for each in pane.transform.to_view((35.0, 30.0), pane.device_size))
    seen = pane.grab().toImage()
    assert QColor("#ffffff") in [seen.pixelColor(x, row) for row in range(y - 4, y + 5)]


def test_edges_and_the_inside_are_taken_hold_of(qtbot, selecting):
    for start, end, wanted in (
        ((20, 10), (49, 29), (20, 10, 30, 20, 0)),
        ((30, 20), (35, 18), (25, 8, 30, 20, 0)),  # inside: it moves
        ((30, 20), (-60, 20), (0, 8, 30, 20, 0)),  # no farther than the picture's edge
        ((30, 15), (40, 15), (0, 8, 40, 20, 0)),  # its right edge
        ((20, 28), (20, 60), (0, 8, 40, 52, 0)),  # its lower edge
        ((40, 60), (200, 200), (0, 8, 120, 72, 0)),  # its corner, beyond the picture
        ((5, 3), (2, 1), (2, 1, 4, 3, 0)),  # outside: another one, up and to the left
    ):
        settle(qtbot, selecting, lambda start=start, end=end: drag(selecting, start, end))
        assert region(selecting) == wanted
    press(selecting, 80, 60)
    release(selecting, 80, 60)
    assert region(selecting) is None


def test_keys_move_and_resize_and_esc_ends_the_drag_then_the_mode(selecting):
    key(selecting, Qt.Key.Key_Right)
    assert region(selecting) == (30, 20, 60, 40, 0)  # it begins with the middle
    key(selecting, Qt.Key.Key_Left)
    key(selecting, Qt.Key.Key_Down)
    assert region(selecting) == (29, 21, 60, 40, 0)
    key(selecting, Qt.Key.Key_Right, SHIFT)
    key(selecting, Qt.Key.Key_Up, SHIFT)
    assert region(selecting) == (29, 21, 61, 39, 0)
    press(selecting, 5, 5)
    go_on(selecting, 20, 20)
    key(selecting, Qt.Key.Key_Escape)
    release(selecting, 20, 20)
    assert region(selecting) == (29, 21, 61, 39, 0)
    key(selecting, Qt.Key.Key_Escape)
    assert not child(selecting, "select_part", QToolButton).isChecked()
    before = selecting.compare.choices()
    drag(selecting, (40, 40), (50, 50))
    assert region(selecting) == (29, 21, 61, 39, 0)
    assert selecting.compare.choices() != before  # the picture moved instead


@pytest.mark.parametrize(
    ("ends", "by", "held", "wanted"),
    [
        ((5, 9), 3, (True, True), (8, 12)),
        ((5, 9), 30, (True, True), (16, 20)),
        ((5, 9), 6, (True, False), (9, 11)),
        ((5, 9), 4, (True, False), (9, 10)),
        ((0, 1), -3, (False, True), (0, 1)),
        ((16, 20), 4, (True, False), (19, 20)),
    ],
)
def test_ends_stay_apart_and_in_the_picture(ends, by, held, wanted):
    assert _moved(ends, by, held, 20) == wanted


def test_a_crop_becomes_the_picture_and_undo_brings_the_whole_back(qtbot, selecting):
    whole = selecting.store.state.picture
    settle(qtbot, selecting, lambda: drag(selecting, (20, 10), (49, 29)))
    trigger(selecting, "Crop to the part")
    until(qtbot, lambda: selecting.store.state.picture is not whole)
    cropped = selecting.store.state.picture
    assert np.array_equal(cropped.samples, whole.samples[10:30, 20:50])
    assert (cropped.name, cropped.path, region(selecting)) == ("made up part", None, None)
    assert selecting.messages.sentence.startswith("Cropped to 30×20; Undo")
    part = child(selecting, "select_part", QToolButton)
    assert not part.isChecked()
    part.click()
    size = child(selecting, "ksize")
    size.setFocus()
    QTest.keyClick(size, Qt.Key.Key_Escape)
    assert not part.isChecked(), "Esc ends it from anywhere"
    selecting.undo_history.undo()
    until(qtbot, lambda: selecting.store.state.picture is whole)
    assert region(selecting) == (20, 10, 30, 20, 0)


def test_the_rest_of_the_menu(qtbot, selecting):
    zoom = selecting.findChild(QAction, "Zoom to the part")
    assert not zoom.isEnabled()
    settle(qtbot, selecting, lambda: drag(selecting, (20, 10), (49, 29)))
    zoom.trigger()
    middle = selecting.compare.seen.center()
    assert (round(middle.x()), round(middle.y())) == (35, 20)
    trigger(selecting, "Feather the part…")
    box = child(selecting, "part-feather", WholeBox)
    settle(qtbot, selecting, lambda: box.setValue(8))
    assert region(selecting) == (20, 10, 30, 20, 8)
    box.window().close()
    trigger(selecting, "Filter all of the picture")
    assert region(selecting) is None


def test_another_picture_keeps_it_as_far_as_it_is_inside(qtbot, selecting):
    settle(qtbot, selecting, lambda: drag(selecting, (20, 10), (49, 29)))
    result = show_picture(qtbot, selecting, noise(25, 40, 3))
    assert (region(selecting), result.job.region.width) == ((20, 10, 30, 20, 0), 20)
    show_picture(qtbot, selecting, noise(25, 20, 3))
    assert region(selecting) is None


def test_settings_have_no_part_and_a_screenshot_has(selecting):
    selecting.store.choose(region=(1, 2, 30, 20, 4))
    assert "region" not in selecting.memory.for_settings()["choices"]
    data = selecting.memory.for_screenshot()
    data["region"] = list(data["region"])  # as JSON has it
    assert choices.from_data(data, selecting.store.state)["region"] == (1, 2, 30, 20, 4)


def test_numbers_are_those_of_the_part(qtbot, selecting):
    trigger(selecting, "Analysis")
    result = settle(qtbot, selecting, lambda: drag(selecting, (20, 10), (49, 29)))
    said = child(selecting, "analysis-part", QLabel)
    until(qtbot, lambda: said.text() == "Of the part 30×20 at 20,10: 600 pixels.")
    trigger(selecting, "Copy the part's numbers")
    clipboard = QGuiApplication.clipboard()
    until(qtbot, lambda: "R after" in clipboard.text())
    title, head, *rows = clipboard.text().split("\n")
    assert title == "made up.png: 30×20 at 20,10, 600 pixels"
    assert head.split("\t") == ["", *HEADS]
    found = {name: tuple(map(float, cells)) for name, *cells in (row.split("\t") for row in rows)}
    for name, samples in (("before", result.job.picture), ("after", result.picture)):
        green = samples[10:30, 20:50, 1].astype(float)
        least, *_, most, mean, deviation = found[f"G {name}"]
        assert (least, most) == (green.min(), green.max())
        assert (mean, deviation) == pytest.approx((green.mean(), green.std()))
    table = child(selecting, "histogram-numbers", QLabel)
    until(qtbot, lambda: f"{found['G after'][-2]:.4g}" in table.text())
    trigger(selecting, "Filter all of the picture")
    until(qtbot, lambda: said.isHidden())


def test_a_copy_of_a_large_picture_shows_the_part_of_its_file(selecting):
    from workbench.imaging.pictures import LargeSource
    from workbench.model.intents import part_of

    large = Picture("large.tif", noise(30, 40, 1), large=LargeSource(160, 120, 4.0))
    selecting.store.update(picture=large, region=(40, 20, 80, 60, 8))
    part = part_of(selecting.store.state)
    assert (part.x, part.y, part.width, part.height, part.feather) == (10, 5, 20, 15, 2)


# -- a drawn rectangle fills the view


@pytest.fixture
def zooming(qtbot, window):
    """A window with a picture of 120×80 pixels."""
    show_picture(qtbot, window, noise(80, 120, 3))
    return window


@pytest.mark.parametrize("key", [Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_4])
def test_round_scales_have_keys_and_lines(zooming, key):
    times = key.value - Qt.Key.Key_0.value
    trigger(zooming, "Fit")
    QTest.keyClick(view(zooming, "After"), key)
    assert zooming.compare.scale == times
    trigger(zooming, "Fit")
    QTest.keyClick(zooming, key, Qt.KeyboardModifier.ControlModifier)
    assert zooming.compare.scale == times


def test_a_drawn_rectangle_fills_the_view_once_and_filters_nothing(zooming):
    pane = view(zooming, "After")
    trigger(zooming, "100 %")
    before = zooming.store.state

    def at(x, y):
        px = pane.transform.to_view((x + 0.5, y + 0.5), pane.device_size)
        return QPoint(*(int(each / pane.devicePixelRatioF()) for each in px))

    def drag():
        start, end = at(20, 10), at(59, 29)
        QTest.mousePress(pane, LEFT, NONE, start)
        QTest.mouseMove(pane, end)
        QTest.mouseRelease(pane, LEFT, NONE, end)

    QTest.keyClick(zooming, Qt.Key.Key_Z)
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    drag()  # as ever, since Esc ended it
    assert zooming.compare.scale == 1
    trigger(zooming, "100 %")
    QTest.keyClick(zooming, Qt.Key.Key_Z)
    drag()
    seen = zooming.compare.seen
    assert zooming.compare.scale > 4
    assert seen.center().x() == pytest.approx(40, abs=0.6)
    assert seen.center().y() == pytest.approx(20, abs=0.6)
    assert seen.contains(20, 10)
    assert seen.contains(60, 30)
    assert zooming.store.state == before


def test_zooming_out_and_moving_away_leave_some_of_the_picture_in_sight(qtbot, zooming):
    pane = view(zooming, "After")
    for _ in range(40):
        QTest.keyClick(pane, Qt.Key.Key_Minus)
    assert zooming.compare.scale == pytest.approx(64 / 120)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
        for _ in range(40):
            QTest.keyClick(pane, key)
    assert zooming.compare.seen.contains(0.5, 0.5)
    show_picture(qtbot, zooming, noise(4, 5, 1))  # so small that 100 % is the least
    for _ in range(40):
        QTest.keyClick(pane, Qt.Key.Key_Minus)
    assert zooming.compare.scale == 1


def test_the_right_button_offers_what_there_is_to_do_with_a_picture(qtbot, zooming):
    pane = view(zooming, "After")
    values = action(zooming, "Pixel values")
    assert not values.isEnabled()
    assert "point at a pixel" in values.toolTip()
    QTest.mouseMove(pane, pane.rect().center())
    until(qtbot, values.isEnabled)
    at = pane.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, pane.mapToGlobal(at))
    QApplication.sendEvent(pane, event)
    menu = next(each for each in zooming.compare.findChildren(QMenu) if each.isVisible())
    lines = {each.text().replace("&", ""): each for each in menu.actions()}
    assert {"Explain this pixel", "Pixel values", "Copy result", "400 %", "Fit"} < lines.keys()
    assert {"Zoom to a rectangle", "Select a part", "Compare with a file…"} < lines.keys()
    lines["Pixel values"].trigger()
    place, before, after, *_ = QGuiApplication.clipboard().text().split("   ")
    x, y = (int(each) for each in place.split()[1::2])
    wanted = zooming.store.state.picture.samples[y, x]
    assert [int(each) for each in before.split()[2::2]] == wanted.tolist()
    assert after.startswith("after")
    assert zooming.messages.sentence == "Copied the pixel values."
    menu.close()
