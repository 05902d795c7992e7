"""Dots with their quartiles, the lines that join them and their names, and guides."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from workbench.base.theme import Colors
from workbench.charts.data.figure import Axis, Dot, Drawn, Guide, Plot, Series, SeriesStyle, Spot
from workbench.charts.drawing.marks import (
    WRONG_MARKER,
    Labels,
    Markers,
    OverPlot,
    PlotLabel,
    color_of,
    draw_marker,
    marker_style,
    mixed,
    pen_of,
)
from workbench.charts.drawing.plotting import cut, magnified, make_room, scaled, widest, wrapped

MARKER_PX, PINNED_PX = 9.0, 12.0
LINE, PINNED_LINE, WHISKER = 2.0, 3.2, 1.6
HEADROOM = 1.4  # times the height of a guide on a logarithmic axis
BESIDE = 0.2  # of a guide's name: how far it stands from the guide's first point
ROOM_PX = 14.0  # between the outermost marks and the plot's edge
MAX_SHARE = 0.46  # of the plot's width, taken by names
NARROW_PX = 300.0  # a narrower plot has names of what was measured alone
SAMPLE_PX, GAP_PX, NAME_EDGE_PX = 16.0, 10.0, 4.0  # of a name: its marker, and room on both sides
THREAD_SHARE = 0.5  # of the background in the thread from a line's end to its name
NEAR_PX = 2.0  # a name so near to its end needs no thread to it
IN_BRACKETS = re.compile(r" (?=[^()]*\))")  # a space that stays in its line
BRACKETS = re.compile(r" \([^()]*\)$")
Range = tuple[float, float]


def draw(plot: Any, body: Plot, colors: Colors, font: QFont) -> Drawn:
    """Draw a curve, its quartiles and its markers for each series, over guides."""
    x, y = _ranges(plot, body)
    for side, axis, ends in (("bottom", body.x, (-math.inf, math.inf)), ("left", body.y, y)):
        fixed = [(_place(value, axis), text) for value, text in axis.ticks] or None
        plot.getAxis(side).show_scale(axis.words, is_log=axis.is_log, fixed=fixed, ends=ends)
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    make_room(plot, (body.y.label, body.x.label), colors, font)
    view, small = plot.getViewBox().boundingRect(), scaled(font, 0.9)
    if named := [name for series in body.series if (name := _name_of(series, body))]:
        last = max(name.x for name in named)
        column = _column_px(named, small, view.width())
        # This share of the width is right of the last value.
        share = min((SAMPLE_PX + GAP_PX + NAME_EDGE_PX + column) / max(view.width(), 1.0), 0.6)
        x = x[0], max(x[1], x[0] + (last - x[0]) / (1 - share))
        plot.setXRange(*x, padding=0)
        plot.addItem(LineNames(_fitting(named, small, view, column + 1), last, colors, small))
    for guide in body.guides:
        _draw_guide(plot, guide, body, colors, font)
    spots = []
    for series in body.series:
        spots += _draw_series(plot, series, body, colors, magnified(font))
    spots += _draw_wrong(plot, body, colors, y)
    spots.sort(key=lambda spot: spot.cell is None)  # what can be picked comes first
    return Drawn(spots, x, y, can_zoom=True)


def _place(value: float, axis: Axis) -> float:
    return math.log10(value) if axis.is_log else value


def _ranges(plot: Any, body: Plot) -> tuple[Range, Range]:
    """The ranges of everything drawn, with a marker's room around it."""
    dots = [dot for series in body.series for dot in series.dots]
    guides = [point for guide in body.guides for point in guide.points]
    xs = [*(dot.x for dot in dots), *(body.x.ends or ()), *(x for x, _ in guides)]
    ys = [end for dot in dots if not dot.is_wrong for end in (dot.low, dot.high)]
    ys += [*(body.y.ends or ()), *(y for _, y in guides)]
    if body.y.is_log:  # the name of a guide has its place over it
        ys += [HEADROOM * guide.points[-1][1] for guide in body.guides if guide.label]
    else:
        ys.append(0.0)
    return _padded(xs, body.x, plot.width() - 80), _padded(ys, body.y, plot.height() - 80)


def _padded(values: Iterable[float], axis: Axis, size_px: float) -> Range:
    places = [_place(value, axis) for value in values if value > 0 or not axis.is_log] or [0.0]
    low, high = min(places), max(places)
    if high - low < 1e-9:
        low, high = (low - 0.5, high + 0.5) if axis.is_log or axis.ticks else (0.0, high or 1.0)
    room = ROOM_PX * (high - low) / max(size_px - 2 * ROOM_PX, 40)
    return (low if low == 0.0 and not axis.ticks and not axis.is_log else low - room), high + room


