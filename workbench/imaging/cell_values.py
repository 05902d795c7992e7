"""Values written into their pixels: one layer to lay over the picture.

It is put together from ready-made digits by NumPy, on another thread: thousands of numbers take a
painter far longer than a frame lasts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from workbench.imaging.display import Bytes

WIDEST = {"uint8": 3, "uint16": 5, "float16": 6, "float32": 6}  # characters
NAMES = {1: "", 2: " α", 3: "RGB", 4: "RGBα"}  # what stands before the value of each channel
ALPHABET = " 0123456789-.+einfaRGBα"
FAINT = 0.6  # how strong a channel's letter is beside its number
LIGHT = 140  # above, ink is black: where black and white are read about as well
MARGIN = 2  # pixels around what is in view, so that a small pan needs nothing new

Region = tuple[int, int, int, int]  # left, top, right, bottom, in pixels of the picture

_PLACES = np.zeros(1 << 10, np.int64)  # of each character's code in the alphabet
_PLACES[[ord(character) for character in ALPHABET]] = range(len(ALPHABET))


@dataclass(frozen=True, slots=True, eq=False)
class CellRequest:
    """The numbers to write, and where.

    samples  (H, W, C), and `pixels`, as of a Display: how they are shown, for the colour of the ink
    digits   coverage of each glyph's pixels, (len(ALPHABET), height, width)
    """

    samples: NDArray[Any]
    pixels: Bytes
    region: Region  # which of them
    scale: float  # device pixels a pixel
    digits: Bytes


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The layer for a request, premultiplied.

    Its corner stands at `corner`, in device pixels from the picture's.
    """

    asked: CellRequest
    image: QImage
    corner: tuple[int, int]
    memory: Bytes


def written(asked: CellRequest) -> Cells:
    """Write a request's numbers, channels from top to bottom."""
    left, top, right, bottom = asked.region
    side = math.floor(asked.scale)
    covered = _in_cells(asked, side)
    x0, y0 = math.floor(left * asked.scale), math.floor(top * asked.scale)
    across, down = math.ceil(right * asked.scale) - x0, math.ceil(bottom * asked.scale) - y0
    memory = np.zeros((down, across, 4), np.uint8)
    xs = np.floor(np.arange(left, right) * asked.scale).astype(np.int64) - x0
    ys = np.floor(np.arange(top, bottom) * asked.scale).astype(np.int64) - y0
    ink = _ink(asked.pixels[top:bottom, left:right])
    for y, line, inks in zip(ys, covered, ink, strict=True):
        for x, cell, white in zip(xs, line, inks, strict=True):
            place = memory[y : y + side, x : x + side]
            place[..., 3] = cell
            if white:
                place[..., :3] = cell[..., np.newaxis]
    image = QImage(
        memory.data, across, down, memory.strides[0], QImage.Format.Format_ARGB32_Premultiplied
    )
    return Cells(asked, image, (x0, y0), memory)


def columns_of(channels: int, pixel_type: str) -> int:
    """Characters in a line of a cell: a channel's letter and its value."""
    return WIDEST[pixel_type] + (2 if NAMES[channels] else 0)


def in_characters(value: float) -> str:
    """Return a value in at most six characters: -0.123, 12.5, 65535, -1e-05, nan."""
    if value == 0:
        return "0"
    if 999.5 <= abs(value) < 99999.5:  # three digits would be written with an exponent
        return f"{value:.0f}"
    texts = (f"{value:.{digits}g}" for digits in (3, 2, 1))
    fitting = [text for text in texts if len(text) <= WIDEST["float32"]]
    return fitting[0] if fitting else f"{value:.0e}".replace("e+", "e")


def _in_cells(asked: CellRequest, side: int) -> Bytes:
    """Coverage of each pixel of each cell: (rows, columns, side, side)."""
    left, top, right, bottom = asked.region
    values = asked.samples[top:bottom, left:right]
    rows, columns, channels = values.shape
    wide = columns_of(channels, str(values.dtype))
    write = str if values.dtype.kind == "u" else in_characters
    numbers = WIDEST[str(values.dtype)]
    leads = [name and f"{name} " for name in NAMES[channels]] or [""]
    texts = [
        leads[place % channels] + write(value).rjust(numbers)
        for place, value in enumerate(values.ravel().tolist())
    ]
    codes = np.frombuffer("".join(texts).encode("utf-16-le"), np.uint16)
    _, height, width = asked.digits.shape
    shapes = asked.digits[_PLACES[codes]]
    shapes = shapes.reshape(rows, columns, channels, wide, height, width)
    blocks = shapes.transpose(0, 1, 2, 4, 3, 5).reshape(
        rows, columns, channels * height, wide * width
    )
    cells = np.zeros((rows, columns, side, side), np.uint8)
    y, x = (side - blocks.shape[2]) // 2, (side - blocks.shape[3]) // 2
    cells[:, :, y : y + blocks.shape[2], x : x + blocks.shape[3]] = blocks
    return cells


def _ink(pixels: Bytes) -> NDArray[np.bool_]:
    """True where white is read better than black, for each pixel.

    The pixels are (H, W, 4) blue, green, red, or (H, W) grey.
    """
    if pixels.ndim == 2:
        return pixels < LIGHT
    light = pixels[..., :3] @ np.array([0.114, 0.587, 0.299])
    white: NDArray[np.bool_] = light < LIGHT
    return white
