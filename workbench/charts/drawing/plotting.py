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
MOST_LINES = 12  # across a plot, however high it is
GAP_PX = 6
LABEL_GAP_PX = 12
# (decades from tick to tick, multiples in each), from the densest ticks to the sparsest.
LOG_STEPS = (
    *((1, tuple(range(1, 10))), (1, (1, 2, 5)), (1, (1, 3))),
    *((1, (1,)), (2, (1,)), (3, (1,))),
)
WIDEST = "000 µs"  # the least room for a tick below a plot
EDGE_PX = 12  # right of the plot, for half of the last tick's text
MAX_LINES = 3  # of a name below a plot
WRAP = Qt.TextFlag.TextWordWrap
CAPTION_GAP_PX = 4  # where there is none above
ABOVE_ROWS, BELOW_ROWS = 1.7, 1.3  # heights of captions in that of the font
USUAL_FONT_PX = 13
Ticks = Sequence[tuple[float, str]]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis with a grid, which paints text as text: an SVG of it can be read and searched."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.is_upright = orientation == "left"
        self.show_scale()
        self.font, self.grid_pen, self.text_color = QFont(), QPen(), QColor()
        self.setStyle(tickLength=0, autoExpandTextSpace=False)
        self.setGrid(255)  # so that its bounding rectangle covers the plot

    def show_scale(
        self,
        in_words: Callable[[float], str] = str,
        *,
        is_log: bool = False,
        fixed: Ticks | None = None,
        ends: tuple[float, float] = (-math.inf, math.inf),
        has_grid: bool = True,
        is_turned: bool = False,
    ) -> None:
        """Choose the ticks.

        in_words   writes a value; the places of a logarithmic axis are log₁₀ of values
        fixed      (place, text) of the only ticks
        ends       where ticks begin and end; beyond is room only for markers and labels
        has_grid   whether ticks continue as lines across the plot
        is_turned  texts are written upwards, where they do not fit side by side
        """
        self.in_words, self.is_log, self.fixed = in_words, is_log, fixed
        self.lowest, self.highest = ends
        self.has_grid, self.is_turned = has_grid, is_turned

    def ticks(self, low: float, high: float, size_px: float) -> Ticks:
        """Places and texts of the ticks between two places that are `size_px` apart."""
        if self.fixed is not None:
            return [(place, text) for place, text in self.fixed if low <= place <= high]
        metrics = QFontMetricsF(self.font)
        gap = (high - low) / max(size_px, 1.0)
        low, high = max(low, self.lowest), min(high, self.highest)
        if self.is_upright:
            gap *= max(LINES_PER_TICK * metrics.height(), size_px / MOST_LINES)
        else:
            texts = (self._written(low), self._written(high), WIDEST)
            gap *= max(map(metrics.horizontalAdvance, texts)) + LABEL_GAP_PX
        places = log_ticks(low, high, gap) if self.is_log else even_ticks(low, high, gap)
        return [(v, self._written(v)) for v in places]

    def _written(self, place: float) -> str:
        if place == 0 and not self.is_log:
            return "0"  # of whatever unit
        return shortened(self.in_words(10**place if self.is_log else place))

    def room_px(self, size_px: float) -> float:
        """The width or height that the texts take at the present range."""
        metrics = QFontMetricsF(self.font)
        low, high = self.range
        texts = [text for _, text in self.ticks(low, high, size_px)]
        if self.is_upright or self.is_turned:
            return max(map(metrics.horizontalAdvance, texts), default=0) + GAP_PX + 2
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
        begin, way = (plot.bottom(), -size) if self.is_upright else (plot.left(), size)
        ticks = self.ticks(low, high, size)
        found = [(begin + way * (place - low) / (high - low), text) for place, text in ticks]
        p.setFont(self.font)
        for at, _text in found if self.has_grid else ():
            p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            p.setPen(self.grid_pen)
            if self.is_upright:
                p.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at))
            else:
                p.drawLine(QPointF(at, plot.top()), QPointF(at, plot.bottom()))
            p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        p.setPen(self.text_color)
        seen = range(len(found)) if self.is_upright else apart([self._span(*e) for e in found])
        for number in seen:
            self._draw_text(p, plot, *found[number])

    def _span(self, at: float, text: str) -> tuple[float, float]:
        """The ends of a text below the plot, with half a gap on both sides."""
        metrics = QFontMetricsF(self.font)
        if self.is_turned:
            return at - metrics.height() / 2, at + metrics.height() / 2
        room = max(map(metrics.horizontalAdvance, text.splitlines()), default=0.0)
        room += LABEL_GAP_PX / 2
        return (left := self._left(at, room / 2)), left + room

    def _left(self, at: float, half: float) -> float:
        """The left end of a text of twice the width `half`, kept on the page."""
        edge = self.mapFromScene(QPointF(1, 0)).x()  # of what the plot stands in
        wide = self.scene().views()[0].width() - 2
        return float(min(max(at - half, edge), edge + wide - 2 * half))

    def _draw_text(self, p: QPainter, plot: QRectF, at: float, text: str) -> None:
        metrics = QFontMetricsF(self.font)
        wide, drop = metrics.horizontalAdvance(text), metrics.ascent() / 2 - metrics.descent() / 2
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


