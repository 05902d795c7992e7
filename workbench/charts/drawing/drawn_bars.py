"""Draws bars with their quartiles, from left to right, by their names.

On a logarithmic axis, which has no zero for a bar to begin at, they are markers over a thin line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.figure import Bar, Bars, Drawn, Spot
from workbench.charts.drawing.marks import (
    BAR_SHARE,
    RING,
    Labels,
    Markers,
    PlotLabel,
    color_of,
    marker_style,
    mixed,
)
from workbench.charts.drawing.plotting import EDGE_PX, cut, magnified, make_room, widest

MAX_BAR_PX, MAX_ROW_PX = 26.0, 48.0
NARROW_PX = 520  # in a wider plot the names of bars stand beside them
NAME_SHARE = 0.44  # of the width, at most
MIN_LENGTH = 0.35  # of the width that bars have, however long the words at their ends
MIN_TEXT_PX = 8
MARKER_PX = 9.0
TICK_SLACK = 1e-9
PART_SHARE = 0.75  # of the background in a paler bar
LOG_ROOM = 0.06  # of the range, below the smallest on a logarithmic axis
MIN_DECADES = 0.3  # of a logarithmic axis, however near to each other its values are
Row = tuple[Bar, float]  # with the middle of its row


def rows(body: Bars, wide_px: float) -> float:
    """Count the rows of bars, including the gaps between groups."""
    return sum(len(g.bars) + _has_names_above(body, wide_px) + 0.5 for g in body.groups)


def _has_names_above(body: Bars, wide_px: float) -> bool:
    """Return True if each group's name has a row of its own."""
    return wide_px < NARROW_PX and not body.names_beside


def draw(plot: Any, body: Bars, colors: Colors, font: QFont) -> Drawn:
    """Draw each group as a block of rows; in a narrow plot its name stands in a row above them."""
    start, end = _ends(body)
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    bottom.show_scale(body.axis.words, is_log=body.axis.is_log, ends=(start, end + TICK_SLACK))
    left.show_scale(fixed=(), has_grid=False)
    is_narrow = _has_names_above(body, plot.width())
    captions = (body.axis.label, "")
    plot.setXRange(start, end, padding=0)
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
    x = (start, start + _length(body, start, end, metrics, wide))
    y = (-tall / row_px, 0.0)
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    placed: list[Row] = []
    labels: list[PlotLabel] = []
    ticks: list[tuple[float, str]] = []
    at = 0.25
    for group, name in zip(body.groups, names, strict=True):
        if is_narrow:
            labels.append(PlotLabel(start, -(at + 0.55), name, small, colors.text, (0.0, 0.5)))
            at += 1
        else:
            ticks.append((-(at + len(group.bars) / 2), name))
        placed += [(bar, -(at + number + 0.5)) for number, bar in enumerate(group.bars)]
        at += len(group.bars) + 0.5
    left.fixed, left.font, left.text_color = ticks, small, QColor(colors.text)
    make_room(plot, captions, colors, font, name_px)
    half = min(0.36, 0.5 * MAX_BAR_PX * magnified(font) / row_px)
    spots = _draw_marks(plot, body, placed, half, start, colors, font)
    labels += [_words_of(body, *row, start, colors, small, wide) for row in placed]
    plot.addItem(Labels(labels))
    return Drawn(spots, x, y)


def _ends(body: Bars) -> tuple[float, float]:
    """Where bars begin, 0 or below the smallest on a logarithmic axis; and the largest end."""
    ends = [end for bar in body.bars if bar.value for end in (bar.low, bar.high)]
    if not ends:
        return 0.0, 1.0
    if not body.axis.is_log:
        return 0.0, max(*ends, *(body.axis.ends or ()))
    low, high = math.log10(min(ends)), math.log10(max(ends))
    spare = max(0.0, MIN_DECADES - (high - low)) / 2
    low, high = low - spare, high + spare
    return low - LOG_ROOM * (high - low), high


