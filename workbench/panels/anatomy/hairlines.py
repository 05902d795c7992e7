"""Many straight lines over a picture, visible on light and dark, painted in a millisecond."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

STRENGTH = 115  # of 255: 45 %
DARK, LIGHT = QColor(0, 0, 0, STRENGTH), QColor(255, 255, 255, STRENGTH)
PREMULTIPLIED_DARK = STRENGTH << 24
PREMULTIPLIED_LIGHT = STRENGTH * 0x01010101
PATTERN_ROWS = 16  # painted again and again: one row alone would take Qt longer


def paint_hairlines(
    painter: QPainter, area: QRect, columns: Sequence[int], rows: Sequence[int]
) -> None:
    """Paint lines one pixel dark and one light, through all of `area`.

    painter  in device pixels
    columns  x of the upright lines' light pixels; the dark ones are to the left of them
    rows     y of the level lines' light pixels; the dark ones are above them

    Qt's rasteriser takes an upright line pixel by pixel, so that those are painted all at once, as
    the texture of one rectangle.
    """
    if area.isEmpty():
        return
    painter.save()
    painter.setClipRect(area)
    painter.translate(area.topLeft())
    painter.fillRect(QRect(0, 0, area.width(), area.height()), QBrush(_upright(area, columns)))
    for y in rows:
        painter.fillRect(0, y - area.top() - 1, area.width(), 1, DARK)
        painter.fillRect(0, y - area.top(), area.width(), 1, LIGHT)
    painter.restore()


def _upright(area: QRect, columns: Sequence[int]) -> QImage:
    """Return some rows of `area` with the upright lines."""
    pattern = np.zeros((PATTERN_ROWS, area.width()), np.uint32)
    light = np.asarray(columns, np.int64) - area.left()
    for places, color in ((light - 1, PREMULTIPLIED_DARK), (light, PREMULTIPLIED_LIGHT)):
        pattern[:, places[(places >= 0) & (places < area.width())]] = color
    form = QImage.Format.Format_ARGB32_Premultiplied
    return QImage(pattern.data, area.width(), PATTERN_ROWS, form).copy()
