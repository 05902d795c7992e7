"""The frame that all charts share: ticks with units, a grid, captions and their room."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from workbench.base.theme import Colors
from workbench.charts.data.figure import Axis

LINES_PER_TICK = 1.7  # of the font's height, so that labels never touch
GAP_PX = 6
LABEL_GAP_PX = 12
# (decades from tick to tick, multiples in each), from the densest ticks to the sparsest.
LOG_STEPS = (
    *((1, tuple(range(1, 10))), (1, (1, 2, 5)), (1, (1, 3))),
    *((1, (1,)), (2, (1,)), (3, (1,))),
)
WIDEST = "000 µs"  # the least room for a tick below a plot
EDGE_PX, MARGIN_PX = 12, 2  # right of the plot, for half of the last tick's text; and elsewhere
MAX_LINES = 3  # of a name below a plot
WRAP = Qt.TextFlag.TextWordWrap
CAPTION_GAP_PX = 4  # where there is none above
ABOVE_ROWS, BELOW_ROWS = 1.7, 1.3  # heights of captions in that of the font
TICK_SHARE = 0.92  # of the font
USUAL_FONT_PX = 13
EVERYWHERE = (-math.inf, math.inf)
Range = tuple[float, float]
Ticks = Sequence[tuple[float, str]]


class Spot(NamedTuple):
    """A place that can be pointed at, in pixels."""

    at: QPointF
    words: str | Callable[[], str]
    cell: Any = None  # picked by a click or Enter; None: it leads nowhere
    box: QRectF | None = None  # None: a mark

    @property
    def text(self) -> str:
        """What is shown for it."""
        return self.words if isinstance(self.words, str) else self.words()


class Drawn(NamedTuple):
    """The result of drawing: what can be pointed at, and the frame of what can be zoomed."""

    spots: Sequence[Spot]
    frame: Frame | None = None


class Frame:
    """A plot on a page with its axes: maps places to pixels, draws ticks, grid and captions.

    page         the box of all of it
    plot         the box inside the axes, once `make_room` was called
    x, y         the places at its edges; log₁₀ of values on a logarithmic axis
    font, small  of labels, and of ticks
    """

    def __init__(self, p: QPainter, page: QRectF, colors: Colors, font: QFont) -> None:
        self.p, self.page, self.colors, self.font = p, page, colors, font
        self.small = scaled(font, TICK_SHARE)
        self.plot = QRectF(page)
        self.x: Range = (0.0, 1.0)
        self.y: Range = (0.0, 1.0)

    def make_room(self, above: str, below: str, lines: float = 1.0) -> None:
        """Leave room for captions and `lines` of ticks below, but none at the left yet."""
        row = QFontMetricsF(self.font).height()
        high = ABOVE_ROWS * row if above else CAPTION_GAP_PX
        low = lines * QFontMetricsF(self.small).height() + GAP_PX
        low += BELOW_ROWS * row if below else 0
        self.plot = self.page.adjusted(MARGIN_PX, MARGIN_PX + high, -EDGE_PX, -MARGIN_PX - low)

    def begin_at(self, left_px: float) -> None:
        """Leave so much room at the left."""
        self.plot.setLeft(self.page.left() + MARGIN_PX + left_px)

    def at(self, x: float, y: float) -> QPointF:
        """The pixel of a place."""
        (left, right), (low, high), box = self.x, self.y, self.plot
        across, up = (x - left) / (right - left), (y - low) / (high - low)
        return QPointF(box.left() + across * box.width(), box.bottom() - up * box.height())

    def place(self, pixel: QPointF) -> tuple[float, float]:
        """The place of a pixel."""
        (left, right), (low, high), box = self.x, self.y, self.plot
        across = (pixel.x() - box.left()) / box.width()
        up = (box.bottom() - pixel.y()) / box.height()
        return left + across * (right - left), low + up * (high - low)

    # -- axes

    def ticks_left(self, axis: Axis) -> Ticks:
        """The ticks of the left axis."""
        tall_px = LINES_PER_TICK * QFontMetricsF(self.small).height()
        return _ticks(axis, self.y, tall_px * _span(self.y) / max(self.plot.height(), 1))

    def ticks_below(self, axis: Axis, ends: Range = EVERYWHERE) -> Ticks:
        """The ticks of the lower axis, between its `ends`."""
        x = max(self.x[0], ends[0]), min(self.x[1], ends[1])
        texts = () if axis.ticks else (*(_written(axis, end) for end in x), WIDEST)
        wide_px = widest(texts, QFontMetricsF(self.small)) + LABEL_GAP_PX
        return _ticks(axis, x, wide_px * _span(self.x) / max(self.plot.width(), 1))

    def draw_left(self, ticks: Ticks, font: QFont | None = None, color: str = "") -> None:
        """Draw the texts of the left axis; with a grid in the usual colour."""
        p, font = self.p, font or self.small
        metrics = QFontMetricsF(font)
        drop = (metrics.ascent() - metrics.descent()) / 2
        for place, text in ticks:
            y = self.at(0.0, place).y()
            if not color:
                self._draw_grid(QPointF(self.plot.left(), y), QPointF(self.plot.right(), y))
            p.setFont(font)
            p.setPen(QColor(color or self.colors.muted))
            left = self.plot.left() - GAP_PX - metrics.horizontalAdvance(text)
            p.drawText(QPointF(left, y + drop), text)

    def draw_below(self, ticks: Ticks, *, color: str = "", is_turned: bool = False) -> None:
        """Draw the texts below, as many as there is room for; with a grid in the usual colour."""
        p, metrics = self.p, QFontMetricsF(self.small)
        places = [(self.at(place, 0.0).x(), text) for place, text in ticks]
        for x, _ in places if not color else ():
            self._draw_grid(QPointF(x, self.plot.top()), QPointF(x, self.plot.bottom()))
        p.setFont(self.small)
        p.setPen(QColor(color or self.colors.muted))
        top = self.plot.bottom() + GAP_PX
        spans = [self._width(*each, is_turned=is_turned) for each in places]
        for x, text in (places[number] for number in apart(spans)):
            if is_turned:
                draw_upwards(p, text, QPointF(x, top), 1.0)
                continue
            for number, line in enumerate(text.splitlines()):
                left = self._left(x, metrics.horizontalAdvance(line) / 2)
                down = metrics.ascent() + number * metrics.height()
                p.drawText(QPointF(left, top + down), line)

    def draw_captions(self, above: str, below: str) -> None:
        """Write what the values are over the upper left corner, and what x is below the plot."""
        p, metrics, box = self.p, QFontMetricsF(self.font), self.plot
        p.setFont(self.font)
        p.setPen(QColor(self.colors.muted))
        above, below = (cut(text, metrics, box.width()) for text in (above, below))
        spare = (ABOVE_ROWS - 1) / 2 * metrics.height()
        p.drawText(QPointF(box.left(), box.top() - spare - metrics.descent()), above)
        left = box.center().x() - metrics.horizontalAdvance(below) / 2
        bottom = self.page.bottom() - MARGIN_PX - metrics.descent()
        p.drawText(QPointF(left, bottom), below)

    def _draw_grid(self, one: QPointF, other: QPointF) -> None:
        """Draw a line of the grid, as sharp as the screen can."""
        self.p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self.p.setPen(QColor(self.colors.grid))
        self.p.drawLine(one, other)
        self.p.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _width(self, at: float, text: str, *, is_turned: bool) -> Range:
        """The ends of a text below the plot, with half a gap on both sides."""
        metrics = QFontMetricsF(self.small)
        if is_turned:
            return at - metrics.height() / 2, at + metrics.height() / 2
        room = widest(text.splitlines(), metrics) + LABEL_GAP_PX / 2
        return (left := self._left(at, room / 2)), left + room

    def _left(self, at: float, half: float) -> float:
        """The left end of a text of twice the width `half`, kept on the page."""
        return min(max(at - half, self.page.left() + 1), self.page.right() - 1 - 2 * half)


def draw_upwards(p: QPainter, text: str, at: QPointF, share: float) -> None:
    """Write text upwards at a place, with this share of it below."""
    metrics = QFontMetricsF(p.font())
    p.save()
    p.translate(at)
    p.rotate(-90)
    down = (metrics.ascent() - metrics.descent()) / 2
    p.drawText(QPointF(-share * metrics.horizontalAdvance(text), down), text)
    p.restore()


# -- ticks


def _span(ends: Range) -> float:
    return ends[1] - ends[0]


def _ticks(axis: Axis, ends: Range, gap: float) -> Ticks:
    """Places and texts of the ticks between two places; round ones are `gap` apart."""
    low, high = ends
    if axis.ticks:
        found = ((axis.place(value), text) for value, text in axis.ticks)
        return [(place, text) for place, text in found if low <= place <= high]
    places = log_ticks(low, high, gap) if axis.is_log else even_ticks(low, high, gap)
    return [(place, _written(axis, place)) for place in places]


def _written(axis: Axis, place: float) -> str:
    if place == 0 and not axis.is_log:
        return "0"  # of whatever unit
    return shortened(axis.words(10**place if axis.is_log else place))


def shortened(text: str) -> str:
    """Drop zeros that say nothing on an axis: 1 ms for 1.00 ms, 2.5× for 2.50×."""
    return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), text)


def apart(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The numbers of those (begin, end) that do not overlap; the first and the last come first."""
    kept = [0, len(spans) - 1] if len(spans) > 1 and spans[0][1] <= spans[-1][0] else []
    kept = kept or list(range(len(spans)))[-1:]
    for number in reversed(range(1, len(spans) - 1)):
        low, high = spans[number]
        if all(high <= spans[each][0] or spans[each][1] <= low for each in kept):
            kept.append(number)
    return sorted(kept)


def log_ticks(low: float, high: float, gap: float) -> list[float]:
    """log₁₀ of ticks at 1, 2, 5 or 1, 10 … at least `gap` apart; if it is one, two digits."""

    def seen(step: int, mantissas: Sequence[int]) -> list[float]:
        decades = range(math.floor(low), math.ceil(high) + 1)
        places = (d + math.log10(m) for d in decades if d % step == 0 for m in mantissas)
        return [place for place in places if low <= place <= high]

    for step in LOG_STEPS:
        ticks = seen(*step)
        if all(after - before >= gap for before, after in pairwise(ticks)):
            break
    digits = seen(1, range(1, 10))
    is_one = len(ticks) < 2 and digits and digits[-1] - digits[0] >= gap
    return [digits[0], digits[-1]] if is_one else ticks


def even_ticks(low: float, high: float, gap: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, `gap` apart, but at least two."""

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
    """The width of the widest of some texts."""
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
