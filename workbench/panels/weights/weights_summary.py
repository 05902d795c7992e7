"""The summary of weights: sum, rank and frequency response, in numbers, words, a picture."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QCheckBox, QFrame, QSizePolicy, QWidget

from kernels.core.weights import frequency_response, gain, separable_terms
from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.base.table_text import compact
from workbench.charts.canvas import Canvas
from workbench.charts.data.figure import Spot
from workbench.panels.weights.weights_draft import brightness_in_words
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

RESPONSE_SIZE = 128  # frequencies along an axis
HALF = 0.5
NOTHING = 1e-6  # relative to the largest: what float32 leaves where weights cancel


def facts(weights: NDArray[np.float32], offset: float = 0.0) -> list[tuple[str, str, str]]:
    """Rows (name, value, meaning) that describe weights, and the offset, a part of white."""
    total, largest = float(weights.astype(np.float64).sum()), gain(weights)
    total = total if abs(total) > NOTHING * largest else 0.0
    found = len(separable_terms(weights)) if weights.any() else 0
    return [
        (
            *("Sum", compact(total, 3)),
            f"offset {compact(offset, 3)} × white" if offset else brightness_in_words(total),
        ),
        ("Σ|w|", compact(largest, 3), "largest possible gain"),
        ("Rank", str(found), _separability(found, len(weights))),
    ]


def response_in_words(weights: NDArray[np.float32], values: NDArray[np.float64]) -> str:
    """Describe a response: "Flat areas ×1, finest stripes ×0, checkerboard ×0. Half …"."""
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
    """Gains of a flat area, the finest stripes across and down, and a checkerboard."""
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


FLOOR_DB = -60.0  # relative to the largest value: dark on the logarithmic scale
TICKS = (-0.5, 0.0, 0.5)
SPOTS = 32  # to point at, along an axis
NO_RESPONSE = "Unknown while a cell is not a number."


class ResponseView(Canvas):
    """The magnitude of the spectrum, with axes in cycles per pixel; its spots have the values."""

    def __init__(self) -> None:
        super().__init__("")
        described(self, "weights-response", "Frequency response")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(190)
        self._values: NDArray[np.float64] | None = None
        self._is_log = False
        self.ready.connect(self._draw)

    def show_response(self, values: NDArray[np.float64] | None, words: str) -> None:
        """Show an (N, N) response, the frequency 0 in the middle; None: there are no weights."""
        self._values = values
        self.show_summary(words or NO_RESPONSE)
        self._empty.setText("" if words else NO_RESPONSE)  # while there is no plot yet, nothing
        self._draw()

    def show_logarithmic(self, is_log: bool) -> None:
        """Switch between a linear scale and one in dB."""
        self._is_log = is_log
        self._draw()

    def _draw(self) -> None:
        plot, values = self.plot, self._values
        if plot is None or values is None or not self.isVisible():
            self.show_spots(())
            return
        from pyqtgraph import ImageItem

        from workbench.charts.drawing.marks import cividis
        from workbench.charts.drawing.plotting import emptied, make_room

        size, largest = len(values), float(values.max())
        shade = values / (largest or 1.0)
        ends = "0", compact(largest, 3)
        if self._is_log and largest > 0:
            shade = 1 - 20 * np.log10(np.maximum(shade, 1e-9)) / FLOOR_DB
            highest = 20 * np.log10(largest)
            ends = f"{highest + FLOOR_DB:.0f} dB", f"{highest:.0f} dB"
        emptied(plot)
        colours = [cividis(step / 255) for step in range(256)]
        table = np.array([(c.red(), c.green(), c.blue()) for c in colours], np.uint8)
        picture = ImageItem(shade[::-1].T, levels=(0, 1), lut=table)
        picture.setRect(-0.5 - 0.5 / size, -0.5 + 0.5 / size, 1.0, 1.0)  # rows go down
        plot.addItem(picture)
        for name, sign in (("left", -1), ("bottom", 1)):
            ticks = [(sign * tick, f"{tick:g}".replace("-", "−")) for tick in TICKS]
            plot.getAxis(name).show_scale(fixed=ticks, has_grid=False)
        plot.setAspectLocked(True)
        plot.setRange(xRange=(-0.5, 0.5), yRange=(-0.5, 0.5), padding=0)
        above = f"Gain · dark {ends[0]} to light {ends[1]}".replace("-", "−")
        captions = above, "cycles per pixel"
        font = scaled_font(0.85 * factor_of(self))
        font.setPixelSize(QFontInfo(font).pixelSize())
        make_room(plot, captions, theme.colors(self.palette()), font)
        step = max(size // SPOTS, 1)
        places = range(0, size, step)
        self.show_spots([_spot(values, x, y, step / size / 2) for y in places for x in places])
        middle = len(places) // 2
        self._at = middle * len(places) + middle


def _spot(values: NDArray[np.float64], column: int, row: int, half: float) -> Spot:
    size, value = len(values), float(values[row, column])
    across, down = (column - size // 2) / size, (row - size // 2) / size
    decibels = f", {20 * np.log10(value):.1f} dB" if value > 0 else ""
    place = f"{across:+.3f}, {down:+.3f} cycles/pixel (x, y)"
    text = f"{place}: ×{compact(value, 4)}{decibels}".replace("-", "−")
    box = (across - half, -down - half, across + half, -down + half)
    return Spot(across, -down, text, box=box)


TITLE = "What these weights do"
UNKNOWN = [(name, "–", "") for name in ("Sum", "Σ|w|", "Rank")]


class WeightsSummary(QFrame):
    """The box with sum, rank and frequency response of the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(TITLE)
        self.setProperty("card", True)
        self._facts = Label(name="weights-facts", wraps=True, is_selectable=True)
        self._facts.setTextFormat(Qt.TextFormat.RichText)
        self._facts.setToolTip("Rank: how many separable filters add up to this one.")
        self._response = ResponseView()
        self._in_words = Label(name="weights-response-words", is_muted=True, wraps=True, lines=4)
        tip = "In decibels, down to 60 dB below the largest: shows how well the rest is suppressed."
        log = described(QCheckBox("Logarithmic"), "weights-log", "", tip)
        log.toggled.connect(self._response.show_logarithmic)
        heading = Label("Frequency response")
        heading.setBuddy(self._response)
        top = HBox().add((heading, 1), log)
        self.response = QWidget()
        VBox(self.response, 0).add(top, (self._response, 1), self._in_words)
        VBox(self).add(self._facts, (self.response, 1))

    def show_weights(self, weights: NDArray[np.float32] | None, offset: float) -> None:
        """Describe weights, (K, K); None: some cell is no number."""
        if weights is None:
            values, told, words = None, UNKNOWN, ""
        else:
            values, told = frequency_response(weights, RESPONSE_SIZE), facts(weights, offset)
            words = response_in_words(weights, values)
        cells = "".join(
            f"<tr><td>{escape(name)}&nbsp;&nbsp;</td><td align='right'><b>{escape(value)}</b></td>"
            f"<td style='padding-left: 8px'>{escape(meaning)}</td></tr>"
            for name, value, meaning in told
        )
        self._facts.setText(f"<table cellspacing='2'>{cells}</table>")
        self._response.show_response(values, words)
        self._in_words.setText(words)