def _draw_series(
    plot: Any, series: Series, body: Plot, colors: Colors, factor: float
) -> list[Spot]:
    dots = [dot for dot in series.dots if not dot.is_wrong]
    if not dots:
        return []
    style, is_pinned = series.entry.style, series.entry.is_pinned
    xs = np.array([_place(dot.x, body.x) for dot in dots])
    ys = np.array([_place(dot.y, body.y) for dot in dots])
    if series.joined and len(dots) > 1:
        width = factor * (PINNED_LINE if is_pinned else LINE)
        plot.addItem(pg.PlotCurveItem(xs, ys, pen=pen_of(style, colors, width)))
    ends = np.array([_place(end, body.y) for dot in dots for end in (dot.low, dot.high)])
    if (ends[1::2] > ends[::2]).any():
        pen = pg.mkPen(color_of(style, colors), width=WHISKER * factor)
        plot.addItem(pg.PlotCurveItem(np.repeat(xs, 2), ends, connect="pairs", pen=pen))
    px = factor * (PINNED_PX if is_pinned else MARKER_PX)
    plot.addItem(Markers(xs, ys, **marker_style(style, colors, px)))
    return [_spot(x, y, dot) for x, y, dot in zip(xs, ys, dots, strict=True)]


def _draw_wrong(plot: Any, body: Plot, colors: Colors, y: Range) -> list[Spot]:
    """Draw a cross at the bottom for each wrong output: it has a place, but no value."""
    wrong = [dot for series in body.series for dot in series.dots if dot.is_wrong]
    if not wrong:
        return []
    height, xs = y[0] + 0.03 * (y[1] - y[0]), [_place(dot.x, body.x) for dot in wrong]
    ink = {"brush": pg.mkBrush(colors.bad), "pen": pg.mkPen(colors.panel)}
    plot.addItem(Markers(xs, [height] * len(xs), symbol=WRONG_MARKER, size=13, **ink))
    return [_spot(x, height, dot) for x, dot in zip(xs, wrong, strict=True)]


def _spot(x: float, y: float, dot: Dot) -> Spot:
    return Spot(float(x), float(y), dot.text, dot.cell)


# -- guides


def _draw_guide(plot: Any, guide: Guide, body: Plot, colors: Colors, font: QFont) -> None:
    """Draw a thin line, a level one from edge to edge, with its name over or beside an end."""
    xs = [_place(x, body.x) for x, _ in guide.points]
    ys = [_place(y, body.y) for _, y in guide.points]
    view = plot.getViewBox()
    low, high = view.viewRange()[0]
    if len(xs) == 2 and ys[0] == ys[1]:
        xs = [low, high]
    plot.addItem(pg.PlotCurveItem(xs, ys, pen=pg.mkPen(colors.muted, width=1.4)))
    if not guide.label:
        return
    end, anchor = (0, (-BESIDE, 0.4)) if guide.is_at_start else (-1, (1.0, 1.05))
    share = (high - xs[end] if guide.is_at_start else xs[end] - low) / (high - low)
    metrics = QFontMetricsF(font)
    # The machine's name is cut where there is no room for all of it, the number never.
    name, colon, number = guide.label.rpartition(": ")
    room_px = share * view.boundingRect().width() / (1 + BESIDE)
    text = cut(name, metrics, room_px - metrics.horizontalAdvance(colon + number)) + colon + number
    label = PlotLabel(xs[end], ys[end], text, font, colors.muted, anchor)
    plot.addItem(Labels([_below_dots(label, view, body) if guide.is_at_start else label]))


def _below_dots(label: PlotLabel, view: Any, body: Plot) -> PlotLabel:
    """Move the label as many of its own heights further down as frees it from all markers."""
    seen, frame, metrics = view.viewRect(), view.boundingRect(), QFontMetricsF(label.font)
    across, up = frame.width() / seen.width(), frame.height() / seen.height()
    wide, high = metrics.horizontalAdvance(label.text), metrics.height()
    room = QRectF(-label.anchor[0] * wide, -label.anchor[1] * high, wide, high)
    room.adjust(-PINNED_PX, -PINNED_PX, PINNED_PX, PINNED_PX)  # a marker's middle lies outside
    marks = [
        QPointF((_place(dot.x, body.x) - label.x) * across, (label.y - _place(dot.y, body.y)) * up)
        for series in body.series
        for dot in series.dots
    ]
    for down in range(int((label.y - seen.top()) * up / high)):  # it stays above the axis
        if not any(room.translated(0, down * high).contains(mark) for mark in marks):
            return label._replace(down=down)
    return label


# -- names at the ends of lines


class LineName(NamedTuple):
    """A name and where its line ends, in the plot's coordinates; text: in lines for its column."""

    x: float
    y: float
    name: str
    style: SeriesStyle
    text: str = ""


def _name_of(series: Series, body: Plot) -> LineName | None:
    """A line's name at the last of its points."""
    dots = [dot for dot in series.dots if not dot.is_wrong]
    if not series.name or not dots:
        return None
    end = max(dots, key=lambda dot: dot.x)
    place = _place(end.x, body.x), _place(end.y, body.y)
    return LineName(*place, series.name, series.entry.style)


