"""A chart of before and after, one colour for each channel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.base import theme
from workbench.base.numbers import in_digits, within
from workbench.charts.canvas import Canvas
from workbench.charts.data.figure import Spot
from workbench.imaging.analyses import PERCENTILES, Histogram
from workbench.widgets.letters import factor_of

MAX_SPOTS = 256  # spots that can be pointed at
MAX_POINTS = 2000  # of a curve, and at most POINTS_PER_PX for each pixel across
POINTS_PER_PX = 2  # for a noisy curve's highest and lowest
AXIS_PX, TICKS_PX = 56, 18  # of the left axis, across; of the lower one's numbers, down
MIN_HIGH_PX = 110  # its height
PEN_PX = 1  # a wider one takes Qt a hundred times as long, half a second for three noisy curves
USUAL_PERCENT = 99.0  # of a histogram's columns, which its scale goes by
HEADROOM, TOWERS = 1.1, 1.5  # of the scale; and how many times as high a column is cut off
# Hues of the theme for red, green, blue; grey and alpha are drawn in the text's colours.
HUES = {"R": 1, "G": 2, "B": 0}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One channel of one picture."""

    channel: str
    is_after: bool
    xs: NDArray[np.float64]  # where there is one more than of ys, a step for each
    ys: NDArray[np.float64]


def color_of(channel: str, colors: theme.Colors) -> QColor:
    """The colour of a channel, the same in every chart."""
    if channel in HUES:
        return QColor(colors.series[HUES[channel]])
    return QColor(colors.text if channel == "grey" else colors.muted)


