"""Keys belong to the picture under the pointer, unless something is being typed."""

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QListWidget, QSpinBox, QWidget

from tests.workbench.driving import child, pane_of
from workbench.base import theme
from workbench.imaging.display import to_display
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.session.store import Store

PARTS = {
    "combo": QComboBox,
    "typed combo": lambda: QComboBox(editable=True),
    "line": QLineEdit,
    "number": QSpinBox,
    "list": QListWidget,
}


@pytest.fixture
def window(qapp, qtbot):
    """A window with a picture, its result, and parts that take keys for themselves."""
    theme.apply(qapp, "light")
    window = QWidget()
    qtbot.addWidget(window)
    window.view = CompareView(Store())
    window.view.setParent(window)
    window.view.setGeometry(0, 0, 600, 400)
    for row, (name, make) in enumerate(PARTS.items()):
        part = make()
        part.setParent(window)
        part.setObjectName(name)
        part.setGeometry(610, 30 * row, 150, 28)
        if isinstance(part, QComboBox):
            part.addItems(["one", "two", "three"])
            part.setCurrentIndex(1)
        elif isinstance(part, QListWidget):
            part.addItems(["one", "two", "three"])
    child(window, "number").setValue(50)
    window.view.show_state(State())
    samples = np.random.default_rng(0).integers(0, 255, (40, 60, 3), np.uint8)
    window.view.show_before(Picture("noise", samples), to_display(samples))
    window.view.show_after(255 - samples, to_display(255 - samples), "its negative")
    window.resize(780, 400)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def point_at_picture(window, x=300, y=200):
    at = QPoint(x, y)
    pane = pane_of(window.view, "After")
    QTest.mouseMove(pane, at + QPoint(3, 3))
    QTest.mouseMove(pane, at)
    return pane


def press(key, kind=QEvent.Type.KeyPress, *, repeats=False):
    """As a keyboard does: to whatever has the focus."""
    none = Qt.KeyboardModifier.NoModifier
    event = QKeyEvent(kind, key, none, " " if key == Qt.Key.Key_Space else "", repeats)
    QCoreApplication.sendEvent(QApplication.focusWidget(), event)


def release(key, *, repeats=False):
    press(key, QEvent.Type.KeyRelease, repeats=repeats)


def is_original(window):
    return pane_of(window.view, "After").caption == "Original"


@pytest.mark.parametrize("name", ["combo", "number", "list"])
def test_space_shows_the_original_whatever_was_chosen_last(window, qtbot, name):
    part = child(window, name)
    part.setFocus()
    point_at_picture(window)
    press(Qt.Key.Key_Space)
    assert is_original(window)
    assert QApplication.activePopupWidget() is None, "no list opens"
    assert QApplication.focusWidget() is part
    release(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not is_original(window))


def test_arrows_plus_and_minus_move_the_picture_and_not_the_choice(window):
    combo = child(window, "combo")
    combo.setFocus()
    pane = point_at_picture(window)
    fitted = pane.transform
    press(Qt.Key.Key_Plus)
    assert pane.transform.scale > fitted.scale
    larger = pane.transform
    press(Qt.Key.Key_Down)
    assert pane.transform.centre[1] > larger.centre[1]
    assert combo.currentIndex() == 1
    press(Qt.Key.Key_Minus)
    assert pane.transform.scale < larger.scale


@pytest.mark.parametrize("name", ["line", "number", "typed combo"])
def test_what_is_being_typed_stays_where_it_is_typed(window, name):
    part = child(window, name)
    part.setFocus()
    pane = point_at_picture(window)
    before = pane.transform
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Minus):
        QTest.keyClick(QApplication.focusWidget(), key)
    assert pane.transform == before
    if name == "number":
        assert part.value() == 51
    else:
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        text = part.text() if name == "line" else part.currentText()
        assert " " in text
        assert not is_original(window)


def test_space_let_go_elsewhere_ends_it_too(window, qtbot):
    child(window, "combo").setFocus()
    pane = point_at_picture(window)
    press(Qt.Key.Key_Space)
    QApplication.sendEvent(pane, QEvent(QEvent.Type.Leave))
    assert is_original(window)
    release(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not is_original(window))
    assert QApplication.activePopupWidget() is None
