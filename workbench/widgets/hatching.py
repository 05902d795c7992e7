"""Hatch what cannot run: told from all colours, in every theme and print."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor

from workbench.base.theme import Colors


def hatched(colors: Colors) -> QBrush:
    """Return a hatched brush of this colour."""
    return QBrush(QColor(colors.border), Qt.BrushStyle.BDiagPattern)
