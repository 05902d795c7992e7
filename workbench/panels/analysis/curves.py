"""A chart of before and after, one colour for each channel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.base import theme
from workbench.base.numbers import in_digits, within
from workbench.charts.canvas import Canvas
from workbench.charts.data.figure import Axis
from workbench.charts.drawing.plotting import Drawn, Frame, Spot
from workbench.imaging.analyses import PERCENTILES, Histogram
from workbench.widgets.letters import factor_of

MAX_SPOTS = 256  # spots that can be pointed at
MAX_POINTS = 2000  # of a curve, and at most POINTS_PER_PX for each pixel across
POINTS_PER_PX = 2  # for a noisy curve's highest and lowest
AXIS_PX = 56  # of the left axis
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
        self.curves: Sequence[Curve] = ()  # in the order in which they are drawn
        self._is_log = False
        self._ceiling = math.inf
        self._tell_spot: Callable[[int], str] = str
        self._in_words: Callable[[float], str] = str

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
        self.curves = sorted(curves, key=lambda each: each.is_after)
        self._is_log, self._ceiling = is_log, ceiling
        self._tell_spot, self._in_words = tell_spot, in_words
        self.show_summary(summary or self.empty)
        self.redraw()

    def draw(self, p: QPainter, page: QRectF) -> Drawn:
        """Draw the curves, with spots on the first of those after."""
        if not self.curves:
            return Drawn(())
        frame, factor = Frame(p, page, theme.colors(), self.letters()), factor_of(self)
        frame.make_room("", self._across)
        frame.begin_at(AXIS_PX * factor)
        points = [self._points(curve, round(frame.plot.width())) for curve in self.curves]
        xs = self.curves[0].xs
        frame.x = _padded(float(xs[0]), max(float(xs[-1]), float(xs[0]) + 1e-9), 0.01)
        frame.y = self._heights([ys for _, ys in points])
        upwards = frame.ticks_left(Axis("", self._in_words, self._is_log))
        frame.draw_left([tick for tick in upwards if tick[0] >= 0 or not self._is_log])
        frame.draw_below(frame.ticks_below(Axis("", self._in_words)))
        frame.draw_captions("", self._across)
        p.setClipRect(frame.plot)
        for curve, (across, up) in zip(self.curves, points, strict=True):
            style = Qt.PenStyle.SolidLine if curve.is_after else Qt.PenStyle.DashLine
            p.setPen(QPen(color_of(curve.channel, frame.colors), PEN_PX, style))
            for line in _lines(frame, across, up):
                p.drawPolyline(line)
        return Drawn(self._spots(frame), frame)

    def _points(
        self, curve: Curve, wide_px: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The places of a curve's points; of steps, those of their corners."""
        xs, ys = thinned(curve, min(POINTS_PER_PX * wide_px, MAX_POINTS))
        ys = np.log10(np.maximum(ys, 0.5)) if self._is_log else ys
        if xs.size > ys.size:
            xs, ys = np.repeat(xs, 2)[1:-1], np.repeat(ys, 2)
        return xs, ys

    def _heights(self, curves: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
        """The range of the curves, without what is cut off."""
        finite = np.concatenate(curves)
        finite = finite[np.isfinite(finite)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        high = min(high, self._ceiling)
        if high <= low:
            low, high = low - 0.5, high + 0.5
        return _padded(low, high, 0.04)

    def _spots(self, frame: Frame) -> list[Spot]:
        curve = next((each for each in self.curves if each.is_after), self.curves[0])
        count = curve.ys.size
        spots = []
        for index in range(0, count, max(-(-count // MAX_SPOTS), 1)):
            y = min(float(curve.ys[index]), self._ceiling)
            y = math.log10(max(y, 0.5)) if self._is_log else y
            ends = curve.xs[index : index + 2] if curve.xs.size > count else curve.xs[index]
            if math.isfinite(y):
                at = frame.at(float(np.mean(ends)), y)
                spots.append(Spot(at, partial(self._tell_spot, index)))
        return spots


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    room = share * (high - low)
    return low - room, high + room


def _lines(
    frame: Frame, xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> Iterator[list[QPointF]]:
    """Yield the pixels of each part of a curve that is finite."""
    finite = np.flatnonzero(np.isfinite(ys))
    for part in np.split(finite, np.flatnonzero(np.diff(finite) > 1) + 1):
        yield [frame.at(x, y) for x, y in zip(xs[part].tolist(), ys[part].tolist(), strict=True)]


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
HEADS = ("min", *(f"{share:g} %" for share in PERCENTILES), "max", "mean")


def in_decibels(value: float) -> str:
    """Write a ratio in dB: "31.42 dB", or "∞" where nothing differs."""
    return f"{value:.2f} dB" if math.isfinite(value) else in_digits(value)


def as_share(value: float) -> str:
    """Write a share with four decimals: "0.9876"."""
    return f"{value:.4f}" if math.isfinite(value) else in_digits(value)


def as_table(histograms: tuple[tuple[Histogram, ...], ...], other: str) -> str:
    """Write an HTML table with a row for each channel of each picture, and a note below it."""
    other = escape(other)
    each_row = [
        (
            f"{each.channel} {title}".replace(" ", "&nbsp;"),
            (n.low, *n.percentiles, n.high, n.mean),
        )
        for title, picture in zip((other, "after"), histograms, strict=True)
        for each in picture
        for n in (each.numbers,)
    ]
    rows = [_row("th", (f"{other}: dashed", *HEADS))]  # the line style in the chart
    for name, values in each_row:
        rows.append(_row("td", (name, *(within(value, WIDEST) for value in values))))
    odd = ", ".join(
        f"{each.channel} {title} {each.numbers.not_finite:,}"
        for title, picture in zip((other, "after"), histograms, strict=True)
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
