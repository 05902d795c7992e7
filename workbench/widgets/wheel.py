"""Let the wheel scroll a panel; it changes only what was clicked, or came to, before."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget


def no_wheel_focus(control: QWidget) -> None:
    """Keep the wheel from giving `control` the focus, as it does with Qt's own."""
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def ignore_wheel(control: QWidget, event: QWheelEvent) -> bool:
    """Return whether the wheel is meant for what scrolls around `control`, which then gets it."""
    if control.hasFocus():
        return False
    event.ignore()
    return True
