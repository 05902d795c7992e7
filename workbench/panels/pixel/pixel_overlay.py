"""The painting of a pixel's neighbourhood, and of what stands in beyond the edges."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPolygonF

from kernels.core.borders import OUTSIDE
from kernels.oracle.explain import Explained
from workbench.widgets.chips import hairline, paint_words

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
    """Paint a pixel's neighbourhood, and arrows to what stands in beyond the edges.

    painter  in pixels of the picture; see `picture_view.Overlay`
    reach    how far samples count: the radius, and one more where a gradient follows
    is_held  whether the pixel stays while the pointer moves on, which is written beside it
    """
    radius = len(found.rows) // 2
    if not found.is_alpha:
        _paint_beyond(painter, found)
        if scale >= MIN_FOR_ARROWS:
            _paint_stand_ins(painter, scale, found)
        if reach > radius:
            _outline(painter, _square(found, reach), Qt.PenStyle.DashLine)
        _outline(painter, _square(found, radius))
    _outline(painter, _square(found, 0))
    if scale < 3:  # too small to be seen by itself
        _paint_pointer(painter, scale, found)
    if is_held:
        frame = _square(found, 0 if found.is_alpha else reach)
        around = max(RING_PX / scale, frame.width() / 2) + 4 / scale
        paint_words(painter, scale, frame.center() + QPointF(around, -around), "held")


def _square(found: Explained, radius: int) -> QRectF:
    return QRectF(found.x - radius, found.y - radius, 2 * radius + 1, 2 * radius + 1)


def _paint_beyond(painter: QPainter, found: Explained) -> None:
    """Paint a tint over the columns and rows that lie beyond the picture."""
    tint = QColor(BEYOND)
    tint.setAlpha(90)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    whole = _square(found, len(found.rows) // 2)
    inside = [
        int(x) for x, beyond in zip(found.columns, found.beyond_columns, strict=True) if not beyond
    ]
    for x, is_beyond in zip(found.columns, found.beyond_columns, strict=True):
        if is_beyond:
            painter.drawRect(QRectF(x, whole.top(), 1, whole.height()))
    for y, is_beyond in zip(found.rows, found.beyond_rows, strict=True):
        if is_beyond:
            painter.drawRect(QRectF(inside[0], y, len(inside), 1))


def _paint_stand_ins(painter: QPainter, scale: float, found: Explained) -> None:
    """Paint arrows from columns and rows beyond the picture to those that stand in.

    They run along the pixel's own row and column; a zero is written where nothing stands in.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    across = zip(found.columns, found.from_columns, found.beyond_columns, strict=True)
    down = zip(found.rows, found.from_rows, found.beyond_rows, strict=True)
    columns = [(int(at), int(source)) for at, source, beyond in across if beyond]
    rows = [(int(at), int(source)) for at, source, beyond in down if beyond]
    for begin, source in nearest(columns, found.x):
        end = QPointF(source + 0.5, found.y + 0.5)
        _arrow_or_zero(painter, scale, QPointF(begin + 0.5, found.y + 0.5), end, source)
    for begin, source in nearest(rows, found.y):
        end = QPointF(found.x + 0.5, source + 0.5)
        _arrow_or_zero(painter, scale, QPointF(found.x + 0.5, begin + 0.5), end, source)


def nearest(stand_ins: list[tuple[int, int]], centre: int) -> list[tuple[int, int]]:
    """Return the MAX_ARROWS places beyond a border, each with its source, nearest to `centre`."""
    return sorted(stand_ins, key=lambda each: abs(each[0] - centre))[:MAX_ARROWS]


def _arrow_or_zero(
    painter: QPainter, scale: float, begin: QPointF, end: QPointF, source: int
) -> None:
    if source == OUTSIDE:
        if scale >= MIN_FOR_ZEROS:
            _write(painter, scale, begin, "0")
        return
    line = QLineF(begin, end)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((QColor("#000000"), 3.0), (QColor("#ffffff"), 1.5)):
        painter.setPen(hairline(color, width))
        painter.drawPath(_bow(line))
    _paint_head(painter, scale, line)


def _bow(line: QLineF) -> QPainterPath:
    path = QPainterPath(line.p1())
    path.quadTo(_middle(line), line.p2())
    return path


def _middle(line: QLineF) -> QPointF:
    """Return a point beside the line's centre: arrows along one line would cover each other."""
    length = max(line.length(), 1e-6)
    aside = QPointF(-line.dy(), line.dx()) / length * min(0.35 * length, 1.5)
    return line.center() + aside


def _paint_head(painter: QPainter, scale: float, line: QLineF) -> None:
    tip = line.p2()
    along = tip - _middle(line)
    length = math.hypot(along.x(), along.y()) or 1.0
    along, size = along / length, 7 / scale
    aside = QPointF(-along.y(), along.x())
    head = QPolygonF(
        [tip, tip - along * size + aside * size / 2, tip - along * size - aside * size / 2]
    )
    painter.setPen(hairline(QColor("#000000"), 1))
    painter.setBrush(QColor("#ffffff"))
    painter.drawPolygon(head)


def _write(painter: QPainter, scale: float, centre: QPointF, text: str) -> None:
    painter.save()
    painter.translate(centre)
    painter.scale(1 / scale, 1 / scale)  # fonts are in device pixels
    painter.setPen(QColor("#ffffff"))
    half = scale / 2
    painter.drawText(QRectF(-half, -half, scale, scale), Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def _paint_pointer(painter: QPainter, scale: float, found: Explained) -> None:
    """Paint a ring around a pixel that is too small to be seen."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    centre = QPointF(found.x + 0.5, found.y + 0.5)
    for color, width in ((QColor("#000000"), 4.0), (OWN, 2.0)):
        painter.setPen(hairline(color, width))
        painter.drawEllipse(centre, RING_PX / scale, RING_PX / scale)


def _outline(painter: QPainter, rect: QRectF, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((QColor("#000000"), 3.5), (OWN, 1.5)):
        painter.setPen(hairline(color, width, style))
        painter.drawRect(rect)
