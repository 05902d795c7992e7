"""The values of a sweep as a line of text: presets, and how to read what the user typed."""

from __future__ import annotations

import re

from kernels import tuner
from kernels.job import LARGEST_KSIZE
from kernels.sweep import Dimension, Value

PRESETS: dict[Dimension, str] = {
    "image size": "256, 512, 1024, 2048, 4096",
    "kernel size": "3, 5, 7, 9, 11, 15, 31",
    "block shape": ", ".join(f"{x}×{y}" for x, y in tuner.PRESETS),
}
LARGEST_SIDE = 16384
BLOCK = re.compile(r"(\d{1,4})\s*[×xX*]\s*(\d{1,4})")


def parse(dimension: Dimension, text: str, sizes: range = range(1, 128, 2)) -> tuple[Value, ...]:
    """What `text` lists, without repeats.

    sizes  the kernel sizes that the filter takes
    Raises ValueError with a sentence for the user.
    """
    words = [word for word in re.split(r"[,;]|\s+(?![×xX*])(?<![×xX*]\s)", text) if word.strip()]
    if not words:
        raise ValueError(f"List at least one {dimension}, as in “{PRESETS[dimension]}”.")
    return tuple(dict.fromkeys(_value(dimension, word.strip(), sizes) for word in words))


def _value(dimension: Dimension, word: str, sizes: range) -> Value:
    match dimension:
        case "image size":
            return _image_size(word)
        case "kernel size":
            return _kernel_size(word, sizes)
        case "block shape":
            return _block_shape(word)


def _image_size(word: str) -> int:
    side = int(word) if word.isdecimal() else 0
    if not 1 <= side <= LARGEST_SIDE:
        raise ValueError(
            f"“{word}” is no image size; give pixels a side, from 1 to {LARGEST_SIDE}."
        )
    return side


def _kernel_size(word: str, sizes: range) -> int:
    ksize = int(word) if word.isdecimal() else 0
    if not 1 <= ksize <= LARGEST_KSIZE or ksize % 2 == 0:
        raise ValueError(f"“{word}” is no kernel size; give odd numbers from 1 to {LARGEST_KSIZE}.")
    if ksize not in sizes:
        takes = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        raise ValueError(f"This filter has no size {ksize}; it takes {takes}.")
    return ksize


def _block_shape(word: str) -> tuple[int, int]:
    found = BLOCK.fullmatch(word)
    x, y = (int(found[1]), int(found[2])) if found else (0, 0)
    if x < 1 or y < 1:
        raise ValueError(f"“{word}” is no block shape; give threads across × down, as in 32×8.")
    return x, y
