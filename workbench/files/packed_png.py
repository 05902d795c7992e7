"""PNG files whose rows are filtered here and packed in one go, by libdeflate.

That takes half of libpng's time, which packs with zlib, and on photographs gives smaller files.  It
takes as much memory as the samples once more, so libpng writes what is very large.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from workbench.files import png

MAX_BYTES = 1 << 27  # of samples
LEVEL = 1
BAND_BYTES = 1 << 21  # of rows that are filtered at once
SUB, UP = 1, 2  # filters, as PNG numbers them: the difference to the pixel before, or above
STEP = 5  # of bytes, one tells which filter is the better one; any channel's, so no channel's count
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels


def parts_of(
    samples: NDArray[Any], more: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes | memoryview]:
    """Yield the parts of a file of (H, W, C) of uint8 or uint16.

    more  chunks to be put in front of the samples, by kind
    """
    height, width, channels = samples.shape
    bits = 8 * samples.itemsize
    header = struct.pack(">IIBBBBB", width, height, bits, _COLOUR_TYPES[channels], 0, 0, 0)
    yield png.SIGNATURE
    for kind, data in ((b"IHDR", header), *more):
        yield from png.chunk_parts(kind, data)
    rows: Any = filtered(samples).reshape(-1)
    yield from png.chunk_parts(b"IDAT", bytes(imagecodecs.deflate_encode(rows, level=LEVEL)))
    yield from png.chunk_parts(b"IEND", b"")


def filtered(samples: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the rows as PNG has them: a filter's number, and the differences that it leaves.

    Of each row those of the two filters that are the smaller ones.
    """
    height, width, channels = samples.shape
    apart = channels * samples.itemsize  # bytes from a pixel to the next
    made = np.empty((height, 1 + width * apart), np.uint8)
    above = np.zeros((1, width * apart), np.uint8)
    rows = max(BAND_BYTES // (width * apart), 1)
    for top in range(0, height, rows):
        band = _as_bytes(samples[top : top + rows])
        _filter(band, np.concatenate([above, band[:-1]]), apart, made[top : top + rows])
        above = band[-1:]
    return made


def _as_bytes(samples: NDArray[Any]) -> NDArray[np.uint8]:
    """Return rows of bytes, of 16 bits the higher one first."""
    ordered = np.ascontiguousarray(samples, samples.dtype.newbyteorder(">"))
    return ordered.reshape(len(samples), -1).view(np.uint8)


def _filter(
    rows: NDArray[np.uint8], above: NDArray[np.uint8], apart: int, made: NDArray[np.uint8]
) -> None:
    """Fill `made`, a byte wider than `rows`; `above` are those above each of them."""
    made[:, 0] = SUB
    left = made[:, 1:]
    left[:, :apart] = rows[:, :apart]
    np.subtract(rows[:, apart:], rows[:, :-apart], out=left[:, apart:])
    up = rows - above
    is_less = _size(up) < _size(left)
    made[is_less, 0] = UP
    left[is_less] = up[is_less]


def _size(differences: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how far a row's differences, which have a sign, are from 0 all together."""
    some = differences[:, ::STEP].view(np.int8).astype(np.int16)
    total: NDArray[np.int64] = np.abs(some).sum(axis=1, dtype=np.int64)
    return total
