"""A bar a contender: its median with the quartiles, its place, and whether that is shared."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollArea

from workbench.base import theme
from workbench.panels.blocks.pick_spots import Spots
from workbench.panels.blocks.rows import Row
from workbench.widgets.hatching import hatched
from workbench.widgets.tile import scaled_font

LINE_SHARE = 1.9  # of a row's height to that of its letters
PAD_PX = 8
BAR_SHARE = 0.56  # of a row's height
LARGE_RANGE = 20.0  # from here on bars grow with the logarithm
LOG_START = 0.12  # of the length that the smallest has then
LOG_NOTE = "Bars grow with the logarithm of the time."
PALE = 0.42  # opacity of what is not checked yet


class Bars(Spots):
    """As high as its rows; lives in a scroll area."""

    def sizeHint(self) -> QSize:  # noqa: N802
        lines = len(self.rows) + int(self.is_log)
        return QSize(280, self._row_px * lines + 2 * PAD_PX)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(220, self.sizeHint().height())

    @property
    def is_log(self) -> bool:
        """Whether the bars are too different in length for any other scale."""
        ms = [row.ms[1] for row in self.rows if row.ms]
        return bool(ms) and max(ms) > LARGE_RANGE * min(ms)

    @property
    def _row_px(self) -> int:
        return round(LINE_SHARE * self.fontMetrics().height())

    def boxes(self) -> list[tuple[QRectF, Row]]:
        high = self._row_px
        return [
            (QRectF(0, PAD_PX + number * high, self.width(), high), row)
            for number, row in enumerate(self.rows)
        ]

    def scroll_to(self, box: QRectF) -> None:
        inside = self.parentWidget()
        area = inside.parentWidget() if inside is not None else None
        if isinstance(area, QScrollArea):
            middle = box.center().toPoint()
            area.ensureVisible(middle.x(), middle.y(), 0, self._row_px)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled_font(0.95))
        metrics = QFontMetricsF(painter.font())
        places = _Places(self, metrics)
        for box, row in self.boxes():
            self._paint_row(painter, box, row, places)
        if self.is_log:
            self._paint_note(painter)
        self.paint_ring(painter)

    def _paint_note(self, p: QPainter) -> None:
        """Below the rows: bars that do not begin at zero mislead who is not told."""
        top = PAD_PX + len(self.rows) * self._row_px
        p.setPen(QColor(theme.colors().muted))
        note = QRectF(10, top, self.width() - 20, self._row_px)
        p.drawText(note, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, LOG_NOTE)

    def _paint_row(self, p: QPainter, box: QRectF, row: Row, places: _Places) -> None:
        colors = theme.colors()
        left, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter
        if row.is_current:
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(colors.hover))
            p.drawRoundedRect(box.adjusted(2, 1, -2, -1), 5, 5)
        rank = QRectF(places.rank, box.top(), places.name - places.rank, box.height())
        p.setPen(QColor(colors.good if row.is_best else colors.muted))
        p.setFont(places.font(row.is_best))
        p.drawText(rank, left | middle, row.rank)
        name = QRectF(places.name, box.top(), places.bar - places.name - 8, box.height())
        p.setPen(QColor(colors.muted if row.state == "refused" else colors.text))
        p.setFont(places.font(row.is_current))
        metrics = QFontMetricsF(p.font())
        p.drawText(name, left | middle, metrics.elidedText(row.name, _RIGHT, name.width()))
        p.setFont(places.font(False))
        self._paint_bar(p, box, row, places)

    def _paint_bar(self, p: QPainter, box: QRectF, row: Row, places: _Places) -> None:
        colors = theme.colors()
        high = BAR_SHARE * box.height()
        top = box.center().y() - high / 2
        if row.ms is None:
            area = QRectF(places.bar, box.top(), places.right - places.bar, box.height())
            if row.state == "refused":
                p.fillRect(QRectF(places.bar, top, 22, high), hatched(colors))
                area.setLeft(places.bar + 30)
            p.setPen(QColor(colors.bad if row.state == "wrong" else colors.muted))
            words = QFontMetricsF(p.font()).elidedText(row.words, _RIGHT, area.width())
            p.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
            return
        p.setOpacity(1.0 if row.state == "fine" else PALE)
        low, median, upper = (places.x(value) for value in row.ms)
        tint = QColor(colors.good if row.is_best else colors.series[0])
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(tint)
        p.drawRoundedRect(QRectF(places.bar, top, max(median - places.bar, 2), high), 3, 3)
        y = box.center().y()
        for color, width in ((colors.panel, 3.5), (colors.text, 1.5)):  # seen on the bar as well
            p.setPen(QPen(QColor(color), width))
            p.drawLine(QPointF(low, y), QPointF(upper, y))
            for end in (low, upper):
                p.drawLine(QPointF(end, y - 4), QPointF(end, y + 4))
        p.setOpacity(1.0)
        p.setPen(QColor(colors.text if row.state == "fine" else colors.muted))
        words = row.words if row.state == "fine" else f"{row.words} ?"
        text = QRectF(upper + 7, box.top(), places.right - upper, box.height())
        p.drawText(text, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)


_RIGHT = Qt.TextElideMode.ElideRight


class _Places:
    """Where a row's parts begin, in px; the same for all rows."""

    def __init__(self, bars: Bars, metrics: QFontMetricsF) -> None:
        rows = bars.rows
        self._fonts = scaled_font(0.95), scaled_font(0.95)
        self._fonts[1].setBold(True)
        bold = QFontMetricsF(self._fonts[1])
        self.rank = 10.0
        self.name = self.rank + bold.horizontalAdvance("88 =") + 8
        widest = max((bold.horizontalAdvance(row.name) for row in rows), default=0.0)
        self.bar = self.name + min(widest, 0.38 * bars.width()) + 12
        self.right = bars.width() - 10.0
        words = max(
            (metrics.horizontalAdvance(f"{row.words} ?") for row in rows if row.ms), default=0
        )
        self._room = max(self.right - self.bar - words - 10, 24.0)
        ms = [value for row in rows if row.ms for value in row.ms]
        self._low, self._high = (min(ms), max(ms)) if ms else (1.0, 1.0)
        self._is_log = bars.is_log

    def font(self, is_bold: bool) -> QFont:
        return self._fonts[is_bold]

    def x(self, ms: float) -> float:
        if self._is_log and self._low > 0:
            share = math.log(ms / self._low) / math.log(self._high / self._low)
            return self.bar + self._room * (LOG_START + (1 - LOG_START) * share)
        return self.bar + self._room * ms / max(self._high, 1e-9)
