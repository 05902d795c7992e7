"""Block widths across, heights down: the time as a colour, the fastest and its equals outlined."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen

from workbench.base import numbers, theme
from workbench.base.theme import Colors
from workbench.charts.drawing.cividis import cividis, text_on
from workbench.panels.blocks.pick_spots import Spots
from workbench.panels.blocks.rows import Row
from workbench.widgets.hatching import hatched
from workbench.widgets.tile import scaled_font

GAP_PX = 2.0
MIN_TILE_PX = (34, 26)
MAX_TILE_PX = (120, 64)
MIN_TEXT_PX = 8
UNITS = (("s", 1e3), ("ms", 1.0), ("µs", 1e-3))  # and how many ms one is
CENTRE = Qt.AlignmentFlag.AlignCenter


class BlockMap(Spots):
    """Shows Rows of block shapes; others, that have no width and height, are not for it."""

    @property
    def columns(self) -> int:
        return max(len(self._sides(0)), 1)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(340, 320)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        across, down = len(self._sides(0)), len(self._sides(1))
        return QSize(44 + across * MIN_TILE_PX[0], 76 + down * MIN_TILE_PX[1])

    def boxes(self) -> list[tuple[QRectF, Row]]:
        wide, high = self._sides(0), self._sides(1)
        area = self._area(len(wide), len(high))
        found = []
        for row in self.rows:
            if isinstance(row.key, tuple):
                column, line = wide.index(row.key[0]), high.index(row.key[1])
                found.append((area.tile(column, line), row))
        return sorted(found, key=lambda pair: (pair[0].top(), pair[0].left()))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colors = theme.colors()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = self.boxes()
        scale = _Scale(self.rows)
        self._paint_sides(painter, colors)
        font = _fitting([scale.in_words(row.ms[1]) for row in self.rows if row.ms], boxes)
        for box, row in boxes:
            _paint_tile(painter, box, row, scale, colors, font)
        for box, row in boxes:
            _paint_outline(painter, box, row, colors)
        self._paint_legend(painter, scale, colors)
        self.paint_ring(painter)

    def _sides(self, axis: int) -> list[int]:
        return sorted({row.key[axis] for row in self.rows if isinstance(row.key, tuple)})

    def _area(self, across: int, down: int) -> _Area:
        small = QFontMetricsF(scaled_font(0.85))
        left = small.horizontalAdvance("256") + 14
        top = 2 * small.height() + 6
        room_x, room_y = self.width() - left - 6, self.height() - top - 2 * small.height() - 12
        wide = min(room_x / max(across, 1), MAX_TILE_PX[0])
        high = min(room_y / max(down, 1), MAX_TILE_PX[1])
        return _Area(left, top, wide, high)

    def _paint_sides(self, p: QPainter, colors: Colors) -> None:
        wide, high = self._sides(0), self._sides(1)
        area = self._area(len(wide), len(high))
        p.setFont(scaled_font(0.85))
        metrics = QFontMetricsF(p.font())
        p.setPen(QColor(colors.muted))
        caption = QRectF(area.left, 0, self.width() - area.left, metrics.height())
        p.drawText(caption, Qt.AlignmentFlag.AlignLeft, "Across: width; down: height, in threads")
        p.setPen(QColor(colors.text))
        for column, x in enumerate(wide):
            tile = area.tile(column, 0)
            p.drawText(
                QRectF(tile.left(), metrics.height() + 2, tile.width(), metrics.height()),
                CENTRE,
                str(x),
            )
        for line, y in enumerate(high):
            tile = area.tile(0, line)
            side = QRectF(0, tile.top(), area.left - 6, tile.height())
            p.drawText(side, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(y))

    def _paint_legend(self, p: QPainter, scale: _Scale, colors: Colors) -> None:
        """Which colour is how long, below the tiles."""
        boxes = [box for box, _ in self.boxes()]
        if not boxes or not scale.is_known:
            return
        p.setFont(scaled_font(0.85))
        metrics = QFontMetricsF(p.font())
        top = max(box.bottom() for box in boxes) + 10
        left = boxes[0].left()
        ends = numbers.duration(scale.low), numbers.duration(scale.high)
        p.setPen(QColor(colors.text))
        x = left
        for number, text in enumerate(ends):
            wide = metrics.horizontalAdvance(text)
            p.drawText(QRectF(x, top, wide + 2, metrics.height()), CENTRE, text)
            x += wide + 8
            if number == 0:
                for step in range(40):
                    box = QRectF(x + 3 * step, top + 3, 3.5, metrics.height() - 6)
                    p.fillRect(box, cividis(1 - step / 39))
                x += 128
        keys = f"{scale.unit}, occupancy; outlined: fastest or equal"
        p.setPen(QColor(colors.muted))
        p.drawText(
            QRectF(left, top + metrics.height() + 2, self.width() - left, metrics.height()),
            Qt.AlignmentFlag.AlignLeft,
            keys,
        )


class _Area:
    """Where tiles are, in px."""

    def __init__(self, left: float, top: float, wide: float, high: float) -> None:
        self.left, self._top, self._wide, self._high = left, top, wide, high

    def tile(self, column: int, line: int) -> QRectF:
        x, y = self.left + column * self._wide, self._top + line * self._high
        return QRectF(x, y, self._wide - GAP_PX, self._high - GAP_PX)


class _Scale:
    """From times to colours, logarithmic: light is fast."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        ms = [row.ms[1] for row in rows if row.ms and row.ms[1] > 0]
        self.is_known = bool(ms)
        self.low, self.high = (min(ms), max(ms)) if ms else (1.0, 1.0)
        self.unit, self._ms = next((u for u in UNITS if self.low >= u[1]), UNITS[-1])

    def color(self, ms: float) -> QColor:
        if self.high <= self.low or ms <= 0:
            return cividis(1.0)
        return cividis(1 - math.log(ms / self.low) / math.log(self.high / self.low))

    def in_words(self, ms: float) -> str:
        """All in one unit, which the legend names."""
        return numbers.three_digits(ms / self._ms)


