"""Paint a check's verdict as a bar, and choose the colour of its words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import QWidget

from kernels.core.verdict import Check
from workbench.base import theme

BAR_PX, ROUND_PX = 4, 2


def paint_bar(widget: QWidget, check: Check | None, left: int, margin: int) -> None:
    """Paint an upright bar in the verdict's colour, in a paint event of `widget`.

    left, margin  in pixels: from the widget's left edge, and from those above and below
    """
    colors = theme.colors(widget.palette())
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(
        QColor(
            colors.border
            if check is None or (check.ok and not check.is_verified)
            else colors.good
            if check.ok
            else colors.bad
        )
    )
    bar = QRectF(left, margin, BAR_PX, widget.height() - 2 * margin)
    painter.drawRoundedRect(bar, ROUND_PX, ROUND_PX)


def role_of(check: Check | None, otherwise: QPalette.ColorRole) -> QPalette.ColorRole:
    """Return the role of the verdict's words: that of errors where the answer is not right."""
    return QPalette.ColorRole.BrightText if check is not None and not check.ok else otherwise
