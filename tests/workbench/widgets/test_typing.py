"""What is typed, pressed and picked in the left panel comes to what the user meant."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPlainTextEdit,
    QSlider,
    QToolTip,
)

from kernels.engine.engine import all_implementations
from tests.workbench.driving import child, pick, show_picture, type_into
from workbench.model.state import State
from workbench.panels.controls.tool_row import ToolRow


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    window.resize(1440, 900)  # with room for the slider
    window.docks.bring_forward("Settings")
    show_picture(qtbot, window, np.zeros((8, 8, 3), np.uint8))
    return window


def by_hand(window):
    """The box for a sigma that does not follow the size."""
    child(window, "automatic-sigma").click()
    return child(window, "sigma", QDoubleSpinBox)


# -- numbers


@pytest.mark.parametrize(
    ("typed", "sigma"),
    [("2.5", 2.5), ("2,5", 2.5), (",5", 0.5), ("3", 3), ("999", 64), ("0", 0.1), ("2.499", 2.5)],
)
def test_a_decimal_point_or_comma_is_taken_and_the_range_kept(typed, sigma, window):
    box = by_hand(window)
    type_into(box, typed)
    assert window.store.state.sigma == pytest.approx(sigma)
    assert box.text() == f"{sigma:.2f}"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("ksize", "999", 127),
        ("ksize", "0", 1),
        ("ksize", "126", 127),
        ("level-black", "300", 254),
        ("level-black", "-20", -20),
        ("level-white", "-5", 1),
    ],
)
def test_a_number_beyond_its_range_becomes_the_nearest_in_it(name, typed, value, window):
    box = child(window, name)
    type_into(box, typed)
    assert box.value() == value


@pytest.mark.parametrize(
    ("name", "typed"), [("sigma", "x"), ("ksize", "."), ("ksize", "129\r"), ("sigma", "65\t")]
)
def test_what_is_refused_or_changed_has_its_range_told(name, typed, qtbot, window):
    by_hand(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    box = child(window, name)
    box.setFocus()
    box.selectAll()
    for key in typed:
        QTest.keyClick(box, {"\r": Qt.Key.Key_Return, "\t": Qt.Key.Key_Tab}.get(key, key))
    words = {"sigma": "A number from 0.10 to 64.00", "ksize": "A whole number from 1 to 127"}
    qtbot.waitUntil(lambda: QToolTip.text() == words[name])
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


# -- the slider


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


# -- the wheel


@pytest.mark.parametrize("name", ["filter", "ksize-slider", "ksize", "border", "pixel-type"])
def test_the_wheel_changes_only_what_has_the_focus(name, qtbot, window):
    window.resize(1400, 400)
    before, bar = window.store.state, window.controls.get().verticalScrollBar()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.centralWidget().setFocus()
    control = child(window, name)
    turn_wheel(control)
    assert window.store.state == before
    assert (bar.value() > 0) == window.controls.get().isAncestorOf(
        control
    )  # what is around it scrolls
    assert not control.hasFocus()
    window.activateWindow()
    control.setFocus()
    qtbot.waitUntil(control.hasFocus)
    bar.setValue(0)
    turn_wheel(control)
    assert window.store.state != before
    assert bar.value() == 0


def turn_wheel(control):
    """One notch towards the user, with the pointer in the middle."""
    at = control.mapTo(control.window(), control.rect().center())
    QTest.wheelEvent(control.window().windowHandle(), QPointF(at), QPoint(0, -120))


# -- lists


@pytest.fixture
def tool_row(qtbot):
    controls = ToolRow()
    qtbot.addWidget(controls)
    controls.show_implementations([(each, None) for each in all_implementations()])
    controls.show_state(State())
    controls.show()
    return controls


# -- weights


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1 0; 1 12 1; 0 1 0", "sum 16: brightens 16×"),
        ("-1 0 1; -2 0 2; -1 0 1", "sum 0: flat areas turn black"),
        (";".join(["1/9 1/9 1/9"] * 3), "sum 1: keeps the brightness"),
        ("1/2", "sum 0.5: darkens to 0.5 of the brightness"),
    ],
)
def test_the_sum_of_the_weights_is_told_with_what_it_does(text, words, window):
    pick(child(window, "filter", QComboBox), "custom")
    child(window, "matrix", QPlainTextEdit).setPlainText(text)
    assert child(window, "matrix-sum", QLabel).text() == words
    assert child(window, "matrix-sum", QLabel).isVisible()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 a 0", "'a' is not a number; write numbers such as 0.25"),
        ("1/0", "'1/0' is not a number"),
        ("1/2/3", "'1/2/3' is not a number"),
        ("", "Write rows of numbers, such as 0 1 0; 1 -4 1; 0 1 0."),
    ],
)
def test_weights_that_are_none_are_answered_with_an_example(text, words, window):
    pick(child(window, "filter", QComboBox), "custom")
    child(window, "matrix", QPlainTextEdit).setPlainText(text)
    assert child(window, "matrix-objection", QLabel).text().startswith(words)
    assert not child(window, "matrix-sum", QLabel).isVisible()
