"""Values written into their pixels, on another thread: one layer to lay over the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from workbench.base import theme
from workbench.base.numbers import within
from workbench.imaging.display import Bytes

WIDEST = {"uint8": 3, "uint16": 5, "float16": 6, "float32": 6}  # characters
NAMES = {1: "", 2: " α", 3: "RGB", 4: "RGBα"}  # what stands before the value of each channel
SIZES_PX = range(15, 5, -1)  # of the font, largest first
ROOM = 0.84  # share of a cell for its text, which leaves a gap between cells
LIGHT = 140  # above, ink is black: where black and white are read about as well


@dataclass(frozen=True, slots=True, eq=False)
class CellRequest:
    """The numbers to write, and where."""

    samples: NDArray[Any]  # (H, W, C)
    pixels: Bytes  # as of a Display: how they are shown, for the colour of the ink
    region: QRect  # which of them
    scale: float  # device pixels a pixel
    font: QFont


def written(asked: CellRequest) -> QImage:
    """Write numbers, channels from top to bottom; the offset is from the picture's corner.

    NumPy puts them together from glyphs: a painter would hold up frames for thousands of numbers.
    """
    scale, side = asked.scale, math.floor(asked.scale)
    left, top = asked.region.left(), asked.region.top()
    right, bottom = asked.region.right() + 1, asked.region.bottom() + 1
    x0, y0 = math.floor(left * scale), math.floor(top * scale)
    across, down = math.ceil(right * scale) - x0, math.ceil(bottom * scale) - y0
    image = QImage(across, down, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    memory = np.frombuffer(image.bits(), np.uint8).reshape(down, across, 4)
    cells = _cells(asked.samples[top:bottom, left:right], asked.font)
    height, width = cells.shape[2:]
    light: NDArray[Any] = asked.pixels[top:bottom, left:right]
    if light.ndim == 3:  # blue, green, red
        light = light[..., :3] @ np.array([0.114, 0.587, 0.299])
    is_dark = (light < LIGHT).tolist()
    xs = [math.floor(x * scale) - x0 + (side - width) // 2 for x in range(left, right)]
    for y, row, inks in zip(range(top, bottom), cells, is_dark, strict=True):
        begin = math.floor(y * scale) - y0 + (side - height) // 2
        for x, cell, is_white in zip(xs, row, inks, strict=True):
            place = memory[begin : begin + height, x : x + width]
            place[..., 3] = cell
            if is_white:
                place[..., :3] = cell[..., np.newaxis]
    image.setOffset(QPoint(x0, y0))
    return image


def _cells(samples: NDArray[Any], font: QFont) -> Bytes:
    """How much of each of its pixels a cell's text covers: (rows, columns, height, width)."""
    texts = texts_of(samples)
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    is_used = np.bincount(codes) > 0
    characters = map(chr, np.flatnonzero(is_used).tolist())
    glyphs = np.stack([_glyph(each, font.pixelSize()) for each in characters])
    _, height, width = glyphs.shape
    drawn = glyphs[(np.cumsum(is_used) - 1)[codes]].reshape(
        *samples.shape, len(texts[0]), height, width
    )
    rows, columns, channels = samples.shape
    by_lines: Bytes = drawn.transpose(0, 1, 2, 4, 3, 5)
    return by_lines.reshape(rows, columns, channels * height, len(texts[0]) * width)


@lru_cache(256)
def _glyph(character: str, size: int) -> Bytes:
    """A character in white on black, in the place that each has: (height, width)."""
    font = _font(size)
    metrics = QFontMetrics(font)
    width, height = metrics.horizontalAdvance("0"), metrics.ascent() + 1
    image = QImage(width, height, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(Qt.GlobalColor.white)
    painter.drawText(0, metrics.ascent(), character)
    painter.end()
    lines = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    return lines[:, :width].copy()


def texts_of(samples: NDArray[Any]) -> list[str]:
    """A channel's letter and its value, of each sample in turn."""
    wide = WIDEST[str(samples.dtype)]
    write = str if samples.dtype.kind == "u" else partial(within, most=wide)
    leads = [name and f"{name} " for name in NAMES[samples.shape[2]]] or [""]
    values = zip(samples.ravel().tolist(), cycle(leads), strict=False)
    return [lead + write(value).rjust(wide) for value, lead in values]


def text_size(font: QFont, samples: NDArray[Any]) -> tuple[int, int]:
    """The width and height of the widest text in a cell."""
    return _text_size(font.pixelSize(), samples.shape[2], str(samples.dtype))


@lru_cache(64)  # each frame asks
def _text_size(size: int, channels: int, pixel_type: str) -> tuple[int, int]:
    metrics = QFontMetrics(_font(size))
    columns = WIDEST[pixel_type] + (2 if NAMES[channels] else 0)
    return columns * metrics.horizontalAdvance("0"), channels * (metrics.ascent() + 1)


@lru_cache(len(SIZES_PX))
def _font(size: int) -> QFont:
    font = theme.fixed_font()
    font.setPixelSize(size)
    return font


def font_for(side: int, samples: NDArray[Any]) -> QFont | None:
    """The largest font whose numbers fit a cell of `side` pixels; None where none does."""
    fitting = (
        font for font in map(_font, SIZES_PX) if max(text_size(font, samples)) <= ROOM * side
    )
    return next(fitting, None)
