"""What all charts share: axes in human units, one look per implementation.  Imports pyqtgraph."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette, QPen

from kernels.engine import all_implementations
from workbench import theme
from workbench.views.tile import scaled_font

# As many colours as there are in a theme and one marker less: together they repeat very late.
MARKERS = ("o", "s", "t1", "d", "star", "t")
WRONG_MARKER = "x"
PX_PER_TICK = 22  # so that labels never touch


@dataclass(frozen=True, slots=True)
class Look:
    """How an implementation is drawn everywhere: GPU solid, CPU dashed."""

    color: QColor
    marker: str
    is_dashed: bool

    def pen(self, width: float = 2.0) -> QPen:
        style = Qt.PenStyle.DashLine if self.is_dashed else Qt.PenStyle.SolidLine
        return pg.mkPen(self.color, width=width, style=style)  # type: ignore[no-any-return]


def look_of(key: str, palette: QPalette) -> Look:
    """The look of the implementation called `key`, in the theme `palette` belongs to."""
    known = all_implementations()
    index = next(i for i, each in enumerate(known) if each.key == key)
    series = theme.colors(palette).series
    color = QColor(series[index % len(series)])
    return Look(color, MARKERS[index % len(MARKERS)], known[index].kind == "cpu")


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis whose ticks are written by `in_words`, for values or for their log₁₀.

    lowest, highest  where ticks begin and end; beyond is only room for markers and labels
    """

    def __init__(self, orientation: str, in_words: Callable[[float], str]) -> None:
        super().__init__(orientation)
        self.in_words = in_words
        self.is_log = False
        self.lowest, self.highest = -math.inf, math.inf
        self.enableAutoSIPrefix(False)

    def tickValues(self, low: float, high: float, size: float) -> Any:  # noqa: N802
        if self.is_log:
            gap = PX_PER_TICK * (high - low) / max(size, 1.0)
            return [(1.0, log_ticks(max(low, self.lowest), min(high, self.highest), gap))]
        levels = super().tickValues(low, high, size)
        return [(gap, [v for v in ticks if self._is_in_range(v)]) for gap, ticks in levels]

    def _is_in_range(self, value: float) -> bool:
        return bool(self.lowest <= value <= self.highest)

    def tickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:  # noqa: N802, ARG002
        return [shortened(self.in_words(10**v if self.is_log else v)) for v in values]


def shortened(text: str) -> str:
    """1 ms for 1.00 ms, 2.5× for 2.50×: on an axis, zeros at the end say nothing."""
    return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), text)


def log_ticks(low: float, high: float, gap: float) -> list[float]:
    """Ticks at 1, 2, 5 or 1, 10, 100 … between 10**low and 10**high, no two nearer than `gap`.

    All are log₁₀.
    """
    decades = range(math.floor(low), math.ceil(high) + 1)
    for step, mantissas in ((1, range(1, 10)), (1, (1, 2, 5)), (1, (1, 3)), (1, (1,)), (3, (1,))):
        ticks = [
            decade + math.log10(mantissa)
            for decade in decades
            for mantissa in mantissas
            if decade % step == 0 and low <= decade + math.log10(mantissa) <= high
        ]
        if all(after - before >= gap for before, after in pairwise(ticks)):
            break
    return ticks


def new_plot(in_words: Callable[[float], str]) -> Any:
    """A PlotWidget that only shows; its left axis is a ValueAxis that writes with `in_words`."""
    plot = pg.PlotWidget(axisItems={"left": ValueAxis("left", in_words)})
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    plot.setAntialiasing(True)
    plot.setFrameShape(plot.Shape.NoFrame)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return plot


def dress(plot: Any, palette: QPalette) -> None:
    """Put `plot` into the theme that `palette` belongs to."""
    colors = theme.colors(palette)
    plot.setBackground(colors.panel)
    plot.showGrid(x=False, y=True, alpha=0.9)
    for name in ("left", "bottom"):
        axis = plot.getAxis(name)
        axis.setPen(colors.grid)
        axis.setTickPen(colors.grid)
        axis.setTextPen(colors.muted)
        axis.setStyle(tickFont=scaled_font(0.85))
