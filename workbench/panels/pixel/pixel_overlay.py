"""Paints a pixel's neighbourhood, and the pixels that stand in beyond the edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPolygonF

from kernels.core.borders import OUTSIDE
from kernels.oracle.explain import Explained
from workbench.widgets.chips import hairline, on_screen, outline, paint_words

# On pictures, which may have any colour; Okabe and Ito's orange and blue.
OWN, BEYOND = QColor(230, 159, 0), QColor(86, 180, 233)
MIN_FOR_ARROWS = 6.0  # device pixels per pixel
MIN_FOR_ZEROS = 14.0
MAX_ARROWS = 32  # the nearest ones, along each axis
RING_PX = 12  # device pixels: the radius of a ring around a pixel too small to be seen


def paint_neighbourhood(
    painter: QPainter,
    _visible: QRectF,
    scale: float,
    found: Explained,
    reach: int,
    is_held: bool = False,
) -> None:
    """Paint a pixel's neighbourhood, and arrows to the pixels that stand in beyond the edges.

    painter  in pixels of the picture; see `picture_view.Overlay`
    reach    the radius, and one more where a gradient follows
    is_held  written beside a pixel that stays while the pointer moves on
    """
    radius = len(found.rows) // 2
    if not found.is_alpha:
        _paint_beyond(painter, found)
        if scale >= MIN_FOR_ARROWS:
            _paint_stand_ins(painter, scale, found)
        if reach > radius:
            outline(painter, [_square(found, reach)], OWN, style=Qt.PenStyle.DashLine)
        outline(painter, [_square(found, radius)], OWN)
    outline(painter, [_square(found, 0)], OWN)
    if scale < 3:  # too small to be seen by itself
        _paint_pointer(painter, scale, found)
    if is_held:
        frame = _square(found, 0 if found.is_alpha else reach)
        around = max(RING_PX / scale, frame.width() / 2) + 4 / scale
        paint_words(painter, scale, frame.center() + QPointF(around, -around), "held")


def _square(found: Explained, radius: int) -> QRectF:
    return QRectF(found.x - radius, found.y - radius, 2 * radius + 1, 2 * radius + 1)


def _paint_beyond(painter: QPainter, found: Explained) -> None:
    """Tint the columns and rows beyond the picture."""
    tint = QColor(BEYOND)
    tint.setAlpha(90)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    whole = _square(found, len(found.rows) // 2)
    inside = found.columns[~found.beyond_columns]
    for x in found.columns[found.beyond_columns]:
        painter.drawRect(QRectF(x, whole.top(), 1, whole.height()))
    for y in found.rows[found.beyond_rows]:
        painter.drawRect(QRectF(inside[0], y, len(inside), 1))


def _paint_stand_ins(painter: QPainter, scale: float, found: Explained) -> None:
    """Paint arrows along the pixel's row and column from beyond the picture to the sources.

    A zero is written where nothing stands in.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    x, y = found.x + 0.5, found.y + 0.5
    beyond = found.beyond_columns
    for at, source in nearest(found.columns[beyond], found.from_columns[beyond], found.x):
        _arrow_or_zero(painter, scale, QLineF(at + 0.5, y, source + 0.5, y), source)
    beyond = found.beyond_rows
    for at, source in nearest(found.rows[beyond], found.from_rows[beyond], found.y):
        _arrow_or_zero(painter, scale, QLineF(x, at + 0.5, x, source + 0.5), source)


def nearest(places: NDArray[Any], sources: NDArray[Any], centre: int) -> Iterator[tuple[int, int]]:
    """Yield the MAX_ARROWS places nearest to `centre`, each with its source."""
    order = np.argsort(np.abs(places - centre), kind="stable")[:MAX_ARROWS]
    return zip(places[order].tolist(), sources[order].tolist(), strict=True)


def _arrow_or_zero(painter: QPainter, scale: float, line: QLineF, source: int) -> None:
    if source == OUTSIDE:
        if scale >= MIN_FOR_ZEROS:
            with on_screen(painter, scale, line.p1()):
                painter.setPen(QColor("#ffffff"))
                painter.drawText(QRectF(-9, -9, 18, 18), Qt.AlignmentFlag.AlignCenter, "0")
        return
    # A point beside the line's centre: arrows along one line would cover each other.
    length = max(line.length(), 1e-6)
    beside = QPointF(-line.dy(), line.dx()) / length * min(0.35 * length, 1.5)
    middle, tip = line.center() + beside, line.p2()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    bow = QPainterPath(line.p1())
    bow.quadTo(middle, tip)
    for color, width in ((QColor("#000000"), 3.0), (QColor("#ffffff"), 1.5)):
        painter.setPen(hairline(color, width))
        painter.drawPath(bow)
    along = QLineF(middle, tip).unitVector()
    step = QPointF(along.dx(), along.dy()) * 7 / scale
    aside = QPointF(-step.y(), step.x()) / 2
    painter.setPen(hairline(QColor("#000000"), 1))
    painter.setBrush(QColor("#ffffff"))
    painter.drawPolygon(QPolygonF([tip, tip - step + aside, tip - step - aside]))


def _paint_pointer(painter: QPainter, scale: float, found: Explained) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    centre = QPointF(found.x + 0.5, found.y + 0.5)
    for color, width in ((QColor("#000000"), 4.0), (OWN, 2.0)):
        painter.setPen(hairline(color, width))
        painter.drawEllipse(centre, RING_PX / scale, RING_PX / scale)
