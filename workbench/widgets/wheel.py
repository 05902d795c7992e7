"""The wheel scrolls a panel; it changes only what was clicked, or came to, before."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget


def no_wheel_focus(control: QWidget) -> None:
    """Not be given the focus by the wheel, as Qt's own are."""
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def ignore_wheel(control: QWidget, event: QWheelEvent) -> bool:
    """Whether the wheel is meant for what scrolls around `control`, which then gets it."""
    if control.hasFocus():
        return False
    event.ignore()
    return True
