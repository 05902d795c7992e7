"""What is typed, pressed and picked in the left panel comes to what the user meant."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QSlider, QToolTip

from tests.workbench.driving import child, click, show_picture, type_into


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    window.resize(1600, 900)  # with room for the slider
    window.docks.bring_forward("Settings")
    show_picture(qtbot, window, np.zeros((8, 8, 3), np.uint8))
    return window


def by_hand(window):
    """The box for a sigma that does not follow the size."""
    child(window, "automatic-sigma").click()
    return child(window, "sigma", QDoubleSpinBox)


# -- numbers


def test_a_decimal_point_or_comma_is_taken_and_the_range_kept(window):
    box = by_hand(window)
    for typed, sigma in (("2.5", 2.5), ("2,5", 2.5), (",5", 0.5), ("3", 3), ("999", 64),
                         ("0", 0.1), ("2.499", 2.5)):  # fmt: skip
        type_into(box, typed)
        assert window.store.state.sigma == pytest.approx(sigma)
        assert box.text() == f"{sigma:.2f}"


def test_a_number_beyond_its_range_becomes_the_nearest_in_it(window):
    for name, typed, value in (
        ("ksize", "999", 127),
        ("ksize", "0", 1),
        ("ksize", "126", 127),
        ("level-black", "300", 254),
        ("level-black", "-20", -20),
        ("level-white", "-25", -19),
    ):
        type_into(child(window, name), typed)
        assert child(window, name).value() == value, (name, typed)


def test_enter_gives_the_keyboard_to_the_picture(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    type_into(child(window, "ksize"), "9")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_W)
    assert (window.store.state.ksize, window.store.state.view_mode) == (9, "wipe")


RANGES = {"sigma": "A number from 0.10 to 64.00", "ksize": "A whole number from 1 to 127"}


def test_what_is_refused_or_changed_has_its_range_told(qtbot, window):
    by_hand(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for name, typed in (("sigma", "x"), ("ksize", "."), ("ksize", "129\r"), ("sigma", "65\t")):
        box = child(window, name)
        box.setFocus()
        box.selectAll()
        for key in typed:
            QTest.keyClick(box, {"\r": Qt.Key.Key_Return, "\t": Qt.Key.Key_Tab}.get(key, key))
        qtbot.waitUntil(lambda name=name: QToolTip.text() == RANGES[name])
        QToolTip.hideText()
        qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_press_on_the_track_brings_the_handle_there_and_drags_it_on(qtbot, window):
    slider = child(window, "ksize-slider", QSlider)
    qtbot.waitUntil(
        lambda: slider.isVisible() and slider.width() > slider.minimumSizeHint().width()
    )
    middle = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=middle)
    assert 2 * slider.value() + 1 == pytest.approx(127**0.5, abs=2)  # as far by doublings
    assert slider.isSliderDown()
    QTest.mouseMove(slider, QPoint(slider.width() - 1, middle.y()))
    assert slider.value() == slider.maximum()
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)
    assert window.store.state.ksize == 127
    click(slider)
    before, edge = slider.value(), middle - QPoint(5, 0)  # of the handle
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(slider, edge - QPoint(1, 0))
    QTest.mouseMove(slider, edge)
    assert slider.value() == before  # it is held where it was taken
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=edge)


def test_the_wheel_changes_only_what_has_the_focus(qtbot, window):
    window.resize(1400, 450)
    bar = window.controls.get().verticalScrollBar()
    for name in ("ksize", "ksize-slider", "border", "pixel-type", "filter"):
        before, control = window.store.state, child(window, name)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        window.centralWidget().setFocus()
        turn_wheel(control)
        assert window.store.state == before, name
        is_inside = window.controls.get().isAncestorOf(control)
        assert (bar.value() > 0) == is_inside, "what is around it scrolls"
        assert not control.hasFocus()
        control.setFocus()
        qtbot.waitUntil(control.hasFocus)
        bar.setValue(0)
        turn_wheel(control)
        assert window.store.state != before, name
        assert bar.value() == 0


def turn_wheel(control):
    """One notch towards the user, with the pointer in the middle."""
    at = control.mapTo(control.window(), control.rect().center())
    QTest.wheelEvent(control.window().windowHandle(), QPointF(at), QPoint(0, -120))
