"""Draws a sweep's series into a pyqtgraph plot.  Imports pyqtgraph: import it when drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPalette

from kernels.sweep import Measurement, SweepPoint, in_words
from workbench import theme
from workbench.charts import sweep_series
from workbench.charts.canvas import Spot
from workbench.charts.plotting import WRONG_MARKER, Look, look_of
from workbench.charts.sweep_series import Dot, Series

LARGE_RANGE = 10.0  # of block shapes' values; from here on the axis is logarithmic
TICK_LABEL_PX = 42
DODGE = 0.5  # share of a block shape's room over which the implementations stand side by side


def draw(
    plot: Any, points: Sequence[SweepPoint], series: Series, palette: QPalette, *, even: bool
) -> list[Spot]:
    """Draw everything anew, and return what there is to point at.

    even  draw the line where a speed-up is 1
    """
    plot.clear()
    shaped = bool(points) and points[0].dimension == "block shape"
    is_log = not shaped or _is_large_range(series)
    plot.getAxis("left").is_log = is_log
    _set_y_range(plot, series, is_log, even)
    _set_x_range(plot, points)
    if even:
        colors = theme.colors(palette)
        plot.addItem(pg.InfiniteLine(0 if is_log else 1, angle=0, pen=pg.mkPen(colors.muted)))
    spots = []
    for number, (key, dots) in enumerate(series.items()):
        dodge = DODGE * ((number + 0.5) / len(series) - 0.5) if shaped else 0.0
        xs = [sweep_series.position(points, dot.value) + dodge for dot in dots]
        spots += _draw_series(plot, look_of(key, palette), xs, dots, is_log, joined=not shaped)
    _draw_wrong(plot, points, theme.colors(palette).bad)
    return spots


def _draw_series(
    plot: Any, look: Look, xs: list[float], dots: list[Dot], is_log: bool, *, joined: bool
) -> list[Spot]:
    """Dots with their quartiles; joined, or where the CPU's time is the same for all, by a line."""
    y, low, high = (
        np.log10(column) if is_log else np.array(column)
        for column in zip(*((dot.middle, dot.low, dot.high) for dot in dots), strict=True)
    )
    x = np.array(xs)
    pen = pg.mkPen(look.color, width=1.5)
    plot.addItem(pg.ErrorBarItem(x=x, y=y, top=high - y, bottom=y - low, beam=0.08, pen=pen))
    line = look.pen() if joined or look.is_dashed else None
    plot.plot(
        x, y, pen=line, symbol=look.marker, symbolSize=10, symbolBrush=look.color, symbolPen=None
    )
    return [Spot(px, py, dot.text) for px, py, dot in zip(x, y, dots, strict=True)]


def _draw_wrong(plot: Any, points: Sequence[SweepPoint], color: str) -> None:
    """A cross at the bottom for each wrong answer: it has a place, but no speed."""
    wrong = [p for p in points if isinstance(p.outcome, Measurement) and p.objection]
    xs = [sweep_series.position(points, p.value) for p in wrong if p.value is not None]
    if xs:
        low, high = plot.getViewBox().viewRange()[1]
        ys = [low + 0.04 * (high - low)] * len(xs)
        crosses = pg.ScatterPlotItem(x=xs, y=ys, symbol=WRONG_MARKER, size=12, brush=color)
        plot.addItem(crosses)


def _is_large_range(series: Series) -> bool:
    middles = [dot.middle for dots in series.values() for dot in dots]
    return bool(middles) and max(middles) / min(middles) > LARGE_RANGE


def _set_y_range(plot: Any, series: Series, is_log: bool, even: bool) -> None:
    ends = [end for dots in series.values() for dot in dots for end in (dot.low, dot.high)]
    if even:
        ends.append(1.0)
    if not ends:
        return
    low, high = (math.log10(min(ends)), math.log10(max(ends))) if is_log else (0.0, max(ends))
    room = max(0.12 * (high - low), 0.1 if is_log else 0.0)
    plot.setYRange(low - room if is_log else 0.0, high + room, padding=0)


def _set_x_range(plot: Any, points: Sequence[SweepPoint]) -> None:
    """Ticks at the values measured, labelled as far as there is room."""
    places = {v: sweep_series.position(points, v) for v in sweep_series.values(points)}
    if not places:
        return
    low, high = min(places.values()), max(places.values())
    room = 0.6 if points[0].dimension == "block shape" else max(0.1 * (high - low), 0.2)
    plot.setXRange(low - room, high + room, padding=0)
    px = max(plot.width() - 70, 100) / (high - low + 2 * room)
    ticks: list[tuple[float, str]] = []
    for value, x in sorted(places.items(), key=lambda pair: pair[1]):
        if not ticks or (x - ticks[-1][0]) * px >= TICK_LABEL_PX:
            ticks.append((x, in_words(points[0].dimension, value) or "any block"))
    plot.getAxis("bottom").setTicks([ticks, [(x, "") for x in places.values()]])
