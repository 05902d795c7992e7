"""The plot that all charts share: axes with units, captions and their room.  Imports pyqtgraph."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from workbench.base.theme import Colors

pg.setConfigOptions(antialias=True)  # each item asks this for itself

LINES_PER_TICK = 1.7  # of the font's height, so that labels never touch
GAP_PX = 6
LABEL_GAP_PX = 12
# (decades from tick to tick, multiples in each), from the densest ticks to the sparsest.
LOG_STEPS = (
    *((1, tuple(range(1, 10))), (1, (1, 2, 5)), (1, (1, 3))),
    *((1, (1,)), (2, (1,)), (3, (1,))),
)
WIDEST = "000 µs"  # the least room for a tick below a plot


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis with a grid, whose ticks are written by `in_words`, for values or their log₁₀.

    It paints itself, text as text, so that an SVG of it can be read and searched.

    fixed            (place, text) of the only ticks, in the plot's coordinates
    lowest, highest  where ticks begin and end; beyond is room only for markers and labels
    is_turned        texts are written upwards, where they do not fit side by side
    has_grid         whether its ticks continue as lines across the plot
    """

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.in_words: Callable[[float], str] = str
        self.is_log = False
        self.fixed: Sequence[tuple[float, str]] | None = None
        self.lowest, self.highest = -math.inf, math.inf
        self.is_turned = False
        self.has_grid = True
        self.font = QFont()
        self.grid_pen, self.text_color = QPen(), QColor()
        self.setStyle(tickLength=0, autoExpandTextSpace=False)
        self.setGrid(255)  # so that its bounding rectangle covers the plot

    @property
    def is_upright(self) -> bool:
        """Tell whether this is the vertical axis, at the left."""
        return bool(self.orientation == "left")

    def ticks(self, low: float, high: float, size_px: float) -> list[tuple[float, str]]:
        """Return places and texts of the ticks between two places that are `size_px` apart."""
        if self.fixed is not None:
            return [(place, text) for place, text in self.fixed if low <= place <= high]
        metrics = QFontMetricsF(self.font)
        apart = LINES_PER_TICK * metrics.height()
        gap = (high - low) / max(size_px, 1.0)
        low, high = max(low, self.lowest), min(high, self.highest)
        if not self.is_upright:
            apart = max(metrics.horizontalAdvance(self._written(v)) for v in (low, high))
            apart = max(apart, metrics.horizontalAdvance(WIDEST)) + LABEL_GAP_PX
        gap *= apart
        places = log_ticks(low, high, gap) if self.is_log else even_ticks(low, high, gap)
        return [(v, self._written(v)) for v in places]

    def _written(self, place: float) -> str:
        if place == 0 and not self.is_log:
            return "0"  # of whatever unit
        text = self.in_words(10**place if self.is_log else place)
        return shortened(text)

    def room_px(self, size_px: float) -> float:
        """Return the width or height that the texts take at the present range."""
        metrics = QFontMetricsF(self.font)
        low, high = self.range
        texts = [text for _, text in self.ticks(low, high, size_px)]
        if self.is_upright or self.is_turned:
            return max((metrics.horizontalAdvance(text) for text in texts), default=0) + GAP_PX + 2
        lines = max((len(text.splitlines()) for text in texts), default=1)
        return lines * metrics.height() + GAP_PX

    def paint(self, p: QPainter, *_: Any) -> None:
        """Draw the grid through the plot, and the texts beside it."""
        view = self.linkedView()
        if view is None:
            return
        plot = view.mapRectToItem(self, view.boundingRect())
        low, high = self.range
        size = plot.height() if self.is_upright else plot.width()
        p.setFont(self.font)
        found: list[tuple[float, str]] = []
        for place, text in self.ticks(low, high, size):
            share = (place - low) / (high - low)
            at = plot.bottom() - share * size if self.is_upright else plot.left() + share * size
            found.append((at, text))
            if self.has_grid:
                self._draw_line(p, plot, at)
        spans = [self._span(at, text) for at, text in found]
        for number in range(len(found)) if self.is_upright else apart(spans):
            self._draw_text(p, plot, *found[number])

    def _span(self, at: float, text: str) -> tuple[float, float]:
        """Return the ends of a text below the plot, with half a gap on both sides."""
        room = self._along(text)
        left = at - room / 2 if self.is_turned else self._left(at, room / 2)
        return left, left + room

    def _left(self, at: float, half: float) -> float:
        """Return the left end of a text of twice the width `half`, kept on the page."""
        edge = self.mapFromScene(QPointF(1, 0)).x()  # of what the plot stands in
        wide = self.scene().views()[0].width() - 2
        return float(min(max(at - half, edge), edge + wide - 2 * half))

    def _along(self, text: str) -> float:
        """Return the room of a text along an axis below the plot."""
        metrics = QFontMetricsF(self.font)
        if self.is_turned:
            return metrics.height()
        wide = max((metrics.horizontalAdvance(line) for line in text.splitlines()), default=0.0)
        return wide + LABEL_GAP_PX / 2

    def _draw_line(self, p: QPainter, plot: QRectF, at: float) -> None:
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.setPen(self.grid_pen)
        if self.is_upright:
            p.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at))
        else:
            p.drawLine(QPointF(at, plot.top()), QPointF(at, plot.bottom()))
        p.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _draw_text(self, p: QPainter, plot: QRectF, at: float, text: str) -> None:
        metrics = QFontMetricsF(self.font)
        wide, drop = metrics.horizontalAdvance(text), metrics.ascent() / 2 - metrics.descent() / 2
        p.setPen(self.text_color)
        if self.is_upright:
            p.drawText(QPointF(plot.left() - GAP_PX - wide, at + drop), text)
        elif self.is_turned:
            p.save()
            p.translate(at, plot.bottom() + GAP_PX)
            p.rotate(-90)
            p.drawText(QPointF(-wide, drop), text)
            p.restore()
        else:
            top = plot.bottom() + GAP_PX + metrics.ascent()
            for number, line in enumerate(text.splitlines()):
                left = self._left(at, metrics.horizontalAdvance(line) / 2)
                p.drawText(QPointF(left, top + number * metrics.height()), line)


