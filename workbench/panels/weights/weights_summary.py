"""The summary of weights: sum, rank and frequency response, in numbers, words, a picture."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QCheckBox, QFrame, QSizePolicy, QToolTip, QWidget

from kernels.core.weights import frequency_response, gain, separable_terms
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.table_text import compact
from workbench.panels.weights.weights_draft import brightness_in_words
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.keyboard import ARROWS

RESPONSE_SIZE = 128  # frequencies along an axis
HALF = 0.5
NOTHING = 1e-6  # relative to the largest: what float32 leaves where weights cancel


def rank(weights: NDArray[np.float32]) -> int:
    """Return the number of separable filters that add up to `weights`, (K, K)."""
    return len(separable_terms(weights)) if weights.any() else 0


def facts(weights: NDArray[np.float32], offset: float = 0.0) -> list[tuple[str, str, str]]:
    """Return the rows (name, value, meaning) that describe `weights`, (K, K).

    offset  what is added, as a part of white
    """
    total, largest = float(weights.astype(np.float64).sum()), gain(weights)
    total = total if abs(total) > NOTHING * largest else 0.0
    found, size = rank(weights), len(weights)
    return [
        (
            *("Sum", compact(total, 3)),
            f"offset {compact(offset, 3)} × white" if offset else brightness_in_words(total),
        ),
        ("Σ|w|", compact(largest, 3), "largest possible gain"),
        ("Rank", str(found), _separability(found, size)),
    ]


def _as_html(rows: list[tuple[str, str, str]]) -> str:
    cells = "".join(
        f"<tr><td>{escape(name)}&nbsp;&nbsp;</td><td align='right'><b>{escape(value)}</b></td>"
        f"<td style='padding-left: 8px'>{escape(meaning)}</td></tr>"
        for name, value, meaning in rows
    )
    return f"<table cellspacing='2'>{cells}</table>"


def response_in_words(weights: NDArray[np.float32], values: NDArray[np.float64]) -> str:
    """Describe a response: "Flat areas ×1, finest stripes ×0, checkerboard ×0. Half …".

    values  its frequency response, which has no signs; below zero dark and bright change places
    """
    middle = len(values) // 2
    even = values[middle, middle]
    least = NOTHING * values.max()
    told = [compact(value if abs(value) > least else 0.0, 3) for value in _extremes(weights)]
    flat, across, down, checkerboard = told
    stripes = f"×{across}" if across == down else f"×{across} (vertical), ×{down} (horizontal)"
    words = f"Flat areas ×{flat}, finest stripes {stripes}, checkerboard ×{checkerboard}."
    row = values[middle, middle:] / even if even > 0 else values[middle, middle:]
    below = np.flatnonzero(row < HALF)
    if even > 0 and below.size and row.max() <= 1 + 1e-6:
        words += f" Half amplitude at {below[0] / len(values):.2f} cycles/pixel (horizontally)."
    return words


def _extremes(weights: NDArray[np.float32]) -> tuple[float, float, float, float]:
    """Return the gain of a flat area, the finest stripes across and down, and a checkerboard.

    These are the frequencies whose response is real, so that it has a sign.
    """
    exact = weights.astype(np.float64)
    stripes = (-1.0) ** np.abs(np.arange(len(exact)) - len(exact) // 2)
    across, down = exact * stripes, exact * stripes[:, np.newaxis]
    both = across * stripes[:, np.newaxis]
    return float(exact.sum()), float(across.sum()), float(down.sum()), float(both.sum())


def _separability(found: int, size: int) -> str:
    if found == 0:
        return "all weights are zero"
    if size == 1:
        return "one product per sample"
    if found == 1:
        return f"separable: {2 * size} products per sample, not {size * size}"
    products = 2 * found * size
    if products < size * size:
        return f"{found} separable ones: {products} of {size * size} products"
    return "not separable"


FLOOR_DB = -60.0  # relative to the largest value: black on the logarithmic scale
STOPS = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")  # viridis
TICKS = (-0.5, -0.25, 0.0, 0.25, 0.5)
LEGEND_PX = 12


def ticks_across(width_px: float, metrics: QFontMetrics) -> tuple[float, ...]:
    """Return the ticks whose labels have room side by side: all, or every other one."""
    wide = [metrics.horizontalAdvance(_in_words(tick)) for tick in TICKS]
    needed = max(map(sum, pairwise(wide))) / 2 + metrics.horizontalAdvance(" ")
    return TICKS if width_px / (len(TICKS) - 1) >= needed else TICKS[::2]


def _in_words(tick: float) -> str:
    return f"{tick:g}".replace("-", "−")


class ResponseView(QWidget):
    """The magnitude of the spectrum, with axes in cycles per pixel.

    Its tooltip has the value under the pointer, its description that at the cross, which the
    arrow keys move.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("weights-response")
        self.setAccessibleName("Frequency response")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(180)
        self._values: NDArray[np.float64] | None = None
        self._image = QImage()
        self._is_log = False
        self._cross: tuple[int, int] | None = None  # column, row

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(300, 190)

    def show_response(self, values: NDArray[np.float64] | None, words: str) -> None:
        """Show an (N, N) response, the frequency 0 in the middle; None: there are no weights.

        words  response_in_words() of it
        """
        self._values = values
        self.setAccessibleDescription(words or "Unknown while a cell is not a number.")
        self._draw()

    def show_logarithmic(self, is_log: bool) -> None:
        """Switch between a linear scale and one in dB."""
        self._is_log = is_log
        self._draw()

    def value_text(self, column: int, row: int) -> str:
        """Return the response at a place of the picture, in words; "" beside it."""
        if self._values is None or not (0 <= column < len(self._values) > row >= 0):
            return ""
        size, value = len(self._values), float(self._values[row, column])
        across, down = (column - size // 2) / size, (row - size // 2) / size
        decibels = f", {20 * np.log10(value):.1f} dB" if value > 0 else ""
        place = f"{across:+.3f}, {down:+.3f} cycles/pixel (x, y)"
        return f"{place}: ×{compact(value, 4)}{decibels}".replace("-", "−")

    # -- pointing

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tip_text(self._words_at(event.pos())), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if self._values is None or (step := ARROWS.get(event.key())) is None:
            super().keyPressEvent(event)
            return
        size = len(self._values)
        column, row = self._cross or (size // 2, size // 2)
        by = 8 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self._cross = (
            min(max(column + by * step[0], 0), size - 1),
            min(max(row + by * step[1], 0), size - 1),
        )
        self.setAccessibleDescription(self.value_text(*self._cross))
        self.update()

    def _words_at(self, point: QPoint) -> str:
        square = self._square()
        if self._values is None or not square.contains(QPointF(point)):
            return "Gain by spatial frequency. Arrow keys move the cross."
        scale = len(self._values) / square.width()
        return self.value_text(
            int((point.x() - square.left()) * scale), int((point.y() - square.top()) * scale)
        )

    # -- painting

    def _draw(self) -> None:
        """Make a picture of the values, and paint it."""
        values = self._values
        if values is None or not values.max():
            shade = np.zeros((1, 1))
        elif self._is_log:
            shade = 1 - 20 * np.log10(np.maximum(values / values.max(), 1e-9)) / FLOOR_DB
        else:
            shade = values / values.max()
        indices = np.clip(shade * 255, 0, 255).astype(np.intp)
        pixels = np.ascontiguousarray(_colours()[indices])
        height, width = pixels.shape
        made = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        self._image = made.copy()
        self.update()

    def _square(self) -> QRectF:
        """Return the box of the picture, with room for the axes and the scale around it."""
        line = self.fontMetrics().height()
        left, right = 3.1 * line, 2 * LEGEND_PX + 3.2 * line
        side = max(min(self.width() - left - right, self.height() - 2.9 * line), 16.0)
        return QRectF(left, 0.5 * line, side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter, colours, square = QPainter(self), theme.colors(self.palette()), self._square()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._values is not None:
            painter.drawImage(square, self._image)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawRect(square)
        self._paint_axes(painter, square)
        if self._values is not None:
            self._paint_scale(painter, square, float(self._values.max()))
        if self._cross and self._values is not None and self.hasFocus():
            self._paint_cross(painter, square)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRect(square.adjusted(-2, -2, 2, 2))

    def _paint_axes(self, painter: QPainter, square: QRectF) -> None:
        line = self.fontMetrics().height()
        painter.setPen(QColor(theme.colors(self.palette()).muted))
        across = ticks_across(square.width(), self.fontMetrics())
        for tick in TICKS:
            text, at = _in_words(tick), (tick + 0.5) * square.width()
            if tick in across:
                box = QRectF(square.left() + at - 30, square.bottom() + 2, 60, line)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            # The lowest label ends where the picture does, as the other axis's first is below it.
            top = square.top() + min(at - line / 2, square.height() - line)
            box = QRectF(0, top, square.left() - 5, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        box = QRectF(square.left(), square.bottom() + 2 + line, square.width(), line)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "cycles per pixel")

    def _paint_scale(self, painter: QPainter, square: QRectF, largest: float) -> None:
        """Paint the colour scale, largest at the top, with the values or decibels at its ends."""
        bar = QRectF(square.right() + LEGEND_PX, square.top(), LEGEND_PX, square.height())
        column = np.ascontiguousarray(_colours()[::-1][:, None])
        painter.drawImage(bar, QImage(column.data, 1, 256, 4, QImage.Format.Format_RGB32).copy())
        top, bottom = compact(largest, 3), "0"
        if self._is_log and largest > 0:
            highest = round(20 * np.log10(largest))
            top, bottom = (
                f"{each:.0f} dB".replace("-", "−") for each in (highest, highest + FLOOR_DB)
            )
        painter.setPen(QColor(theme.colors(self.palette()).muted))
        line = self.fontMetrics().height()
        for y, text in ((bar.top(), top), (bar.bottom() - line, bottom)):
            box = QRectF(bar.right() + 4, y, self.width() - bar.right() - 4, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_cross(self, painter: QPainter, square: QRectF) -> None:
        assert self._cross is not None
        assert self._values is not None
        scale = square.width() / len(self._values)
        x = square.left() + (self._cross[0] + 0.5) * scale
        y = square.top() + (self._cross[1] + 0.5) * scale
        painter.setPen(QPen(QColor("#ffffff"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, square.top()), QPointF(x, square.bottom()))
        painter.drawLine(QPointF(square.left(), y), QPointF(square.right(), y))
        text = self.value_text(*self._cross)
        box = QRectF(square.left() + 4, square.top() + 4, square.width() - 8, square.height())
        painter.setPen(QColor("#ffffff"))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(box, int(flags), text)


@lru_cache(maxsize=1)
def _colours() -> NDArray[np.uint32]:
    """Return (256,) colours between the stops, as 0xffRRGGBB."""
    stops = np.array([[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in STOPS], float)
    at = np.linspace(0, len(stops) - 1, 256)
    channels = [np.interp(at, np.arange(len(stops)), stops[:, n]) for n in range(3)]
    red, green, blue = (np.rint(each).astype(np.uint32) for each in channels)
    return np.asarray(0xFF000000 | red << 16 | green << 8 | blue, np.uint32)


TITLE = "What these weights do"
UNKNOWN = [(name, "–", "") for name in ("Sum", "Σ|w|", "Rank")]


class WeightsSummary(QFrame):
    """The box with sum, rank and frequency response of the weights.

    response  its part on the frequency response
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(TITLE)
        self.setProperty("card", True)
        self._facts = Label(name="weights-facts", wraps=True)
        self._facts.setTextFormat(Qt.TextFormat.RichText)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts.setToolTip("Rank: how many separable filters add up to this one.")
        self._response = ResponseView()
        self._in_words = Label(name="weights-response-words", is_muted=True, wraps=True)
        self._in_words.setMinimumHeight(4 * self._in_words.fontMetrics().lineSpacing())
        self._in_words.setAlignment(Qt.AlignmentFlag.AlignTop)
        log = QCheckBox("Logarithmic")
        log.setObjectName("weights-log")
        log.setToolTip(
            "In decibels, down to 60 dB below the largest: shows how well the rest is suppressed."
        )
        log.toggled.connect(self._response.show_logarithmic)
        heading = Label("Frequency response")
        heading.setBuddy(self._response)
        top = HBox()
        top.add((heading, 1), log)
        self.response = QWidget()
        VBox(self.response, 0).add(top, (self._response, 1), self._in_words)
        VBox(self).add(self._facts, (self.response, 1))

    def show_weights(self, weights: NDArray[np.float32] | None, offset: float) -> None:
        """Describe weights, (K, K); None: some cell is no number.

        offset  what is added, as a part of white
        """
        if weights is None:
            values, told, words = None, UNKNOWN, ""
        else:
            values, told = frequency_response(weights, RESPONSE_SIZE), facts(weights, offset)
            words = response_in_words(weights, values)
        self._facts.setText(_as_html(told))
        self._response.show_response(values, words)
        self._in_words.setText(words)
