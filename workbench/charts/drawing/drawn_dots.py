"""Dots with their quartiles, the lines that join them and their names, and guides."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from workbench.base.theme import Colors
from workbench.charts.data.figure import Axis, Dot, Drawn, Guide, Plot, Series, SeriesStyle, Spot
from workbench.charts.drawing import marks
from workbench.charts.drawing.plotting import WRAP, cut, magnified, make_room, scaled, widest

MARKER_PX, PINNED_PX = 9.0, 12.0
LINE, PINNED_LINE, WHISKER = 2.0, 3.2, 1.6
HEADROOM = 1.4  # times the height of a guide on a logarithmic axis
BESIDE = 0.2  # of a guide's name: how far it stands from the guide's first point
AXIS_PX = 80  # about as much as an axis with its caption takes
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
        fixed = [(axis.place(value), text) for value, text in axis.ticks] or None
        item = plot.getAxis(side)
        wide = widest([text for _, text in axis.ticks], QFontMetricsF(item.font)) + GAP_PX
        is_turned = axis.turns and wide * len(axis.ticks) > plot.width() - AXIS_PX
        item.show_scale(axis.words, is_log=axis.is_log, fixed=fixed, ends=ends, is_turned=is_turned)
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    make_room(plot, (body.y.label, body.x.label), colors, font)
    view, small = plot.getViewBox().boundingRect(), scaled(font, 0.9)
    if names := _names_of(body):
        last, around = max(name.x for name in names), SAMPLE_PX + GAP_PX + NAME_EDGE_PX
        column = widest([each.name for each in names], QFontMetricsF(small))
        column = min(column + 1, MAX_SHARE * view.width() - around)
        # This share of the width is right of the last value.
        share = min((around + column) / max(view.width(), 1.0), 0.6)
        x = x[0], max(x[1], x[0] + (last - x[0]) / (1 - share))
        plot.setXRange(*x, padding=0)
        plot.addItem(LineNames(_fitting(names, small, view, column), last, column, colors, small))
    for guide in body.guides:
        _draw_guide(plot, guide, body, colors, font)
    spots = []
    for series in body.series:
        spots += _draw_series(plot, series, body, colors, magnified(font))
    if wrong := [
        dot for series in body.series for dot in series.dots if dot.is_wrong
    ]:  # a cross at the bottom: it has a place, but no value
        xs, ys = [body.x.place(dot.x) for dot in wrong], [y[0] + 0.03 * (y[1] - y[0])] * len(wrong)
        ink = {"brush": pg.mkBrush(colors.bad), "pen": pg.mkPen(colors.panel)}
        plot.addItem(marks.Markers(xs, ys, symbol=marks.WRONG_MARKER, size=13, **ink))
        spots += map(_spot, xs, ys, wrong)
    spots.sort(key=lambda spot: spot.cell is None)  # what can be picked comes first
    return Drawn(spots, x, y, can_zoom=True)


def _ranges(plot: Any, body: Plot) -> tuple[Range, Range]:
    dots = [dot for series in body.series for dot in series.dots]
    guides = [point for guide in body.guides for point in guide.points]
    xs = [*(dot.x for dot in dots), *(body.x.ends or ()), *(x for x, _ in guides)]
    ys = [end for dot in dots if not dot.is_wrong for end in (dot.low, dot.high)]
    ys += [*(body.y.ends or ()), *(y for _, y in guides)]
    if body.y.is_log:  # the name of a guide has its place over it
        ys += [HEADROOM * guide.points[-1][1] for guide in body.guides if guide.label]
    else:
        ys.append(0.0)
    return _padded(xs, body.x, plot.width() - AXIS_PX), _padded(ys, body.y, plot.height() - AXIS_PX)


def _padded(values: Iterable[float], axis: Axis, size_px: float) -> Range:
    places = [axis.place(value) for value in values if value > 0 or not axis.is_log] or [0.0]
    low, high = min(places), max(places)
    if high - low < 1e-9:
        low, high = (low - 0.5, high + 0.5) if axis.is_log or axis.ticks else (0.0, high or 1.0)
    room = ROOM_PX * (high - low) / max(size_px - 2 * ROOM_PX, 40)
    return (low if low == 0.0 and not axis.ticks and not axis.is_log else low - room), high + room


def _draw_series(
    plot: Any, series: Series, body: Plot, colors: Colors, factor: float
) -> list[Spot]:
    if not (dots := [dot for dot in series.dots if not dot.is_wrong]):
        return []
    style, is_pinned = series.entry.style, series.entry.is_pinned
    xs = np.array([body.x.place(dot.x) for dot in dots])
    ys = np.array([body.y.place(dot.y) for dot in dots])
    if series.joined and len(dots) > 1:
        width = factor * (PINNED_LINE if is_pinned else LINE)
        plot.addItem(pg.PlotCurveItem(xs, ys, pen=marks.pen_of(style, colors, width)))
    ends = np.array([body.y.place(end) for dot in dots for end in (dot.low, dot.high)])
    if (ends[1::2] > ends[::2]).any():
        pen = pg.mkPen(marks.color_of(style, colors), width=WHISKER * factor)
        plot.addItem(pg.PlotCurveItem(np.repeat(xs, 2), ends, connect="pairs", pen=pen))
    px = factor * (PINNED_PX if is_pinned else MARKER_PX)
    plot.addItem(marks.Markers(xs, ys, **marks.marker_style(style, colors, px)))
    if is_best := [dot.is_best for dot in dots]:
        outline, size = pg.mkPen(colors.text, width=2), marks.RING["size"] * factor
        ring = {**marks.RING, "size": size, "pen": outline}
        plot.addItem(marks.Markers(xs[is_best], ys[is_best], **ring))
    return [*map(_spot, xs, ys, dots)]


def _spot(x: float, y: float, dot: Dot) -> Spot:
    return Spot(float(x), float(y), dot.text, dot.cell)


def _draw_guide(plot: Any, guide: Guide, body: Plot, colors: Colors, font: QFont) -> None:
    """Draw a thin line, a level one from edge to edge, with its name over or beside an end."""
    xs = [body.x.place(x) for x, _ in guide.points]
    ys = [body.y.place(y) for _, y in guide.points]
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
    label = marks.PlotLabel(xs[end], ys[end], text, font, colors.muted, anchor)
    plot.addItem(marks.Labels([label]))


# -- names at the ends of lines


class LineName(NamedTuple):
    """A name and where its line ends, in the plot's coordinates."""

    x: float
    y: float
    name: str
    style: SeriesStyle