class StillView(pg.ViewBox):  # type: ignore[misc]
    """Zooms with Ctrl and the wheel only, so that a panel can be scrolled over its chart."""

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:  # noqa: N802
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event, axis)
        else:
            event.ignore()


class PlotView(pg.PlotWidget):  # type: ignore[misc]
    """A plot that lets the wheel through to what it stands in."""

    def __init__(self, parent: QWidget | None = None) -> None:
        axes = {"left": ValueAxis("left"), "bottom": ValueAxis("bottom")}
        # Menus that nobody sees would take 30 ms to make.
        super().__init__(
            parent, axisItems=axes, viewBox=StillView(enableMenu=False), enableMenu=False
        )
        for axis in axes.values():
            axis.setZValue(-1)  # what is drawn in the plot lies on the grid
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.setAntialiasing(True)
        self.setFrameShape(self.Shape.NoFrame)
        for part in (self, self.viewport()):  # a click gives the keyboard to what it stands in
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()


def emptied(plot: Any) -> None:
    """Take everything out of `plot`."""
    _forget_pointer(plot)
    plot.clear()


def without(plot: Any, item: Any) -> None:
    """Take `item` out of `plot`."""
    _forget_pointer(plot)
    plot.removeItem(item)


def _forget_pointer(plot: Any) -> None:
    """Empty the memory of what the pointer is over, before items are taken out.

    The scene would ask those items at the next movement, though Qt may have deleted them by then,
    which crashes the process.
    """
    if (scene := plot.scene()) is not None:
        scene.hoverItems.clear()
        scene.lastHoverEvent = None


def apply_theme(plot: Any, colors: Colors, font: QFont) -> None:
    """Put `plot` into a theme; `font` is that of its ticks."""
    plot.setBackground(colors.panel)
    for name in ("left", "bottom"):
        axis = plot.getAxis(name)
        axis.setPen(pg.mkPen(None))
        axis.grid_pen = pg.mkPen(colors.grid, width=1)
        axis.text_color = QColor(colors.muted)
        axis.font = font


def shortened(text: str) -> str:
    """Return 1 ms for 1.00 ms, 2.5× for 2.50×: trailing zeros say nothing on an axis."""
    return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), text)


