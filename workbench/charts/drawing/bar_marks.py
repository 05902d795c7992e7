"""Bars at their places as few items: all boxes, all whiskers, all markers, all words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.chart_spots import Spot
from workbench.charts.data.figure import Bar
from workbench.charts.drawing.markers import Markers
from workbench.charts.drawing.plot_labels import Label
from workbench.charts.drawing.series_style import (
    color_of,
    marker_of,
    marker_px,
    marker_style,
    mixed,
)

FILL_SHARE = 0.45  # of the background in a bar, so that its marker shows on it
PART_SHARE = 0.75  # and in one that says the same as the one before, with something added


class Scale(NamedTuple):
    """Where values stand along the bars.

    start  where bars begin: 0, or a round value below the smallest on a logarithmic axis
    """

    is_log: bool
    start: float
    end: float

    def place(self, value: float) -> float:
        return math.log10(value) if self.is_log else value


class Placed(NamedTuple):
    """A bar and its room across: its middle and half its width.

    is_bare  only its marker: what was published, over the bar it compares with
    """

    bar: Bar
    middle: float
    half: float
    is_bare: bool = False


def draw_marks(
    plot: Any,
    placed: Sequence[Placed],
    scale: Scale,
    colors: Colors,
    marker: float,
    *,
    is_upright: bool,
) -> list[Spot]:
    """What can be drawn of them, and what all of them say.

    marker  its size in pixels
    """
    valued = [each for each in placed if each.bar.value]
    solid = [each for each in valued if not each.is_bare]
    _draw_boxes(plot, solid, scale, colors, is_upright=is_upright)
    _draw_whiskers(plot, solid, scale, colors, is_upright=is_upright)
    _draw_markers(plot, valued, scale, colors, marker, is_upright=is_upright)
    return [_spot(each, scale, is_upright=is_upright) for each in placed]


def words_of(each: Placed, scale: Scale, colors: Colors, font: QFont, wide_px: float) -> Label:
    """Return what stands at the end of a level bar: its value, or why it has none, cut to fit."""
    bar = each.bar
    words = bar.words
    if not bar.value:
        room_px = wide_px - 3 * font.pixelSize()
        words = QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideRight, room_px)
    color = colors.text if bar.value else colors.muted
    if bar.words.startswith("✗"):
        color = colors.bad
    x = scale.place(bar.high) if bar.value else scale.start
    return Label(x, each.middle, f"\u2002\u2009{words}", font, color, (0.0, 0.5))


def mark_of(each: Placed, scale: Scale, colors: Colors, font: QFont) -> Label:
    """In place of an upright bar that has no value."""
    is_wrong = each.bar.words.startswith("✗")
    mark, color = ("✗", colors.bad) if is_wrong else ("–", colors.muted)
    return Label(each.middle, scale.start, mark, font, color, (0.5, 1.0))


def _draw_boxes(
    plot: Any, placed: Sequence[Placed], scale: Scale, colors: Colors, *, is_upright: bool
) -> None:
    if not placed:
        return
    starts = [scale.start] * len(placed)
    ends = [scale.place(each.bar.value or 0.0) for each in placed]
    lows = [each.middle - each.half for each in placed]
    highs = [each.middle + each.half for each in placed]
    along, across = (("y0", starts), ("y1", ends)), (("x0", lows), ("x1", highs))
    if not is_upright:
        along, across = (("x0", starts), ("x1", ends)), (("y0", lows), ("y1", highs))
    shares = [PART_SHARE if each.bar.is_part else FILL_SHARE for each in placed]
    fills = [
        pg.mkBrush(mixed(color_of(each.bar.entry.style, colors), colors.panel, share))
        for each, share in zip(placed, shares, strict=True)
    ]
    outline, none = pg.mkPen(colors.text, width=2), pg.mkPen(None)
    pens = [outline if each.bar.is_best else none for each in placed]
    plot.addItem(pg.BarGraphItem(**dict([*along, *across]), brushes=fills, pens=pens))


def _draw_whiskers(
    plot: Any, placed: Sequence[Placed], scale: Scale, colors: Colors, *, is_upright: bool
) -> None:
    ends = [scale.place(end) for each in placed for end in (each.bar.low, each.bar.high)]
    middles = [each.middle for each in placed for _ in range(2)]
    line = (middles, ends) if is_upright else (ends, middles)
    if ends:
        pen = pg.mkPen(colors.text, width=1.4)
        plot.addItem(pg.PlotCurveItem(*line, connect="pairs", pen=pen))


def _draw_markers(
    plot: Any,
    placed: Sequence[Placed],
    scale: Scale,
    colors: Colors,
    marker: float,
    *,
    is_upright: bool,
) -> None:
    placed = [each for each in placed if each.bar.entry.style.marker is not None]
    ends = [scale.place(each.bar.value or 0.0) for each in placed]
    middles = [each.middle for each in placed]
    styles = [each.bar.entry.style for each in placed]
    inks = [marker_style(style, colors) for style in styles]
    if not placed:
        return
    plot.addItem(
        Markers(
            x=middles if is_upright else ends,
            y=ends if is_upright else middles,
            symbol=[marker_of(style) for style in styles],
            size=[marker_px(style, marker) for style in styles],
            pen=[ink["pen"] for ink in inks],
            brush=[ink["brush"] for ink in inks],
            useCache=False,
        )
    )


def _spot(each: Placed, scale: Scale, *, is_upright: bool) -> Spot:
    bar = each.bar
    end = scale.place(bar.value) if bar.value else scale.start
    low, high = each.middle - each.half, each.middle + each.half
    x, y = (each.middle, end) if is_upright else (end, each.middle)
    if each.is_bare:
        return Spot(x, y, bar.text, bar.cell)
    box = (low, scale.start, high, math.inf) if is_upright else (scale.start, low, math.inf, high)
    return Spot(x, y, bar.text, bar.cell, box)