def _column_px(names: Sequence[LineName], font: QFont, wide_px: float) -> float:
    """The width of names beside a plot that is `wide_px` wide with them."""
    most = MAX_SHARE * wide_px - SAMPLE_PX - GAP_PX - NAME_EDGE_PX
    return min(widest([each.name for each in names], QFontMetricsF(font)), most)


def _fitting(names: Sequence[LineName], font: QFont, view: QRectF, column: float) -> list[LineName]:
    """The names that fit below each other, those of published lines left out first.

    They are whole, else without their brackets, else in a line each.
    """
    metrics = QFontMetricsF(font)
    own = [name for name in names if name.style.standing != "published"]
    others = [name for name in names if name not in own and view.width() >= NARROW_PX]
    brackets = {name: BRACKETS.sub("", name.name) for name in names}
    for write, short in ((_in_lines, {}), (_in_lines, brackets), (cut, brackets)):
        written = [
            each._replace(text=write(short.get(each, each.name), metrics, column))
            for each in (*own, *others)
        ]
        lines = [len(each.text.splitlines()) for each in written]
        if sum(lines[: len(own)]) * metrics.height() <= view.height():
            break
    kept, used = [], 0.0
    for each, count in zip(written, lines, strict=True):
        if used + count * metrics.height() <= view.height():
            kept.append(each)
            used += count * metrics.height()
    return kept


def _in_lines(name: str, metrics: QFontMetricsF, wide: float) -> str:
    """Break a name between words, else after hyphens as well, else cut it."""
    whole = IN_BRACKETS.sub("\u00a0", name)
    for each in (whole, whole.replace("-", "- ")):
        if lines := wrapped([each], metrics, wide):
            return lines[0].replace("- ", "-")
    return cut(name, metrics, wide)


def spread(wanted: Sequence[tuple[float, float]], low: float, high: float) -> list[float]:
    """The middles of boxes, near to where they are wanted, and none over another.

    wanted     (middle, height), from top to bottom
    low, high  where the first begins at the earliest, and where the last ends at the latest
    """
    tops: list[float] = []
    least = low
    for middle, tall in wanted:
        tops.append(max(least, middle - tall / 2))
        least = tops[-1] + tall
    limit = high
    for at in reversed(range(len(tops))):
        limit = tops[at] = min(tops[at], limit - wanted[at][1])
    return [top + tall / 2 for top, (_, tall) in zip(tops, wanted, strict=True)]


class LineNames(OverPlot):
    """An item that paints names right of `x`, each with its marker and a thread to its line."""

    def __init__(self, names: Sequence[LineName], x: float, colors: Colors, font: QFont) -> None:
        super().__init__()
        self._names, self._x, self._colors, self._font = names, x, colors, font
        self.setZValue(4)

    def paint(self, p: QPainter, *_: Any) -> None:
        """Paint all names in device pixels."""
        to_device = p.transform()
        view = to_device.mapRect(QRectF(self.viewRect()))
        left = to_device.map(QPointF(self._x, 0.0)).x() + GAP_PX
        ends = [(to_device.map(QPointF(each.x, each.y)), each) for each in self._names]
        ends.sort(key=lambda pair: pair[0].y())
        high = QFontMetricsF(self._font).height()
        wanted = [(end.y(), high * len(each.text.splitlines())) for end, each in ends]
        p.save()
        p.resetTransform()
        p.setFont(self._font)
        middles = spread(wanted, view.top(), view.bottom())
        for (end, each), middle in zip(ends, middles, strict=True):
            self._paint_name(p, each, end, QPointF(left, middle), view.right())
        p.restore()

    def _paint_name(
        self, p: QPainter, name: LineName, end: QPointF, at: QPointF, right: float
    ) -> None:
        style, metrics, lines = name.style, QFontMetricsF(self._font), name.text.splitlines()
        high = metrics.height() * len(lines)
        top = at.y() - high / 2
        thread = mixed(color_of(style, self._colors), self._colors.panel, THREAD_SHARE)
        p.setPen(pg.mkPen(thread, width=1))
        if abs(end.y() - at.y()) > NEAR_PX or at.x() - end.x() > GAP_PX + 1:
            p.drawLine(end, at)
        back = QRectF(QPointF(at.x(), top), QSizeF(right - at.x() + 1, high))
        p.fillRect(back, QColor(self._colors.panel))  # the grid ends where the names begin
        draw_marker(p, style, self._colors, at + QPointF(SAMPLE_PX / 2 - 1, 0))
        p.setPen(QColor(self._colors.muted if style.is_pale else self._colors.text))
        for number, line in enumerate(lines):
            base = top + number * metrics.height() + metrics.ascent()
            p.drawText(QPointF(at.x() + SAMPLE_PX, base), line)