def apart(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return the numbers of those (begin, end), from left to right, that do not overlap.

    The first and the last come before all others, of which the right ones come first.
    """
    kept = [0, len(spans) - 1] if len(spans) > 1 and spans[0][1] <= spans[-1][0] else []
    kept = kept or list(range(len(spans)))[-1:]
    for number in reversed(range(1, len(spans) - 1)):
        low, high = spans[number]
        if all(high <= spans[each][0] or spans[each][1] <= low for each in kept):
            kept.append(number)
    return sorted(kept)


def log_ticks(low: float, high: float, gap: float) -> list[float]:
    """Return ticks at 1, 2, 5 or 1, 10 … from 10**low to 10**high, at least `gap` apart.

    All are log₁₀.  If only one of them is in sight: the outermost digits.
    """
    decades = range(math.floor(low), math.ceil(high) + 1)
    for step, mantissas in LOG_STEPS:
        ticks = [
            decade + math.log10(mantissa)
            for decade in decades
            for mantissa in mantissas
            if decade % step == 0 and low <= decade + math.log10(mantissa) <= high
        ]
        if all(after - before >= gap for before, after in pairwise(ticks)):
            break
    return ticks if len(ticks) > 1 else _outermost(low, high, gap) or ticks


def _outermost(low: float, high: float, gap: float) -> list[float]:
    """Return the first and the last digit in sight if `gap` apart, as one tick is no scale."""
    digits = [
        decade + math.log10(digit)
        for decade in range(math.floor(low), math.ceil(high) + 1)
        for digit in range(1, 10)
        if low <= decade + math.log10(digit) <= high
    ]
    return [digits[0], digits[-1]] if digits and digits[-1] - digits[0] >= gap else []


def even_ticks(low: float, high: float, gap: float) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten from `low` to `high`, `gap` apart.

    At least two where `high` is above `low`, even if nearer: one tick is no scale.
    """
    if not high > low or gap <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(gap))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= gap)
    if len(places := _multiples(low, high, step)) > 1:
        return places
    power = 10.0 ** math.floor(math.log10(high - low))
    sparse = (_multiples(low, high, power * m) for m in (5, 2, 1, 0.5))
    first, *_, last = next(places for places in sparse if len(places) > 1)
    return [first, last]


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


EDGE_PX = 12  # right of the plot, for half of the last tick's text
MAX_LINES = 3
CAPTION_GAP_PX = 4
CLAUSE = re.compile(r"(?:[:;.]| ·) [^:;·]*$")  # the last one of a caption
USUAL_FONT_PX = 13
CAPTION_ROWS = 1.7  # of the font's height


def magnified(font: QFont) -> float:
    """Return the magnification of marks and lines that matches this font."""
    return max(1.0, font.pixelSize() / USUAL_FONT_PX)


def scaled(font: QFont, factor: float) -> QFont:
    """Return the same font, smaller or larger."""
    other = QFont(font)
    other.setPixelSize(max(8, round(font.pixelSize() * factor)))
    return other


def make_room(
    plot: Any,
    captions: tuple[str, str],
    colors: Colors,
    font: QFont,
    left_px: float | None = None,
) -> None:
    """Give axes and captions the room they take, once the plot shows its range.

    captions  of the values, over the upper left corner, and of x, under the plot
    left_px   width of the left axis; None: what its texts take
    """
    above, below = captions
    row_px = CAPTION_ROWS * QFontMetricsF(font).height()
    above_px = row_px if above else CAPTION_GAP_PX
    below_px = row_px if below else 0.0
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    below_px += bottom.room_px(plot.width())
    tall = plot.height() - above_px - below_px
    left_px = left.room_px(tall) if left_px is None else left_px
    layout = plot.getPlotItem().layout
    layout.setContentsMargins(2, 2, EDGE_PX, 2)
    wide = plot.width() - left_px - EDGE_PX - 4
    _write_above(plot, _cut_caption(above, font, wide), colors, font, above_px)
    _write_below(bottom, _cut_caption(below, font, wide), colors, font)
    bottom.setHeight(below_px)
    left.setWidth(left_px)
    layout.invalidate()
    layout.activate()


def wrapped(names: Sequence[str], metrics: QFontMetricsF, wide_px: float) -> list[str]:
    """Return names broken into lines, MAX_LINES at most; an empty list if one does not fit."""
    found = []
    for name in names:
        lines = [""]
        for word in name.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if metrics.horizontalAdvance(longer) <= wide_px:
                lines[-1] = longer
            else:
                lines.append(word)
        lines = [line for line in lines if line]
        if len(lines) > MAX_LINES or any(metrics.horizontalAdvance(x) > wide_px for x in lines):
            return []
        found.append("\n".join(lines))
    return found


def _cut_caption(text: str, font: QFont, wide: float) -> str:
    """Cut a caption to the clauses that fit, eliding the first if even that is too long."""
    metrics = QFontMetricsF(font)
    while metrics.horizontalAdvance(text) > wide and (shorter := CLAUSE.sub("", text)) != text:
        text = shorter
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide)


def _write_above(plot: Any, text: str, colors: Colors, font: QFont, high: float) -> None:
    item = plot.getPlotItem()
    label = item.titleLabel
    label.setVisible(True)
    label.setMaximumHeight(high)
    item.layout.setRowFixedHeight(0, high)
    label.item.setFont(font)
    size = f"{font.pixelSize()}px"
    label.setText(html.escape(text), color=colors.muted, size=size, justify="left")


def _write_below(axis: Any, text: str, colors: Colors, font: QFont) -> None:
    axis.label.setFont(font)
    axis.enableAutoSIPrefix(False)  # each tick has its unit
    axis.setLabel(html.escape(text), color=colors.muted)
    axis.showLabel(bool(text))
