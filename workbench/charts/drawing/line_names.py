"""The names of lines at their ends, beside the plot's last values, none over another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from workbench.base.theme import Colors
from workbench.charts.data.figure import SeriesStyle
from workbench.charts.drawing.margins import wrapped
from workbench.charts.drawing.plot_labels import OverPlot
from workbench.charts.drawing.series_style import color_of, draw_marker, mixed

MAX_SHARE = 0.46  # of the plot's width
NARROW_PX = 300.0  # a narrower plot has names of what was measured alone
SAMPLE_PX = 16.0
GAP_PX = 10.0  # from the line's end
EDGE_PX = 4.0
THREAD_SHARE = 0.5  # of the background in such a thread
NEAR_PX = 2.0  # a name so near to its end needs no thread to it
IN_BRACKETS = re.compile(r" (?=[^()]*\))")  # a space that stays in its line
BRACKETS = re.compile(r" \([^()]*\)$")


class LineName(NamedTuple):
    """A name and where its line ends, in the plot's coordinates."""

    x: float
    y: float
    name: str
    style: SeriesStyle


class Lines(NamedTuple):
    """A name in as many lines as its column is narrow for."""

    of: LineName
    text: str
    high: float


def room_px(names: Sequence[LineName], font: QFont, wide_px: float) -> float:
    """Return the width that names take beside a plot that is `wide_px` wide with them."""
    return SAMPLE_PX + GAP_PX + EDGE_PX + _column_px(names, font, wide_px) if names else 0.0


def _column_px(names: Sequence[LineName], font: QFont, wide_px: float) -> float:
    metrics = QFontMetricsF(font)
    widest = max((metrics.horizontalAdvance(each.name) for each in names), default=0.0)
    return min(widest, MAX_SHARE * wide_px - SAMPLE_PX - GAP_PX - EDGE_PX)


def fitting(names: Sequence[LineName], font: QFont, wide_px: float, high_px: float) -> list[Lines]:
    """Return the names that fit below each other, those of published lines left out first."""
    metrics = QFontMetricsF(font)
    column = _column_px(names, font, wide_px) + 1
    kept: list[Lines] = []
    used = 0.0
    own = [name for name in names if name.style.standing != "published"]
    others = [name for name in names if name not in own and wide_px >= NARROW_PX]
    texts: dict[LineName, str] = {}
    for how in (_in_lines, _in_few_lines, _in_a_line):
        texts = {each: how(each.name, metrics, column) for each in (*own, *others)}
        if metrics.height() * sum(len(texts[each].splitlines()) for each in own) <= high_px:
            break
    for each, text in texts.items():
        high = metrics.height() * len(text.splitlines())
        if used + high <= high_px:
            kept.append(Lines(each, text, high))
            used += high
    return kept


def _in_few_lines(name: str, metrics: QFontMetricsF, wide: float) -> str:
    """Return a name without what stands in brackets behind it: how many threads it had."""
    return _in_lines(BRACKETS.sub("", name), metrics, wide)


def _in_a_line(name: str, metrics: QFontMetricsF, wide: float) -> str:
    """Return the beginning of a name, which is better than none."""
    return metrics.elidedText(BRACKETS.sub("", name), Qt.TextElideMode.ElideRight, wide)


def _in_lines(name: str, metrics: QFontMetricsF, wide: float) -> str:
    """Return a name broken between words, else after hyphens as well, else cut."""
    whole = IN_BRACKETS.sub("\u00a0", name)
    apart = whole.replace("-", "- ")
    for each in (whole, apart):
        if lines := wrapped([each], metrics, wide):
            return lines[0].replace("- ", "-")
    return metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide)


def spread(wanted: Sequence[tuple[float, float]], low: float, high: float) -> list[float]:
    """Return the middles of boxes, near to where they are wanted, and none over another.

    wanted     (middle, height), from top to bottom
    low, high  where the first begins at the earliest, and where the last ends at the latest
    """
    tops: list[float] = []
    for middle, tall in wanted:
        least = low if not tops else tops[-1] + wanted[len(tops) - 1][1]
        tops.append(max(least, middle - tall / 2))
    limit = high
    for at in reversed(range(len(tops))):
        tops[at] = min(tops[at], limit - wanted[at][1])
        limit = tops[at]
    return [top + tall / 2 for top, (_, tall) in zip(tops, wanted, strict=True)]


class LineNames(OverPlot):
    """An item that paints names right of `x`, each with its marker and a thread to its line."""

    def __init__(self, names: Sequence[Lines], x: float, colors: Colors, font: QFont) -> None:
        super().__init__()
        self._names, self._x, self._colors, self._font = names, x, colors, font
        self.setZValue(4)

    def paint(self, p: QPainter, *_: Any) -> None:
        """Paint all names in device pixels."""
        to_device = p.transform()
        view = to_device.mapRect(QRectF(self.viewRect()))
        ends = [to_device.map(QPointF(each.of.x, each.of.y)) for each in self._names]
        order = sorted(range(len(ends)), key=lambda at: ends[at].y())
        wanted = [(ends[at].y(), self._names[at].high) for at in order]
        left = to_device.map(QPointF(self._x, 0.0)).x() + GAP_PX
        p.save()
        p.resetTransform()
        p.setFont(self._font)
        middles = spread(wanted, view.top(), view.bottom())
        for at, middle in zip(order, middles, strict=True):
            self._paint_name(p, self._names[at], ends[at], QPointF(left, middle), view.right())
        p.restore()

    def _paint_name(
        self, p: QPainter, name: Lines, end: QPointF, at: QPointF, right: float
    ) -> None:
        style, metrics = name.of.style, QFontMetricsF(self._font)
        top = at.y() - name.high / 2
        thread = mixed(color_of(style, self._colors), self._colors.panel, THREAD_SHARE)
        p.setPen(pg.mkPen(thread, width=1))
        if abs(end.y() - at.y()) > NEAR_PX or at.x() - end.x() > GAP_PX + 1:
            p.drawLine(end, at)
        back = QRectF(QPointF(at.x(), top), QSizeF(right - at.x() + 1, name.high))
        p.fillRect(back, QColor(self._colors.panel))  # the grid ends where the names begin
        draw_marker(p, style, self._colors, at + QPointF(SAMPLE_PX / 2 - 1, 0))
        p.setPen(QColor(self._colors.muted if style.is_pale else self._colors.text))
        for number, line in enumerate(name.text.splitlines()):
            base = top + number * metrics.height() + metrics.ascent()
            p.drawText(QPointF(at.x() + SAMPLE_PX, base), line)
