"""Draws bars with their quartiles: from left to right by their names, or upright side by side.

On a logarithmic axis, which has no zero for a bar to begin at, they are markers over a thin line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.figure import Bar, Bars, Drawn, Spot
from workbench.charts.drawing.marks import (
    BAR_SHARE,
    Labels,
    Markers,
    PlotLabel,
    color_of,
    marker_style,
    mixed,
)
from workbench.charts.drawing.plotting import EDGE_PX, cut, magnified, make_room, widest, wrapped

GROUP_SHARE = 0.8  # of a group's room, taken by its bars
MAX_BAR_PX, MAX_ROW_PX = 26.0, 48.0
NARROW_PX = 520  # in a wider plot the names of bars stand beside them
NAME_SHARE = 0.44  # of the width, at most
MIN_LENGTH = 0.35  # of the width that bars have, however long the words at their ends
MIN_TEXT_PX = 8
MARKER_PX = 9.0
HEADROOM = 0.06  # of the height, over the highest of upright bars
TICK_SLACK = 1e-9
PART_SHARE = 0.75  # of the background in a paler bar
BEST_PX = 1.7  # times a marker: the ring around one that is among the best
LOG_ROOM = 0.06  # of the range, below the smallest on a logarithmic axis
MIN_DECADES = 0.3  # of a logarithmic axis, however near to each other its values are


class Scale(NamedTuple):
    """The scale of values along the bars."""

    is_log: bool
    start: float  # where bars begin, 0; or where a logarithmic axis does, below the smallest
    end: float

    def place(self, value: float | None) -> float:
        """A value's place on the axis: its log₁₀ if that is logarithmic; the start without one."""
        if not value:
            return self.start
        return math.log10(value) if self.is_log else value


class Placed(NamedTuple):
    """A bar with the middle and half the width of its room."""

    bar: Bar
    middle: float
    half: float
    is_bare: bool  # only its marker is drawn


def draw(plot: Any, body: Bars, colors: Colors, font: QFont) -> Drawn:
    """Draw bars that begin at 0, or markers on a logarithmic axis."""
    scale = _scale(body)
    along, across = plot.getAxis("bottom"), plot.getAxis("left")
    if body.is_upright:
        along, across = across, along
    ends = scale.start, scale.end + TICK_SLACK
    along.show_scale(body.axis.words, is_log=scale.is_log, ends=ends)
    across.show_scale(fixed=(), has_grid=False)
    return (_upright if body.is_upright else _level)(plot, body, scale, colors, font)


def rows(body: Bars, wide_px: float) -> float:
    """Count the rows of horizontal bars, including the gaps between groups."""
    return sum(len(g.bars) + _has_names_above(body, wide_px) + 0.5 for g in body.groups)


def _has_names_above(body: Bars, wide_px: float) -> bool:
    """Return True if each group's name has a row of its own."""
    return wide_px < NARROW_PX and not body.names_beside


def _scale(body: Bars) -> Scale:
    ends = [end for bar in body.bars if bar.value for end in (bar.low, bar.high)]
    if not ends:
        return Scale(False, 0.0, 1.0)
    if not body.axis.is_log:
        return Scale(False, 0.0, max(*ends, *(body.axis.ends or ())))
    low, high = math.log10(min(ends)), math.log10(max(ends))
    if high - low < MIN_DECADES:
        middle = (low + high) / 2
        low, high = middle - MIN_DECADES / 2, middle + MIN_DECADES / 2
    return Scale(True, low - LOG_ROOM * (high - low), high)


