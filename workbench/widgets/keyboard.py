"""Keyboard and wheel: which part of a panel gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QMainWindow, QWidget

ARROWS: dict[int, tuple[int, int]] = {  # where they go: so many across, and down
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
WAITS = "waits"  # the property of a button that lost the keyboard by being disabled


class WindowWithHome(QMainWindow):
    """A window with a widget, its home, that gets the keyboard from whatever is done with it."""

    home: QWidget


def go_home(widget: QWidget) -> None:
    """Give the keyboard to the home of the widget's window; to the widget where there is none."""
    window = widget.window()
    (window.home if isinstance(window, WindowWithHome) else widget).setFocus()


def enter(panel: QWidget, why: Qt.FocusReason = Qt.FocusReason.TabFocusReason) -> None:
    """Give the keyboard to the part of `panel` that it is opened for, its `entrance`.

    Without one it is the first part that Tab comes to: the panel itself would show no focus.
    """
    part: QWidget | None = getattr(panel, "entrance", None)
    part = part or _first_stop(panel) or panel
    part.clearFocus()  # which may have come for another reason
    part.setFocus(why)


def enable(button: QWidget, is_enabled: bool) -> None:
    """Enable or disable a button; one that has the keyboard gets it back once it is enabled again.

    Qt would give it to the next part, which would have a ring that nobody asked for.
    """
    if not is_enabled and button.window().focusWidget() is button:
        button.clearFocus()
        button.setProperty(WAITS, True)
    button.setEnabled(is_enabled)
    if is_enabled and button.property(WAITS):
        button.setProperty(WAITS, False)
        if button.window().focusWidget() is None:
            button.setFocus()


def is_escape(event: QEvent, kind: QEvent.Type) -> bool:
    """True if `event` is of this kind and about the key Esc."""
    is_of_kind = event.type() == kind and isinstance(event, QKeyEvent)
    return is_of_kind and cast("QKeyEvent", event).key() == Qt.Key.Key_Escape


def _first_stop(panel: QWidget) -> QWidget | None:
    """The first part that Tab comes to.

    Not by nextInFocusChain(), by which PySide takes each part to belong to the one before, and
    to be gone with it.
    """
    for part in panel.children():
        if not isinstance(part, QWidget) or not part.isVisible() or not part.isEnabled():
            continue
        takes_tab = part.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        if found := part if takes_tab else _first_stop(part):
            return found
    return None


if TYPE_CHECKING:
    _Base = QWidget
else:
    _Base = object  # what is below is mixed into several of Qt's controls


class WheelAfterFocus(_Base):
    """The part of a control that leaves the wheel to the area around it until it has the focus."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
