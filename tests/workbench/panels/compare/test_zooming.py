"""Zoom by keys, menu and a rectangle, its limits, and the picture's context menu."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from kernels.pictures.generated import noise
from tests.workbench.driving import action, show_picture, trigger, until, view

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


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
    seen = zooming.compare.seen
    assert seen.contains(0.5, 0.5)
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