def _upright(plot: Any, body: Bars, scale: Scale, colors: Colors, font: QFont) -> Drawn:
    bottom = plot.getAxis("bottom")
    x = (-0.5, len(body.groups) - 0.5)
    y = (scale.start, scale.end + HEADROOM * (scale.end - scale.start))
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    group_px = (plot.width() - 70) / max(len(body.groups), 1)
    names = [group.label for group in body.groups]
    labels = wrapped(names, QFontMetricsF(bottom.font), group_px - 4)
    fixed = [(float(at), label) for at, label in enumerate(labels or names)]
    bottom.show_scale(fixed=fixed, has_grid=False, is_turned=not labels)
    make_room(plot, (body.axis.label, ""), colors, font)
    slots = 1 + max((bar.slot for bar in body.bars), default=0)
    step = min(GROUP_SHARE / slots, 1.25 * MAX_BAR_PX * magnified(font) / max(group_px, 1.0))
    placed = [
        Placed(
            bar, number + step * (bar.slot - (slots - 1) / 2), 0.42 * step, not body.has_box(bar)
        )
        for number, group in enumerate(body.groups)
        for bar in group.bars
    ]
    spots = _draw_marks(plot, placed, scale, colors, font, is_upright=True)
    missing = []
    for each in (each for each in placed if not each.bar.value):
        is_wrong = each.bar.words.startswith("✗")
        mark, color = ("✗", colors.bad) if is_wrong else ("–", colors.muted)
        missing.append(PlotLabel(each.middle, scale.start, mark, font, color, (0.5, 1.0)))
    plot.addItem(Labels(missing))
    return Drawn(spots, x, y)


def _level(plot: Any, body: Bars, scale: Scale, colors: Colors, font: QFont) -> Drawn:
    """Draw each group as a block of rows; in a narrow plot its name stands in a row above them."""
    is_narrow = _has_names_above(body, plot.width())
    captions = (body.axis.label, "")
    plot.setXRange(scale.start, scale.end, padding=0)
    make_room(plot, captions, colors, font)
    tall = max(plot.getViewBox().boundingRect().height(), 40.0)
    row_px = min(MAX_ROW_PX * magnified(font), tall / max(rows(body, plot.width()), 1))
    small = QFont(font)  # as large as `font`, unless a row is too low for that
    small.setPixelSize(max(MIN_TEXT_PX, min(font.pixelSize(), int(0.78 * row_px))))
    metrics = QFontMetricsF(small)
    most = plot.width() * (1.0 if is_narrow else NAME_SHARE) - 2 * EDGE_PX
    names = [cut(group.label, metrics, most) for group in body.groups]
    name_px = 0.0 if is_narrow else widest(names, metrics) + 10
    wide = plot.width() - name_px - 2 * EDGE_PX
    x = (scale.start, scale.start + _length(body, scale, metrics, wide))
    y = (-tall / row_px, 0.0)
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    half = min(0.36, 0.5 * MAX_BAR_PX * magnified(font) / row_px)
    placed: list[Placed] = []
    labels: list[PlotLabel] = []
    ticks: list[tuple[float, str]] = []
    at = 0.25
    for group, name in zip(body.groups, names, strict=True):
        if is_narrow:
            labels.append(PlotLabel(x[0], -(at + 0.55), name, small, colors.text, (0.0, 0.5)))
            at += 1
        else:
            ticks.append((-(at + len(group.bars) / 2), name))
        for bar in group.bars:
            placed.append(Placed(bar, -(at + 0.5), half, not body.has_box(bar)))
            labels.append(_words_of(placed[-1], scale, colors, small, wide))
            at += 1
        at += 0.5
    left = plot.getAxis("left")
    left.fixed, left.font, left.text_color = ticks, small, QColor(colors.text)
    make_room(plot, captions, colors, font, name_px)
    spots = _draw_marks(plot, placed, scale, colors, font, is_upright=False)
    plot.addItem(Labels(labels))
    return Drawn(spots, x, y)


def _length(body: Bars, scale: Scale, metrics: QFontMetricsF, wide_px: float) -> float:
    """The part of the axis in sight: every bar has room for the words at its end."""
    whole = scale.end - scale.start
    shares = [1.0]
    for bar in body.bars:
        share = (scale.place(bar.high) - scale.start) / whole if bar.value and whole else 0.0
        room = wide_px - metrics.horizontalAdvance(bar.words) - 22
        shares.append(share * wide_px / max(room, MIN_LENGTH * wide_px))
    return whole * max(shares)


