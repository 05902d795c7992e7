"""Everything has a name and can be reached with the keyboard, and no key means two things."""

from collections import Counter
from itertools import groupby

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from kernels.pictures.generated import noise
from tests.workbench.driving import child, pick, ready, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.keyboard import enable

INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    PictureView,
)
# Parts of others.
INSIDE = (QScrollBar, QTabBar)
ROW_PX = 8


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(20, 30))


def twice(things):
    return [thing for thing, count in Counter(things).items() if count > 1]


def interactive(window):
    """What a user can use: the parts that the widgets are made of left out."""
    found = [each for each in window.findChildren(QWidget) if isinstance(each, INTERACTIVE)]
    return [
        each
        for each in found
        if not isinstance(each, INSIDE)
        and type(each) is not QAbstractButton  # a table's corner, which older Qt gives no name
        and not each.objectName().startswith("qt_")
        and not isinstance(each.parent(), (QAbstractSpinBox, QComboBox, QTabBar))
        and not _in_a_popup(each)
    ]


def _in_a_popup(widget):
    return widget.window().windowType() == Qt.WindowType.Popup


def name_of(widget):
    if widget.accessibleName():
        return widget.accessibleName()
    return widget.text() if isinstance(widget, QAbstractButton) else ""


def test_no_letter_of_a_menu_means_two_things(window):
    # The picture's own has actions of several menus.
    others = [each for each in window.findChildren(QMenu) if each.parent() is not window.compare]
    for menu in [window.menuBar(), *others]:
        letters = [QKeySequence.mnemonic(each.text()).toString() for each in menu.actions()]
        assert twice(filter(None, letters)) == [], menu.title() if menu.parent() else "menu bar"


def test_no_letter_of_the_window_means_two_things(qtbot, window):
    pick(child(window, "filter", QComboBox), "unsharp")
    window.messages.show_message("error", "Something happened.", "in detail")
    for panel in ("Sweep", "Implementation", "Gallery"):
        window.docks.bring_forward(panel)
        hidden = [window.docks[each] for each in window.docks if each != panel]
        texts = [each.text() for each in window.menuBar().actions()]
        texts += [
            each.text()
            for each in window.findChildren(QWidget)
            if isinstance(each, (QLabel, QAbstractButton))
            and not any(dock.isAncestorOf(each) for dock in hidden)
            if not isinstance(each, QLabel) or each.buddy() is not None
        ]
        keys = [QKeySequence.mnemonic(text).toString() for text in texts]
        assert "Alt+F" in keys
        assert twice(filter(None, keys)) == [], panel


def test_every_widget_can_be_reached_by_tab_in_the_order_it_is_seen(qtbot, make_window):
    window = ready(qtbot, make_window(MadeUpGpu), noise(20, 30))
    pick(child(window, "filter", QComboBox), "unsharp")
    window.activateWindow()
    window.resize(1920, 1080)  # there is room for two panels
    window.docks.bring_forward("Settings")
    window.docks.bring_forward("Sweep")
    start = child(window, "tool-open")
    start.setFocus()
    visited = [start]
    while True:
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        here = QApplication.focusWidget()
        if here is start or len(visited) > 200:
            break
        visited.append(here)
        assert window.rect().contains(here.mapTo(window, QPoint(1, 1)))  # scrolled to, if need be
    usable = [
        each
        for each in interactive(window)
        if each.isVisible() and each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert len(visited) < 200
    missed = [name_of(each) for each in usable if each not in visited and not _group_mate(each)]
    assert missed == []
    for inside in (child(window, "controls"), child(window, "rail")):
        stops = [each for each in visited if inside.isAncestorOf(each)]
        rows = [each.mapTo(inside, each.rect().center()).y() // ROW_PX for each in stops]
        assert rows == sorted(rows), [each.objectName() for each in stops]
    panels = window.controls.get(), window.sweep.get()
    parts = (window.toolbar, window.compare, *panels, window.docks.rail)
    seen = [part for each in visited for part in parts if part.isAncestorOf(each)]
    assert [part for part, _ in groupby(seen)] == list(parts)


def _group_mate(widget):
    """A button of a group is reached by the arrow keys from the one that is chosen."""
    return isinstance(widget, QAbstractButton) and widget.group() is not None


def panel_action(window, title):
    menu = next(each for each in window.findChildren(QMenu) if each.title() == "&Panels")
    return next(each for each in menu.actions() if each.text() == title)


def test_panels_can_be_opened_and_closed_from_the_menu(qtbot, window):
    for title in ("Settings", "Timing"):
        toggle, frame = panel_action(window, title), window.docks[title]
        assert not toggle.isChecked()
        toggle.trigger()
        until(qtbot, window.docks.panel(title).get().isVisible)
        assert toggle.isChecked()
        toggle.trigger()
        assert frame.isHidden()
        assert not toggle.isChecked()


def test_view_actions_change_the_view(qtbot, window):
    zoom = child(window, "zoom", QLabel)
    show_picture(qtbot, window, noise(300, 400, 3))  # a smaller one is never below 100 %
    trigger(window, "100 %")
    assert zoom.text() == "100 %"
    trigger(window, "Zoom in")
    assert zoom.text() == "141 %"
    for _ in range(2):
        trigger(window, "Zoom out")
    assert zoom.text() == "71 %"
    trigger(window, "Fit")
    assert zoom.text() not in ("71 %", "100 %")
    for name, mode in {
        "Wipe": "wipe",
        "Side by side": "side",
        "Difference": "difference",
        "Mismatch": "mismatch",
    }.items():
        trigger(window, name)
        assert window.store.state.view_mode == mode
        trigger(window, name)
        assert window.store.state.view_mode == "result"
    seen = []
    for _ in range(5):
        trigger(window, "Next view")
        seen.append(window.store.state.view_mode)
    assert seen == ["wipe", "side", "difference", "mismatch", "result"]
    trigger(window, "Mismatch")
    trigger(window, "Result")
    assert window.store.state.view_mode == "result"
    trigger(window, "Full screen")
    assert window.isFullScreen()
    trigger(window, "Full screen")
    assert not window.isFullScreen()


def test_a_button_that_is_disabled_for_a_while_gets_the_keyboard_back(qapp, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    first, second = QPushButton(window), QPushButton(window)
    window.show()
    first.setFocus()
    enable(first, False)
    assert window.focusWidget() is None, "nor has another one a ring meanwhile"
    enable(first, True)
    assert window.focusWidget() is first
    enable(first, False)
    second.setFocus()
    enable(first, True)
    assert window.focusWidget() is second, "where the user has gone"
