"""The legend on the picture: what the colours of a launch mean, for the part that is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter, QPen

from kernels.anatomy.record import Part
from workbench.panels.anatomy.part_buttons import TITLES
from workbench.widgets.chips import TEXT, on_screen, paint_chip_at

MARGIN, INSIDE, SWATCH, GAP = 8.0, 8.0, 16.0, 7.0  # pixels of the screen
BETWEEN = 16.0  # two entries
USUAL_LINES = 2
MAX_SHARE = 0.3  # of the view's height; in a smaller view there is no legend


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the legend.

    fill, outline  as they are drawn on the picture; None: not so
    second         another fill that takes turns with it
    """

    words: str
    fill: QColor | None = None
    second: QColor | None = None
    outline: QColor | None = None
    is_dashed: bool = False

    def __hash__(self) -> int:
        return hash(self.words)  # colours have no hash

    @property
    def has_swatch(self) -> bool:
        """Return whether it is about a colour; the heading is not."""
        return self.fill is not None or self.outline is not None


def usual_height(metrics: QFontMetrics) -> float:
    """Return how much of the view's lower edge the legend and its margin usually take."""
    return USUAL_LINES * _line_height(metrics) + INSIDE + MARGIN


def paint_legend(
    painter: QPainter,
    visible: QRectF,
    scale: float,
    part: Part | None,
    entries: list[Entry],
    foot_px: float = 0.0,
    corner_px: float = 0.0,
) -> None:
    """Paint the legend along the lower edge of the view, unless that is too small for it.

    painter    in pixels of the picture; see `picture_view.Overlay`
    part       what heads it; None: nothing does
    foot_px    how high something else is that lies in the lower left corner, in device-independent
               pixels
    corner_px  how wide something else is that lies in the lower right corner
    """
    with on_screen(painter, scale, visible.bottomLeft()) as ratio:
        room = visible.width() * scale / ratio - corner_px, visible.height() * scale / ratio
        title = [] if part is None else [Entry(TITLES[part])]
        image = _drawn((*title, *entries), painter.font(), room[0] - 2 * (MARGIN + INSIDE), ratio)
        size = image.deviceIndependentSize()
        is_wide = size.width() > room[0] - 2 * MARGIN
        if is_wide or size.height() > MAX_SHARE * (room[1] - foot_px):
            return
        corner = QPointF(MARGIN, -size.height() - MARGIN - foot_px)
        at = painter.worldTransform().map(corner)
        painter.resetTransform()
        painter.drawImage(QPointF(round(at.x() * ratio), round(at.y() * ratio)) / ratio, image)


@lru_cache(maxsize=8)  # painted with every frame of a picture that is dragged
def _drawn(entries: tuple[Entry, ...], font: QFont, room: float, ratio: float) -> QImage:
    """Return the whole legend, in lines of at most `room` device-independent pixels."""
    metrics = QFontMetrics(font)
    rows, line = _rows(entries, metrics, room), _line_height(metrics)
    size = QSizeF(max(row[-1][0].right() for row in rows), line * len(rows))
    size += QSizeF(2 * INSIDE, INSIDE)
    image = QImage(_whole(size * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setFont(font)
    paint_chip_at(painter, QRectF(QPointF(), size))
    for number, row in enumerate(rows):
        for place, each in row:
            _paint_entry(painter, place.translated(INSIDE, INSIDE / 2 + line * number), each)
    painter.end()
    return image


def _whole(size: QSizeF) -> QSize:
    return QSize(math.ceil(size.width()), math.ceil(size.height()))


def _line_height(metrics: QFontMetrics) -> float:
    return float(metrics.height() + 2)


def _rows(
    entries: tuple[Entry, ...], metrics: QFontMetrics, room: float
) -> list[list[tuple[QRectF, Entry]]]:
    """Return the entries in lines of at most `room`, each with its place in its line."""
    rows: list[list[tuple[QRectF, Entry]]] = [[]]
    x = 0.0
    for each in entries:
        width = metrics.horizontalAdvance(each.words) + (SWATCH + GAP) * each.has_swatch
        if rows[-1] and x + width > room:
            rows.append([])
            x = 0.0
        rows[-1].append((QRectF(x, 0, width, _line_height(metrics)), each))
        x += width + BETWEEN
    return rows


def _paint_entry(painter: QPainter, area: QRectF, entry: Entry) -> None:
    indent = 0.0
    if entry.has_swatch:
        indent = SWATCH + GAP
        swatch = QRectF(area.left(), area.top() + 3, SWATCH, area.height() - 7)
        _paint_swatch(painter, swatch, entry)
    painter.setPen(TEXT)
    base = area.top() + painter.fontMetrics().ascent() + 1
    painter.drawText(QPointF(area.left() + indent, base), entry.words)


def _paint_swatch(painter: QPainter, area: QRectF, entry: Entry) -> None:
    lower = QRectF(area)
    lower.setTop(area.center().y())
    for part, fill in ((area, entry.fill), (lower, entry.second)):
        if fill is not None:
            painter.fillRect(part, QColor(fill.rgb()))  # on the picture it is transparent
    if entry.outline is not None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        style = Qt.PenStyle.DashLine if entry.is_dashed else Qt.PenStyle.SolidLine
        for color, width in ((TEXT, 0.0 if entry.is_dashed else 4.0), (entry.outline, 2.0)):
            if width:
                painter.setPen(QPen(color, width, style))
                painter.drawRect(area)
