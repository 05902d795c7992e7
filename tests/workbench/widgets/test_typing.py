"""What is typed, pressed and picked in the left panel comes to what the user meant."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QPlainTextEdit,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionSlider,
    QToolTip,
)

from kernels import filters
from kernels.engine.engine import all_implementations
from tests.workbench.driving import child, pick, show_picture, type_into
from workbench.model.state import State
from workbench.panels.controls.filter_controls import FilterControls
from workbench.panels.controls.tool_row import ToolRow
from workbench.widgets.drop_down import DropDown
from workbench.widgets.menu_lines import menu_lines
from workbench.window.about import AboutDialog
from workbench.window.help.shortcuts import ShortcutsDialog


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


def test_a_box_left_empty_shows_its_value_again(window):
    box = by_hand(window)
    before = box.text()
    for unfinished in ("", "-", ","):
        type_into(box, unfinished or "x")
        assert box.text() == before


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


def test_an_even_size_says_what_became_of_it(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    type_into(child(window, "ksize"), "8")
    qtbot.waitUntil(lambda: QToolTip.text() == "Sizes are odd: 8 became 9")
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_the_range_is_told_after_a_click_elsewhere(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    box = child(window, "ksize")
    other = child(window, "level-black")
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "129")
    at = QPoint(5, 5)
    QTest.mousePress(other, Qt.MouseButton.LeftButton, pos=at)
    other.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.wait(100)
    assert not QToolTip.isVisible()
    QTest.mouseRelease(other, Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: QToolTip.text() == "A whole number from 1 to 127")
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_the_box_of_the_size_says_what_becomes_of_even_numbers(window):
    assert "even number becomes the next odd" in child(window, "ksize", QSpinBox).toolTip()


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


def test_a_press_on_the_handle_moves_nothing(window):
    slider = child(window, "ksize-slider", QSlider)
    slider.setValue(20)
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    handle = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    at = handle.center() + QPoint(4, 0)
    QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=at)
    assert slider.value() == 20


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


@pytest.mark.parametrize("key", ["edges", "gaussian", "unsharp", "laplacian_of_gaussian"])
def test_the_box_of_an_automatic_sigma_shows_the_one_that_is_used(key, window):
    pick(child(window, "filter", QComboBox), "laplacian")
    pick(child(window, "filter", QComboBox), key)
    window.store.update(ksize=9)
    used = filters.get(key).weights(9)
    by_hand = filters.get(key).weights(9, sigma=child(window, "sigma", QDoubleSpinBox).value())
    assert np.abs(used - by_hand).max() < 0.02 * np.abs(used).max()


# -- lists


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # offscreen popups
@pytest.mark.parametrize("name", ["border", "cache", "implementation", "baseline"])
def test_a_list_shows_all_its_entries(name, window):
    combo = DropDown("copy", "Copy")
    combo.setParent(window)
    combo.setModel(child(window, name, QComboBox).model())
    combo.show()
    combo.showPopup()
    last = combo.model().index(combo.count() - 1, 0)
    height = sum(combo.view().sizeHintForRow(row) for row in range(combo.count()))
    if height < combo.screen().availableGeometry().height() - 40:  # else it scrolls, as it must
        assert combo.view().verticalScrollBar().maximum() == 0
        assert combo.view().viewport().rect().contains(combo.view().visualRect(last))
    combo.hidePopup()


@pytest.fixture
def tool_row(qtbot):
    controls = ToolRow()
    qtbot.addWidget(controls)
    controls.show_implementations([(each, None) for each in all_implementations()])
    controls.show_state(State())
    controls.show()
    return controls


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # offscreen popups
def test_home_and_end_go_past_headings(tool_row):
    combo = tool_row.findChild(QComboBox, "implementation")
    names = [each.title for each in all_implementations()]
    combo.showPopup()
    for key, title in ((Qt.Key.Key_Home, names[0]), (Qt.Key.Key_End, names[-1])):
        QTest.keyClick(combo.view(), key)
        assert combo.view().currentIndex().data() == title
    combo.hidePopup()
    QTest.keyClick(combo, Qt.Key.Key_Home)
    assert combo.currentText() == names[0]


def test_letters_lead_to_entries_and_never_to_a_heading(tool_row):
    combo, wanted = tool_row.findChild(QComboBox, "implementation"), []
    tool_row.wanted.connect(lambda _, value: wanted.append(value))
    QTest.keyClicks(combo, "c")
    assert combo.currentText().startswith("C")
    assert wanted == [combo.currentData()]
    assert None not in wanted


# -- looks


def test_labels_stand_at_the_height_of_their_fields(qtbot):
    controls = FilterControls()
    qtbot.addWidget(controls)
    controls.show()
    form = controls.layout()
    for row in range(form.rowCount()):
        label = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
        field = form.itemAt(row, QFormLayout.ItemRole.FieldRole)
        if label and label.widget().isVisible():
            centres = [each.geometry().center().y() for each in (label, field)]
            assert abs(centres[0] - centres[1]) <= 1


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


# -- dialogs


def test_the_page_of_keys_names_the_submenu(qtbot, window):
    dialog = ShortcutsDialog(menu_lines(window))
    qtbot.addWidget(dialog)
    assert "Screenshot: Window" in [each.text() for each in dialog.findChildren(QLabel)]


def test_about_says_each_fact_in_its_own_column_and_copies_them(qtbot, window):
    window.findChild(QAction, "About and diagnostics").trigger()
    dialog = window.findChild(AboutDialog)
    report = child(dialog, "diagnostics")
    table = report.document().rootFrame().childFrames()[0]
    assert (table.columns(), table.cellAt(1, 0).firstCursorPosition().block().text()) == (
        2,
        "Python",
    )
    dialog.close()
    qtbot.waitUntil(lambda: window.findChild(AboutDialog) is None)