class PlotView(pg.PlotWidget):  # type: ignore[misc]
    """A plot that zooms with Ctrl and the wheel, which alone scrolls what the plot stands in."""

    def __init__(self, parent: QWidget | None = None) -> None:
        axes = {"left": ValueAxis("left"), "bottom": ValueAxis("bottom")}
        # Menus that nobody sees would take 30 ms to make.
        super().__init__(parent, axisItems=axes, enableMenu=False)
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
    _forget_pointer(plot)
    plot.clear()


def without(plot: Any, item: Any) -> None:
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


# -- ticks


def shortened(text: str) -> str:
    """Drop zeros that say nothing on an axis: 1 ms for 1.00 ms, 2.5× for 2.50×."""
    return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), text)


def apart(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The numbers of those (begin, end), from left to right, that do not overlap.

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
    """log₁₀ of ticks at 1, 2, 5 or 1, 10 … from 10**low to 10**high, at least `gap` apart.

    If only one of them is in sight: two powers of ten or digits, as one tick is no scale.
    """

    def seen(step: int, mantissas: Sequence[int]) -> list[float]:
        decades = range(math.floor(low), math.ceil(high) + 1)
        places = (d + math.log10(m) for d in decades if d % step == 0 for m in mantissas)
        return [place for place in places if low <= place <= high]

    for step in LOG_STEPS:
        ticks = seen(*step)
        if all(after - before >= gap for before, after in pairwise(ticks)):
            break
    for few in (seen(1, (1,)), seen(1, range(1, 10))) if len(ticks) < 2 else ():
        if few and few[-1] - few[0] >= min(gap, 1):
            return [few[0], few[-1]]
    return ticks


def even_ticks(low: float, high: float, gap: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, `gap` apart.

    At least two where `high` is above `low`, even if nearer: one tick is no scale.
    """

    def multiples(step: float) -> list[float]:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    if not high > low or gap <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(gap))
    places = multiples(next(power * m for m in (1, 2, 5, 10) if power * m >= gap))
    if len(places) > 1:
        return places
    power = 10.0 ** math.floor(math.log10(high - low))
    sparse = (multiples(power * m) for m in (5, 2, 1, 0.5))
    first, *_, last = next(places for places in sparse if len(places) > 1)
    return [first, last]


# -- fonts and captions


def magnified(font: QFont) -> float:
    """The magnification of marks and lines that matches this font."""
    return max(1.0, font.pixelSize() / USUAL_FONT_PX)


def scaled(font: QFont, factor: float) -> QFont:
    """The same font, smaller or larger."""
    other = QFont(font)
    other.setPixelSize(max(8, round(font.pixelSize() * factor)))
    return other


def cut(text: str, metrics: QFontMetricsF, wide_px: float) -> str:
    """Elide text at its end where it is wider than `wide_px`."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide_px)


def widest(texts: Sequence[str], metrics: QFontMetricsF) -> float:
    return max(map(metrics.horizontalAdvance, texts), default=0.0)


def wrapped(names: Sequence[str], metrics: QFontMetricsF, wide_px: float) -> list[str]:
    """Names broken into lines, MAX_LINES at most; an empty list if one does not fit."""
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
        if len(lines) > MAX_LINES or widest(lines, metrics) > wide_px:
            return []
        found.append("\n".join(lines))
    return found


def make_room(
    plot: Any, captions: tuple[str, str], colors: Colors, font: QFont, left_px: float | None = None
) -> None:
    """Give axes and captions the room they take, once the plot shows its range.

    captions  of the values, over the upper left corner, if need be in two lines; and of x, below
    left_px   width of the left axis; None: what its texts take
    """
    metrics, item = QFontMetricsF(font), plot.getPlotItem()
    left, bottom, label = plot.getAxis("left"), plot.getAxis("bottom"), item.titleLabel
    above_px = ABOVE_ROWS * metrics.height() if captions[0] else CAPTION_GAP_PX
    below_px = BELOW_ROWS * metrics.height() if captions[1] else 0.0
    below_px += bottom.room_px(plot.width())
    if left_px is None:
        left_px = left.room_px(plot.height() - above_px - below_px)
    above, wide = [captions[0]], plot.width() - left_px - EDGE_PX - 4
    if metrics.horizontalAdvance(captions[0]) > wide:
        above = captions[0].split(" · ", 1)
        above_px += (len(above) - 1) * metrics.height()
    *above, below = (html.escape(cut(text, metrics, wide)) for text in (*above, captions[1]))
    label.setVisible(True)
    label.setMaximumHeight(above_px)
    label.item.setFont(font)
    size = f"{font.pixelSize()}px"
    label.setText("<br>".join(above), color=colors.muted, size=size, justify="left")
    bottom.label.setFont(font)
    bottom.enableAutoSIPrefix(False)  # each tick has its unit
    bottom.setLabel(below, color=colors.muted)
    bottom.showLabel(bool(below))
    bottom.setHeight(below_px)
    left.setWidth(left_px)
    item.layout.setContentsMargins(2, 2, EDGE_PX, 2)
    item.layout.setRowFixedHeight(0, above_px)
    item.layout.invalidate()
    item.layout.activate()