def _names_of(body: Plot) -> list[LineName]:
    found = []
    for series in body.series:
        dots = [dot for dot in series.dots if not dot.is_wrong]
        if series.name and dots:
            end = max(dots, key=lambda dot: dot.x)
            place = body.x.place(end.x), body.y.place(end.y)
            found.append(LineName(*place, series.name, series.entry.style))
    return found


def _fitting(names: Sequence[LineName], font: QFont, view: QRectF, column: float) -> list[LineName]:
    """The names that fit below each other, if need be without brackets; published ones last."""
    own = [name for name in names if name.style.standing != "published"]
    others = [name for name in names if name not in own and view.width() >= NARROW_PX]
    for pattern, instead in ((IN_BRACKETS, "\u00a0"), (BRACKETS, "")):
        tried = [each._replace(name=pattern.sub(instead, each.name)) for each in (*own, *others)]
        ends = [*accumulate(_high_px(each.name, font, column) for each in tried)]
        if not own or ends[len(own) - 1] <= view.height():
            break
    return [each for each, end in zip(tried, ends, strict=True) if end <= view.height()]


def _high_px(name: str, font: QFont, column: float) -> float:
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, column, 1e6), WRAP, name).height()


def spread(wanted: Sequence[tuple[float, float]], low: float, high: float) -> list[float]:
    """The middles of boxes, near to where they are wanted, and none over another.

    wanted     (middle, height), from top to bottom
    low, high  where the first begins at the earliest, and where the last ends at the latest
    """
    tops, least, limit = list[float](), low, high
    for middle, tall in wanted:
        tops.append(max(least, middle - tall / 2))
        least = tops[-1] + tall
    for at in reversed(range(len(tops))):
        limit = tops[at] = min(tops[at], limit - wanted[at][1])
    return [top + tall / 2 for top, (_, tall) in zip(tops, wanted, strict=True)]


class LineNames(marks.OverPlot):
    """An item that paints names right of `x`, each with its marker and a thread to its line."""

    def __init__(
        self, names: Sequence[LineName], x: float, column: float, colors: Colors, font: QFont
    ) -> None:
        super().__init__()
        self._names, self._x, self._column = names, x, column
        self._colors, self._font = colors, font
        self.setZValue(4)

    def paint(self, p: QPainter, *_: Any) -> None:
        to_device, colors = p.transform(), self._colors
        view = to_device.mapRect(QRectF(self.viewRect()))
        left = to_device.map(QPointF(self._x, 0.0)).x() + GAP_PX
        ends = [(to_device.map(QPointF(each.x, each.y)), each) for each in self._names]
        ends.sort(key=lambda pair: pair[0].y())
        wanted = [(end.y(), _high_px(n.name, self._font, self._column)) for end, n in ends]
        p.save()
        p.resetTransform()
        p.setFont(self._font)
        middles = spread(wanted, view.top(), view.bottom())
        for (end, name), middle, size in zip(ends, middles, wanted, strict=True):
            at, style, high = QPointF(left, middle), name.style, size[1]
            p.setPen(marks.mixed(marks.color_of(style, colors), colors.panel, THREAD_SHARE))
            if abs(end.y() - middle) > NEAR_PX or left - end.x() > GAP_PX + 1:
                p.drawLine(end, at)
            box = QRectF(QPointF(left, middle - high / 2), QSizeF(view.right() - left + 1, high))
            p.fillRect(box, QColor(colors.panel))  # the grid ends where the names begin
            marks.draw_marker(p, style, colors, at + QPointF(SAMPLE_PX / 2 - 1, 0))
            p.setPen(QColor(colors.muted if style.is_pale else colors.text))
            words = QRectF(box.topLeft() + QPointF(SAMPLE_PX, 0), QSizeF(self._column, high))
            p.drawText(words, WRAP, name.name)
        p.restore()
