"""Menus and keys."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.soak import finding
from tests.soak.acts.act import Act, one_of, trigger
from tests.soak.stage import is_there

KEYS = [
    *(Qt.Key(code) for code in (*range(Qt.Key.Key_A, Qt.Key.Key_Z + 1), *range(0x30, 0x3A))),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Space),
    *(Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Backspace),
    *(Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight, Qt.Key.Key_Comma, Qt.Key.Key_Period),
    *(Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Question, Qt.Key.Key_F5, Qt.Key.Key_F9),
]
MODIFIERS = [0, 0, 0, 0, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier]


def _choose_action(rng, stage):
    return (one_of(rng, finding.actions(stage.window)),)


def _choose_menu(rng, stage):
    return (one_of(rng, finding.menus(stage.window.menuBar())),)


def _do_menu(stage, title):
    """Open a menu, which may be filled then, and leave it."""
    menu = finding.menus(stage.window.menuBar()).get(title)
    if menu is not None and QApplication.activeModalWidget() is None:
        menu.popup(stage.window.mapToGlobal(QPoint(20, 20)))
        yield 20
        menu.close()


def _choose_key(rng, stage):
    key, modifier = rng.choice(KEYS), Qt.KeyboardModifier(rng.choice(MODIFIERS))
    return key.value, modifier.value, rng.choice((1, 1, 2, 5))


def _do_key(stage, key, modifier, times):
    window = QGuiApplication.focusWindow()
    if window is None:
        stage.window.activateWindow()
        window = stage.window.windowHandle()
    for _ in range(times):
        if is_there(window):
            QTest.keyClick(window, Qt.Key(key), Qt.KeyboardModifier(modifier))
        yield 1
        window = QGuiApplication.focusWindow() or stage.window.windowHandle()


ACTS = {
    "action": Act(20, _choose_action, trigger),
    "menu": Act(3, _choose_menu, _do_menu),
    "key": Act(14, _choose_key, _do_key),
}