def _length(body: Bars, start: float, end: float, metrics: QFontMetricsF, wide_px: float) -> float:
    """The part of the axis in sight: every bar has room for the words at its end."""
    shares = [1.0]
    for bar in body.bars:
        share = (body.axis.place(bar.high) - start) / (end - start) if bar.value else 0.0
        room = wide_px - metrics.horizontalAdvance(bar.words) - 22
        shares.append(share * wide_px / max(room, MIN_LENGTH * wide_px))
    return (end - start) * max(shares)


def _words_of(
    body: Bars, bar: Bar, y: float, start: float, colors: Colors, font: QFont, wide_px: float
) -> PlotLabel:
    """The label of a bar: its value, or why it has none, cut to fit."""
    x, color, words = start, colors.text, bar.words
    if bar.value:
        x = body.axis.place(bar.high)
    else:
        color = colors.bad if words.startswith("✗") else colors.muted
        words = cut(words, QFontMetricsF(font), wide_px - 3 * font.pixelSize())
    text = f"\u2002\u2009{words}"
    return PlotLabel(x, y, text, font, color, (0.0, 0.5), back=colors.panel)


def _draw_marks(
    plot: Any,
    body: Bars,
    placed: Sequence[Row],
    half: float,
    start: float,
    colors: Colors,
    font: QFont,
) -> list[Spot]:
    """Draw boxes, whiskers and markers, each as one item; return all spots."""
    place, is_log = body.axis.place, body.axis.is_log

    def pairs(those: Sequence[Row], along: Sequence[float], pen: Any) -> None:
        line = along, [y for _, y in those for _ in range(2)]
        plot.addItem(pg.PlotCurveItem(*line, connect="pairs", pen=pen))

    valued = [row for row in placed if row[0].value]
    values, ys = [place(bar.value or 0.0) for bar, _ in valued], [y for _, y in valued]
    outline, factor = pg.mkPen(colors.text, width=2), magnified(font)
    if valued and is_log:  # a thin line along each row, by which names are found
        pairs(valued, len(valued) * plot.getViewBox().viewRange()[0], pg.mkPen(colors.grid))
    elif valued:
        box = {"x0": start, "x1": values, "y": ys, "height": 2 * half}
        fills = [pg.mkBrush(_fill(bar, colors)) for bar, _ in valued]
        pens = [outline if bar.is_best else pg.mkPen(None) for bar, _ in valued]
        plot.addItem(pg.BarGraphItem(**box, brushes=fills, pens=pens))
    if ranges := [row for row in valued if row[0].high > row[0].low]:
        whiskers = [place(end) for bar, _ in ranges for end in (bar.low, bar.high)]
        pairs(ranges, whiskers, pg.mkPen(colors.text, width=1.4))
    if is_log and (best := [n for n, (bar, _) in enumerate(valued) if bar.is_best]):
        ring = {**RING, "size": RING["size"] * factor, "pen": outline}
        plot.addItem(Markers([values[n] for n in best], [ys[n] for n in best], **ring))
    marked = [
        n for n, (bar, _) in enumerate(valued) if is_log or bar.entry.style.marker is not None
    ]
    if marked:
        looks = [_look(valued[n][0], is_log, colors, MARKER_PX * factor) for n in marked]
        look = {name: [each[name] for each in looks] for name in looks[0]}
        plot.addItem(Markers([values[n] for n in marked], [ys[n] for n in marked], **look))
    return [_spot(body, *row, half, start) for row in placed]


def _look(bar: Bar, is_log: bool, colors: Colors, px: float) -> dict[str, Any]:
    """The look of a bar's marker; a paler one is half filled, and none is a circle."""
    style = bar.entry.style
    is_half = style.is_half or (is_log and bar.is_part)
    return marker_style(replace(style, is_half=is_half, marker=style.marker or 0), colors, px)


def _fill(bar: Bar, colors: Colors) -> QColor:
    share = PART_SHARE if bar.is_part else BAR_SHARE
    return mixed(color_of(bar.entry.style, colors), colors.panel, share)


def _spot(body: Bars, bar: Bar, y: float, half: float, start: float) -> Spot:
    """A bar's spot: anywhere beside its base line, or only near a bare marker."""
    x = body.axis.place(bar.value) if bar.value else start
    box = None if body.axis.is_log else (start, y - half, math.inf, y + half)
    return Spot(x, y, bar.text, bar.cell, box)
