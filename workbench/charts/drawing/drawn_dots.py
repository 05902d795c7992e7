"""Dots with their quartiles, the lines that join them, and guides, drawn into a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.chart_spots import Drawn, Spot
from workbench.charts.data.figure import Axis, Dot, Guide, Plot, Series
from workbench.charts.drawing.line_names import LineName, LineNames, fitting, room_px
from workbench.charts.drawing.margins import Captions, magnified, make_room, reduced
from workbench.charts.drawing.markers import Markers
from workbench.charts.drawing.plot_labels import Labels, PlotLabel
from workbench.charts.drawing.series_style import (
    WRONG_MARKER,
    color_of,
    marker_of,
    marker_px,
    marker_style,
    pen_of,
)

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
    make_room(plot, Captions(body.y.label, body.x.label), colors, font)
    named = [name for series in body.series if (name := _name_of(series, body))]
    last = max((name.x for name in named), default=x[1])
    view = plot.getViewBox().boundingRect()
    if named:
        small = reduced(font)
        x = _with_room(x, last, room_px(named, small, view.width()), view.width())
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


def _with_room(x: Range, last: float, room_px: float, wide_px: float) -> Range:
    """Return a range of which `room_px` out of `wide_px`, or more, are right of `last`."""
    share = min(room_px / max(wide_px, 1.0), 0.6)
    return x[0], max(x[1], x[0] + (last - x[0]) / (1 - share))


def _set_axis(axis: Any, wanted: Axis) -> None:
    axis.in_words, axis.is_log, axis.is_turned = wanted.words, wanted.is_log, False
    axis.lowest, axis.highest, axis.has_grid = -math.inf, math.inf, True
    places = [(_place(value, wanted), text) for value, text in wanted.ticks]
    axis.fixed = places or None


def _place(value: float, axis: Axis) -> float:
    return math.log10(value) if axis.is_log else value


def _ranges(plot: Any, body: Plot) -> tuple[Range, Range]:
    """Return from where to where everything drawn reaches, with a marker's room around it."""
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
