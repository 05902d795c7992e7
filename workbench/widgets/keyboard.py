"""Give the keyboard to a panel that comes forward."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def enter(panel: QWidget) -> None:
    """Give the keyboard to the first part of `panel` that Tab comes to.

    The panel itself would show no focus.
    """
    (_first_stop(panel) or panel).setFocus(Qt.FocusReason.TabFocusReason)


def _first_stop(panel: QWidget) -> QWidget | None:
    """Return the first part that Tab comes to.

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
