"""Dots with their quartiles, the lines that join them and their names, and guides."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
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
    marker_of,
    marker_px,
    marker_style,
    mixed,
    pen_of,
)
from workbench.charts.drawing.plotting import magnified, make_room, scaled, wrapped

MARKER_PX = 9.0
PINNED_PX = 12.0
LINE, PINNED_LINE, WHISKER = 2.0, 3.2, 1.6
HEADROOM = 1.4  # times the height of a guide on a logarithmic axis
BESIDE = 0.2  # of a guide's name: how far it stands from the guide's first point
ROOM_PX = 14.0  # between the outermost marks and the plot's edge

Range = tuple[float, float]


def draw(plot: Any, body: Plot, colors: Colors, font: QFont) -> Drawn:
    """Draw a curve, its quartiles and its markers for each series, over guides."""
    _set_axis(plot.getAxis("bottom"), body.x)
    _set_axis(plot.getAxis("left"), body.y)
    x, y = _ranges(plot, body)
    plot.getAxis("left").lowest, plot.getAxis("left").highest = y
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    make_room(plot, (body.y.label, body.x.label), colors, font)
    named = [name for series in body.series if (name := _name_of(series, body))]
    last = max((name.x for name in named), default=x[1])
    view = plot.getViewBox().boundingRect()
    if named:
        small = scaled(font, 0.9)
        # So much of the width is right of the last value.
        share = min(room_px(named, small, view.width()) / max(view.width(), 1.0), 0.6)
        x = x[0], max(x[1], x[0] + (last - x[0]) / (1 - share))
        plot.setXRange(*x, padding=0)
        names = fitting(named, small, view.width(), view.height())
        plot.addItem(LineNames(names, last, colors, small))
    for guide in body.guides:
        _draw_guide(plot, guide, body, colors, font)
    spots = []
    for series in body.series:
        spots += _draw_series(plot, series, body, colors, magnified(font))
    spots += _draw_wrong(plot, body, colors, y)
    spots.sort(key=lambda spot: spot.cell is None)  # what can be picked comes first
    return Drawn(spots, x, y, can_zoom=True)


def _name_of(series: Series, body: Plot) -> LineName | None:
    """Return a line's name at the last of its points."""
    dots = [dot for dot in series.dots if not dot.is_wrong]
    if not series.name or not dots:
        return None
    end = max(dots, key=lambda dot: dot.x)
    place = _place(end.x, body.x), _place(end.y, body.y)
    return LineName(*place, series.name, series.entry.style)


def _set_axis(axis: Any, wanted: Axis) -> None:
    axis.in_words, axis.is_log, axis.is_turned = wanted.words, wanted.is_log, False
    axis.lowest, axis.highest, axis.has_grid = -math.inf, math.inf, True
    places = [(_place(value, wanted), text) for value, text in wanted.ticks]
    axis.fixed = places or None


def _place(value: float, axis: Axis) -> float:
    return math.log10(value) if axis.is_log else value


def _ranges(plot: Any, body: Plot) -> tuple[Range, Range]:
    """Return the ranges of everything drawn, with a marker's room around it."""
    dots = [dot for series in body.series for dot in series.dots]
    right = [dot for dot in dots if not dot.is_wrong]
    guides = [point for guide in body.guides for point in guide.points]
    xs = [*(dot.x for dot in dots), *(body.x.ends or ()), *(x for x, _ in guides)]
    ys = [end for dot in right for end in (dot.low, dot.high)]
    ys += [*(body.y.ends or ()), *(y for _, y in guides)]
    if body.y.is_log:  # the name of a guide has its place over it
        ys += [HEADROOM * guide.points[-1][1] for guide in body.guides if guide.label]
    if not body.y.is_log:
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
    ends = [(_place(dot.low, body.y), _place(dot.high, body.y)) for dot in dots]
    if any(high > low for low, high in ends):
        bars = pg.PlotCurveItem(
            np.repeat(xs, 2),
            np.array(list(chain.from_iterable(ends))),
            connect="pairs",
            pen=pg.mkPen(color_of(style, colors), width=WHISKER * factor),
        )
        plot.addItem(bars)
    px = factor * (PINNED_PX if is_pinned else MARKER_PX)
    how = marker_style(style, colors) | {"symbol": marker_of(style), "size": marker_px(style, px)}
    plot.addItem(Markers(x=xs, y=ys, useCache=False, **how))
    return [_spot(x, y, dot) for x, y, dot in zip(xs, ys, dots, strict=True)]