def _words_of(each: Placed, scale: Scale, colors: Colors, font: QFont, wide_px: float) -> PlotLabel:
    """The label of a level bar: its value, or why it has none, cut to fit."""
    words = each.bar.words
    if each.bar.value:
        x, color = scale.place(each.bar.high), colors.text
    else:
        x, color = scale.start, colors.bad if words.startswith("✗") else colors.muted
        words = cut(words, QFontMetricsF(font), wide_px - 3 * font.pixelSize())
    text = f"\u2002\u2009{words}"
    return PlotLabel(x, each.middle, text, font, color, (0.0, 0.5), back=colors.panel)


def _draw_marks(
    plot: Any,
    placed: Sequence[Placed],
    scale: Scale,
    colors: Colors,
    font: QFont,
    *,
    is_upright: bool,
) -> list[Spot]:
    """Draw boxes, whiskers and markers, each as one item; return all spots."""

    def at(along: Any, across: Any) -> tuple[Any, Any]:
        return (across, along) if is_upright else (along, across)

    def pairs(those: Sequence[Placed], along: Sequence[float], pen: Any) -> None:
        line = at(along, [each.middle for each in those for _ in range(2)])
        plot.addItem(pg.PlotCurveItem(*line, connect="pairs", pen=pen))

    def marks(those: Sequence[Placed], **look: Any) -> None:
        values = [scale.place(each.bar.value) for each in those]
        plot.addItem(Markers(*at(values, [each.middle for each in those]), **look))

    valued = [each for each in placed if each.bar.value]
    outline = pg.mkPen(colors.text, width=2)
    if scale.is_log and valued:  # a thin line along each row, by which names are found
        ends = plot.getViewBox().viewRange()[1 if is_upright else 0]
        pairs(valued, len(valued) * [*ends], pg.mkPen(colors.grid, width=1))
    if solid := [each for each in valued if not each.is_bare]:
        starts = at(len(solid) * [scale.start], [each.middle - each.half for each in solid])
        tops = [scale.place(each.bar.value) for each in solid]
        ends = at(tops, [each.middle + each.half for each in solid])
        box = {"x0": starts[0], "x1": ends[0], "y0": starts[1], "y1": ends[1]}
        fills = [pg.mkBrush(_fill(each.bar, colors)) for each in solid]
        pens = [outline if each.bar.is_best else pg.mkPen(None) for each in solid]
        plot.addItem(pg.BarGraphItem(**box, brushes=fills, pens=pens))
    if spread := [each for each in valued if each.bar.high > each.bar.low]:
        whiskers = [scale.place(end) for each in spread for end in (each.bar.low, each.bar.high)]
        pairs(spread, whiskers, pg.mkPen(colors.text, width=1.4))
    if best := [each for each in valued if each.is_bare and each.bar.is_best]:
        marks(best, symbol="o", size=BEST_PX * MARKER_PX, pen=outline, brush=None)
    has_marker = [
        each for each in valued if each.is_bare or each.bar.entry.style.marker is not None
    ]
    if has_marker:
        looks = [_look(each, colors, MARKER_PX * magnified(font)) for each in has_marker]
        marks(has_marker, **{name: [look[name] for look in looks] for name in looks[0]})
    return [_spot(each, scale, is_upright=is_upright) for each in placed]


def _look(each: Placed, colors: Colors, px: float) -> dict[str, Any]:
    """The look of a bar's marker; a paler one is half filled, and none is a circle."""
    style = each.bar.entry.style
    is_half = style.is_half or (each.is_bare and each.bar.is_part)
    return marker_style(replace(style, is_half=is_half, marker=style.marker or 0), colors, px)


def _fill(bar: Bar, colors: Colors) -> QColor:
    share = PART_SHARE if bar.is_part else BAR_SHARE
    return mixed(color_of(bar.entry.style, colors), colors.panel, share)


def _spot(each: Placed, scale: Scale, *, is_upright: bool) -> Spot:
    """A bar's spot: anywhere beside its base line, or only near a bare marker."""
    bar, end = each.bar, scale.place(each.bar.value)
    low, high = each.middle - each.half, each.middle + each.half
    x, y = (each.middle, end) if is_upright else (end, each.middle)
    box = (low, scale.start, high, math.inf) if is_upright else (scale.start, low, math.inf, high)
    return Spot(x, y, bar.text, bar.cell, None if each.is_bare else box)
