"""Letters of one panel, larger or smaller than those of the rest of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QWidget

FACTOR, BASE = "letters", "letters-base"  # properties: of the panel, and of each part of it
STEPS = (0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 2.5)


def factor_of(widget: QWidget | None) -> float:
    """The factor of the letters of the panel around `widget`; 1: as usual."""
    while widget is not None:
        if (factor := widget.property(FACTOR)) is not None:
            return float(factor)
        widget = widget.parentWidget()
    return 1.0


def set_factor(panel: QWidget, factor: float) -> None:
    """Make all letters in `panel` `factor` times as large as they were made."""
    before = factor_of(panel)
    parts = [panel, *panel.findChildren(QWidget)]
    for part in parts:  # all before any: what has no font of its own takes its parent's
        if part.property(BASE) is None:
            is_own = part.testAttribute(Qt.WidgetAttribute.WA_SetFont)
            size = QFontInfo(part.font()).pointSizeF()
            part.setProperty(BASE, size if is_own else size / before)
    panel.setProperty(FACTOR, factor)
    for part in parts:
        font = QFont(part.font())
        font.setPointSizeF(part.property(BASE) * factor)
        part.setFont(font)
        part.updateGeometry()


def take_up(part: QWidget) -> None:
    """Give a part with a font of its own, made later, the letters of the panel around it."""
    size, font = QFontInfo(part.font()).pointSizeF(), QFont(part.font())
    part.setProperty(BASE, size)
    font.setPointSizeF(size * factor_of(part))
    part.setFont(font)


def next_step(factor: float, direction: int) -> float:
    """The next larger (1) or smaller (-1) size; the same one at either end."""
    nearest = min(range(len(STEPS)), key=lambda number: abs(STEPS[number] - factor))
    return STEPS[min(max(nearest + direction, 0), len(STEPS) - 1)]