class CurvesChart(Canvas):
    """A chart of curves: after solid, before dashed."""

    def __init__(self, empty: str, name: str, *, across: str = "") -> None:
        """Show `empty` until there are curves; `across` is the lower axis's title."""
        super().__init__(empty)
        self._across = across
        self.setAccessibleName(name)
        self.setMinimumHeight(MIN_HIGH_PX)
        self._curves: Sequence[Curve] = ()
        self._nothing = empty
        self._is_log = False
        self._ceiling = math.inf
        self._tell_spot: Callable[[int], str] = str
        self._in_words: Callable[[float], str] = str
        self.ready.connect(self._draw)

    def show_curves(
        self,
        curves: Sequence[Curve],
        summary: str,
        tell_spot: Callable[[int], str],
        in_words: Callable[[float], str],
        *,
        is_log: bool = False,
        ceiling: float = math.inf,
    ) -> None:
        """Draw `curves`, all with the same xs.

        summary    for a screen reader
        tell_spot  describes the curves at the x of this index
        ceiling    where higher values are cut off
        """
        self._curves, self._is_log, self._ceiling = curves, is_log, ceiling
        self._tell_spot, self._in_words = tell_spot, in_words
        self._empty.setText("Drawing…" if curves else self._nothing)  # until there is a plot
        self.show_summary(summary or self._nothing)
        self._draw()

    def _draw(self) -> None:
        plot = self.plot
        if plot is None:
            return
        import pyqtgraph as pg

        self._show_ring("keys", ())
        if not self._curves:
            self.show_spots(())
            return
        colors = theme.colors(self.palette())
        low, high = math.inf, -math.inf
        in_order = sorted(self._curves, key=lambda each: each.is_after)
        for curve, item in zip(in_order, self._items_for(len(in_order)), strict=True):
            xs, ys = thinned(curve, min(POINTS_PER_PX * self.width(), MAX_POINTS))
            ys = np.log10(np.maximum(ys, 0.5)) if self._is_log else ys
            if np.isfinite(ys).any():
                low, high = min(low, float(np.nanmin(ys))), max(high, float(np.nanmax(ys)))
            style = Qt.PenStyle.SolidLine if curve.is_after else Qt.PenStyle.DashLine
            pen = pg.mkPen(color_of(curve.channel, colors), width=PEN_PX, style=style)
            steps = "center" if xs.size == ys.size + 1 else None
            item.setData(xs, ys, pen=pen, stepMode=steps, connect="finite")
        self._set_range(low, min(high, self._ceiling))
        self._show_spots()

    def _items_for(self, count: int) -> list[Any]:
        """The items that draw curves, kept because making them takes longer."""
        import pyqtgraph as pg

        items = [each for each in self.plot.listDataItems() if isinstance(each, pg.PlotCurveItem)]
        if len(items) != count:
            from workbench.charts.drawing.plotting import emptied

            emptied(self.plot)
            items = [pg.PlotCurveItem() for _ in range(count)]
            for item in items:
                self.plot.addItem(item)
        return items

    def _set_range(self, low: float, high: float) -> None:
        plot = self.plot
        for name in ("left", "bottom"):
            plot.getAxis(name).in_words = self._in_words
        axis = plot.getAxis("left")
        axis.is_log = self._is_log
        bottom, factor = plot.getAxis("bottom"), factor_of(self)
        bottom.setStyle(tickTextHeight=round(TICKS_PX * factor))
        if self._across:
            muted = theme.colors(self.palette()).muted
            bottom.label.setFont(bottom.font)  # letters as large as those of the numbers
            bottom.setLabel(self._across, color=muted)
        axis.setWidth(round(AXIS_PX * factor))
        xs = self._curves[0].xs
        plot.setXRange(float(xs[0]), max(float(xs[-1]), float(xs[0]) + 1e-9), padding=0.01)
        if not (math.isfinite(low) and math.isfinite(high)):
            low, high = 0.0, 1.0
        if high <= low:
            low, high = low - 0.5, high + 0.5
        axis.lowest = 0.0 if self._is_log else -math.inf
        plot.setYRange(low, high, padding=0.04)

    def _show_spots(self) -> None:
        curve = max(self._curves, key=lambda each: each.is_after)
        count = curve.ys.size
        spots = []
        for index in range(0, count, max(-(-count // MAX_SPOTS), 1)):
            y = min(float(curve.ys[index]), self._ceiling)
            y = math.log10(max(y, 0.5)) if self._is_log else y
            ends = curve.xs[index : index + 2] if curve.xs.size > count else curve.xs[index]
            x = float(np.mean(ends))
            if math.isfinite(y):
                spots.append(Spot(x, y, partial(self._tell_spot, index)))
        self.show_spots(spots)


def ceiling_of(curves: Sequence[Curve]) -> float:
    """The height of a chart of counts that cuts off a few towering columns; or infinity."""
    counts = np.concatenate([np.empty(0), *(curve.ys for curve in curves)])
    if counts.size == 0:
        return math.inf
    usual = float(np.percentile(counts, USUAL_PERCENT))
    return usual * HEADROOM if usual and counts.max() > usual * TOWERS else math.inf


def thinned(
    curve: Curve, most: int = MAX_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Thin a curve to about `most` points, which include peaks and valleys."""
    xs, ys = curve.xs, curve.ys
    if ys.size <= most or xs.size != ys.size:
        return xs, ys
    bins = max(most // 2, 1)
    size = ys.size // bins * bins
    rows = ys[:size].reshape(bins, -1)
    starts = np.arange(bins) * rows.shape[1]
    finite = np.where(np.isfinite(rows), rows, 0.0)
    ends = starts + finite.argmin(axis=1), starts + finite.argmax(axis=1)
    picks = np.sort(np.concatenate([*ends, np.arange(size, ys.size)]))
    return xs[picks], ys[picks]


WIDEST = 7  # characters that a number may have
HEADS = ("min", *(f"{share:g} %" for share in PERCENTILES), "max", "mean", "dev.")


def in_format(value: float, written: str) -> str:
    """Format a number, such as with "{:.2f} dB"; "∞" or "NaN" where it is not finite."""
    return written.format(value) if math.isfinite(value) else in_digits(value)


Titles = tuple[str, str]  # of the picture compared with, and of the result
Histograms = tuple[tuple[Histogram, ...], ...]  # by picture, then by channel


def _rows(histograms: Histograms, titles: Titles) -> list[tuple[str, tuple[float, ...]]]:
    return [
        (f"{each.channel} {title}", (n.low, *n.percentiles, n.high, n.mean, n.deviation))
        for title, picture in zip(titles, histograms, strict=True)
        for each in picture
        for n in (each.numbers,)
    ]


def as_text(histograms: Histograms, titles: Titles) -> str:
    """Write the numbers as lines for a spreadsheet, with tabs between."""
    rows = [("", *HEADS), *((name, *map(repr, v)) for name, v in _rows(histograms, titles))]
    return "\n".join("\t".join(row) for row in rows)


def as_table(histograms: Histograms, titles: Titles) -> str:
    """Write an HTML table with a row for each channel of each picture, and a note below it."""
    titles = escape(titles[0]), escape(titles[1])
    rows = [_row("th", (f"{titles[0]}: dashed", *HEADS))]  # the line style in the chart
    for name, values in _rows(histograms, titles):
        cells = (within(value, WIDEST) for value in values)
        rows.append(_row("td", (name.replace(" ", "&nbsp;"), *cells)))
    odd = ", ".join(
        f"{each.channel} {title} {each.numbers.not_finite:,}"
        for title, picture in zip(titles, histograms, strict=True)
        for each in picture
        if each.numbers.not_finite
    )
    if odd:
        rows.append(f'<tr><td colspan="{len(HEADS) + 1}">not finite: {odd}</td></tr>')
    return f'<table width="100%" cellspacing="0" cellpadding="2">{"".join(rows)}</table>'


def _row(tag: str, cells: tuple[str, ...]) -> str:
    first, *others = cells
    rest = "".join(f'<{tag} align="right">{cell}</{tag}>' for cell in others)
    return f'<tr><{tag} align="left">{first}</{tag}>{rest}</tr>'
