"""Everything has a name and can be reached with the keyboard, and no key means two things."""

from collections import Counter
from itertools import groupby

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from kernels.pictures.generated import noise
from tests.workbench.conftest import no_gpu
from tests.workbench.driving import child, pick, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu
from workbench.panels.compare.picture_view import PictureView

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
    return ready(qtbot, make_window())


def ready(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    until(qtbot, lambda: window.device)
    return window


def twice(things):
    return [thing for thing, count in Counter(things).items() if count > 1]


def menu_actions(window):
    return [each for each in window.findChildren(QAction) if each.text()]


def interactive(window):
    """What a user can use: the parts that the widgets are made of left out."""
    found = [each for each in window.findChildren(QWidget) if isinstance(each, INTERACTIVE)]
    return [
        each
        for each in found
        if not isinstance(each, INSIDE)
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


def test_every_action_has_a_name_and_says_what_it_does(window):
    for each in menu_actions(window):
        assert each.text().replace("&", "").strip()
        assert each.toolTip()


def test_no_shortcut_means_two_things(window):
    keys = [key.toString() for each in window.findChildren(QAction) for key in each.shortcuts()]
    keys += [each.key().toString() for each in window.findChildren(QShortcut)]
    assert "Ctrl+O" in keys
    assert twice(keys) == []


def test_no_letter_of_a_menu_means_two_things(window):
    for menu in [window.menuBar(), *window.findChildren(QMenu)]:
        letters = [QKeySequence.mnemonic(each.text()).toString() for each in menu.actions()]
        assert twice(filter(None, letters)) == [], menu.title() if menu.parent() else "menu bar"


@pytest.mark.parametrize("panel", ["Sweep", "Rung", "Gallery"])
def test_no_letter_of_the_window_means_two_things(panel, qtbot, window):
    pick(child(window, "filter", QComboBox), "unsharp")
    window.docks[panel].raise_()
    window.messages.show_message("error", "Something happened.", "in detail")
    hidden = [window.docks[each] for each in ("Sweep", "Rung", "Gallery") if each != panel]
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
    assert twice(filter(None, keys)) == []


def test_every_letter_of_a_label_leads_somewhere(window):
    for label in window.findChildren(QLabel):
        if not QKeySequence.mnemonic(label.text()).isEmpty():
            assert label.buddy() is not None, label.text()
            assert label.buddy().focusPolicy() != Qt.FocusPolicy.NoFocus, label.text()


def test_the_letter_of_the_size_leads_to_its_box(qtbot, window):
    window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
    assert QApplication.focusWidget() is child(window, "ksize")


def test_every_widget_has_a_name(window):
    nameless = [each for each in interactive(window) if not name_of(each)]
    assert nameless == []


@pytest.mark.parametrize("make_engine", [no_gpu, MadeUpGpu])
def test_every_widget_can_be_reached_by_tab_in_the_order_it_is_seen(
    make_engine, qtbot, make_window
):
    window = ready(qtbot, make_window(make_engine))
    pick(child(window, "filter", QComboBox), "unsharp")
    window.activateWindow()
    start = child(window, "filter")
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
    left = [each for each in visited if window.controls.isAncestorOf(each)]
    column = child(window, "controls")
    rows = [each.mapTo(column, each.rect().center()).y() // ROW_PX for each in left]
    assert rows == sorted(rows), [each.objectName() for each in left]
    panels = (window.controls, window.centralWidget(), window.sweep)
    seen = [panel for each in visited for panel in panels if panel.isAncestorOf(each)]
    assert [panel for panel, _ in groupby(seen)] == list(panels)


def test_a_panel_behind_another_is_out_of_reach_and_does_nothing(qtbot, window):
    assert window.sweep.isVisible()
    assert not window.gallery.isVisible()
    assert child(window.gallery, "built_in_tiles", QListView).model().rowCount() == 0
    window.docks["Gallery"].raise_()
    until(qtbot, window.gallery.isVisible)
    assert not window.sweep.isVisible()


def _group_mate(widget):
    """A button of a group is reached by the arrow keys from the one that is chosen."""
    return isinstance(widget, QAbstractButton) and widget.group() is not None


def test_dialogs_of_the_help_menu_open_and_close(qtbot, window):
    for name in ("Keyboard shortcuts", "About and diagnostics"):
        trigger(window, name)
        (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
        said = " ".join(each.text() for each in dialog.findChildren(QLabel))
        assert "Filter Workbench" in said or "Ctrl+O" in said
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        until(qtbot, lambda: not any(each.isVisible() for each in window.findChildren(QDialog)))


def test_about_has_the_diagnostics_to_copy(qtbot, window):
    trigger(window, "About and diagnostics")
    (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
    (copy,) = [b for b in dialog.findChildren(QAbstractButton) if "Copy" in b.text()]
    copy.click()
    assert "PySide6" in QApplication.clipboard().text()
    assert "switched off" in QApplication.clipboard().text()
    dialog.close()


def panel_action(window, title):
    menu = next(each for each in window.findChildren(QMenu) if each.title() == "&Panels")
    return next(each for each in menu.actions() if each.text() == title)


def test_panels_can_be_closed_and_opened_from_the_menu(qtbot, window):
    for title, dock in window.docks.items():
        toggle = panel_action(window, title)
        if not toggle.isChecked():  # behind another, or one that comes when it is asked for
            toggle.trigger()
        until(qtbot, dock.widget().isVisible)
        toggle.trigger()
        assert dock.isHidden()
        toggle.trigger()
        until(qtbot, dock.widget().isVisible)


def test_the_key_of_a_panel_behind_another_brings_it_forward(qtbot, window):
    front, behind = window.docks["Blocks"], window.docks["Sweep"]
    window.docks.bring_forward("Sweep")
    window.docks.bring_forward("Blocks")
    until(qtbot, front.widget().isVisible)
    assert not behind.widget().isVisible()
    action = panel_action(window, "Sweep")
    assert (panel_action(window, "Blocks").isChecked(), action.isChecked()) == (True, False)
    action.trigger()
    until(qtbot, behind.widget().isVisible)
    assert not front.widget().isVisible()
    assert not front.isHidden()  # its tab is there
    assert (panel_action(window, "Blocks").isChecked(), action.isChecked()) == (False, True)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # offscreen popups
def test_the_right_button_on_a_panels_title_lists_the_panels_of_the_menu(qtbot, window):
    front, behind = window.docks["Blocks"], window.docks["Sweep"]
    window.docks.bring_forward("Sweep")
    window.docks.bring_forward("Blocks")
    until(qtbot, front.widget().isVisible)
    menus = len([each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu)])
    at = front.mapTo(window, QPoint(60, 8))
    mouse = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(window, QContextMenuEvent(mouse, at, window.mapToGlobal(at)))
    popup = QApplication.activePopupWidget()
    lines = {each.text(): each for each in popup.actions()}
    assert list(lines) == list(window.docks)
    lines["Sweep"].trigger()
    popup.close()
    until(qtbot, behind.widget().isVisible)
    assert not front.isHidden()
    until(
        qtbot,
        lambda: (
            len([each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu)])
            == menus
        ),
    )


def test_the_gallery_comes_forward_and_takes_the_keyboard(qtbot, window):
    window.activateWindow()
    trigger(window, "Gallery")
    until(qtbot, window.gallery.isVisible)
    assert window.gallery.isAncestorOf(QApplication.focusWidget()) or window.gallery.hasFocus()


def test_view_actions_change_the_view(qtbot, window):
    zoom = child(window, "zoom", QLabel)
    trigger(window, "100 %")
    assert zoom.text() == "100 %"
    trigger(window, "Fit")
    assert zoom.text() != "100 %"
    trigger(window, "Side by side or wipe")
    assert window.store.state.view_mode == "wipe"
    trigger(window, "Side by side or wipe")
    assert window.store.state.view_mode == "side"
    trigger(window, "Full screen")
    assert window.isFullScreen()
    trigger(window, "Full screen")
    assert not window.isFullScreen()


def test_a_maximised_window_is_so_again_after_full_screen(qtbot, window):
    window.showMaximized()
    until(qtbot, window.isMaximized)
    trigger(window, "Full screen")
    until(qtbot, window.isFullScreen)
    trigger(window, "Full screen")
    until(qtbot, lambda: not window.isFullScreen())
    assert window.isMaximized()


def test_run_again_runs_again(qtbot, window):
    before = window.live.result
    with qtbot.waitSignal(window.live.settled):
        QTest.keyClick(window, Qt.Key.Key_R)
    assert window.live.result.job is not before.job