def _paint_tile(
    p: QPainter, box: QRectF, row: Row, scale: _Scale, colors: Colors, font: QFont
) -> None:
    p.setPen(Qt.PenStyle.NoPen)
    if row.ms is None:
        p.setPen(QPen(QColor(colors.border), 1))
        p.setBrush(hatched(colors) if row.state == "refused" else QColor(colors.panel))
        p.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        if row.state != "refused":
            p.setPen(QColor(colors.bad if row.state == "wrong" else colors.muted))
            p.setFont(font)
            p.drawText(box, CENTRE, "✗" if row.state == "wrong" else "…")
        return
    fill = scale.color(row.ms[1])
    p.setOpacity(1.0 if row.state == "fine" else 0.55)
    p.setBrush(fill)
    p.drawRoundedRect(box, 3, 3)
    p.setOpacity(1.0)
    p.setPen(text_on(fill) if row.state == "fine" else QColor(colors.text))
    p.setFont(font)
    lines = scale.in_words(row.ms[1])
    if row.occupancy is not None and box.height() > 2.3 * QFontMetricsF(font).height():
        lines += f"\n{row.occupancy:.0%}"
    p.drawText(box, CENTRE, lines)


def _paint_outline(p: QPainter, box: QRectF, row: Row, colors: Colors) -> None:
    """Dark and light, so that it shows on every colour; a dot for what is in use."""
    p.setBrush(Qt.BrushStyle.NoBrush)
    if row.is_best:
        for color, width in ((colors.text, 4.0), (colors.panel, 1.4)):
            p.setPen(QPen(QColor(color), width))
            p.drawRoundedRect(box.adjusted(1.5, 1.5, -1.5, -1.5), 3, 3)
    if row.is_current:
        p.setPen(QPen(QColor("#000000"), 1))
        p.setBrush(QColor("#ffffff"))
        p.drawEllipse(QRectF(box.right() - 11, box.top() + 4, 7, 7))


def _fitting(words: list[str], boxes: list[tuple[QRectF, Row]]) -> QFont:
    """The largest font in which the numbers of all tiles fit."""
    font = scaled_font(0.95)
    room = min((box.width() for box, _ in boxes), default=40.0) - 6
    px = max(font.pixelSize(), QFontMetricsF(font).height() * 0.75)
    while px > MIN_TEXT_PX:
        font.setPixelSize(round(px))
        metrics = QFontMetricsF(font)
        if max(metrics.horizontalAdvance(text) for text in words or ["100%"]) <= room:
            break
        px -= 1
    return font