def _draw_wrong(plot: Any, body: Plot, colors: Colors, y: Range) -> list[Spot]:
    """Draw a cross at the bottom for each wrong answer: it has a place, but no value."""
    wrong = [dot for series in body.series for dot in series.dots if dot.is_wrong]
    if not wrong:
        return []
    height = y[0] + 0.03 * (y[1] - y[0])
    xs = [_place(dot.x, body.x) for dot in wrong]
    ink = {"brush": pg.mkBrush(colors.bad), "pen": pg.mkPen(colors.panel)}
    ys = [height] * len(xs)
    plot.addItem(Markers(x=xs, y=ys, symbol=WRONG_MARKER, size=13, useCache=False, **ink))
    return [_spot(x, height, dot) for x, dot in zip(xs, wrong, strict=True)]


def _spot(x: float, y: float, dot: Dot) -> Spot:
    return Spot(float(x), float(y), dot.text, dot.cell)


def _draw_guide(plot: Any, guide: Guide, body: Plot, colors: Colors, font: QFont) -> None:
    """Draw a thin line, a level one from edge to edge, with its name over or beside an end."""
    xs = [_place(x, body.x) for x, _ in guide.points]
    ys = [_place(y, body.y) for _, y in guide.points]
    low, high = plot.getViewBox().viewRange()[0]
    if len(xs) == 2 and ys[0] == ys[1]:
        xs = [low, high]
    plot.addItem(pg.PlotCurveItem(xs, ys, pen=pg.mkPen(colors.muted, width=1.4)))
    if guide.label:
        at, anchor = (xs[-1], ys[-1]), (1.0, 1.05)
        if guide.is_at_start:
            at, anchor = (xs[0], ys[0]), (-BESIDE, 0.4)
        share = (high - at[0] if guide.is_at_start else at[0] - low) / (high - low)
        room_px = share * plot.getViewBox().boundingRect().width() / (1 + BESIDE)
        text = _fitted(guide.label, QFontMetricsF(font), room_px)
        label = PlotLabel(*at, text, font, colors.muted, anchor)
        if guide.is_at_start:
            label = _below_dots(label, plot, body)
        plot.addItem(Labels([label]))


def _below_dots(label: PlotLabel, plot: Any, body: Plot) -> PlotLabel:
    """Return the label as many of its own heights further down as frees it from all markers."""
    seen, frame = plot.getViewBox().viewRect(), plot.getViewBox().boundingRect()
    across, up = frame.width() / seen.width(), frame.height() / seen.height()
    metrics = QFontMetricsF(label.font)
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


def _fitted(label: str, metrics: QFontMetricsF, room_px: float) -> str:
    """Return a guide's label with the machine's name cut where there is no room for all of it."""
    name, colon, figure = label.rpartition(": ")
    name_px = room_px - metrics.horizontalAdvance(colon + figure)
    return metrics.elidedText(name, Qt.TextElideMode.ElideRight, name_px) + colon + figure


MAX_SHARE = 0.46  # of the plot's width
NARROW_PX = 300.0  # a narrower plot has names of what was measured alone
SAMPLE_PX = 16.0
GAP_PX = 10.0  # from the line's end
NAME_EDGE_PX = 4.0
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
    return SAMPLE_PX + GAP_PX + NAME_EDGE_PX + _column_px(names, font, wide_px) if names else 0.0


def _column_px(names: Sequence[LineName], font: QFont, wide_px: float) -> float:
    metrics = QFontMetricsF(font)
    widest = max((metrics.horizontalAdvance(each.name) for each in names), default=0.0)
    return min(widest, MAX_SHARE * wide_px - SAMPLE_PX - GAP_PX - NAME_EDGE_PX)


def fitting(names: Sequence[LineName], font: QFont, wide_px: float, high_px: float) -> list[Lines]:
    """Return the names that fit below each other, those of published lines left out first."""
    metrics = QFontMetricsF(font)
    column = _column_px(names, font, wide_px) + 1
    kept: list[Lines] = []
    used = 0.0
    own = [name for name in names if name.style.standing != "published"]
    others = [name for name in names if name not in own and wide_px >= NARROW_PX]
    wanted, short = (*own, *others), {each: BRACKETS.sub("", each.name) for each in names}
    texts = {each: _in_lines(each.name, metrics, column) for each in wanted}
    if not _fit(texts, own, metrics, high_px):  # without the threads, and then cut to a line each
        texts = {each: _in_lines(short[each], metrics, column) for each in wanted}
    if not _fit(texts, own, metrics, high_px):
        cut = Qt.TextElideMode.ElideRight
        texts = {each: metrics.elidedText(short[each], cut, column) for each in wanted}
    for each, text in texts.items():
        high = metrics.height() * len(text.splitlines())
        if used + high <= high_px:
            kept.append(Lines(each, text, high))
            used += high
    return kept


def _fit(
    texts: Mapping[LineName, str],
    names: Sequence[LineName],
    metrics: QFontMetricsF,
    high_px: float,
) -> bool:
    lines = sum(len(texts[each].splitlines()) for each in names)
    return lines * metrics.height() <= high_px


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
