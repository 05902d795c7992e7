"""The machine code of `parallel`; importing this imports numba, so it is imported when first used.

A thread owns a band of rows and walks down it.  It keeps the K rows around the present one as
float32, borders included, in a ring; the sums of a stretch of the row stay in the first-level cache
while all K × K weights are added to them, two at a time, so that half as many sums are loaded and
stored again.  Every sum adds the same products in the same order as `sequential`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit, prange

STRETCH = 1024  # sums at a time: 4 KiB

# GNU's OpenMP, where numba finds it, reads this when it is loaded, unless something else loaded it.
# By itself it keeps threads that wait spinning for milliseconds: where anything else runs on the
# cores, a loop of 0.7 ms takes 24.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def compiled(loops: Callable[..., None], *, is_parallel: bool = False) -> Any:
    """Have numba compile `loops` when they are first called."""
    # "contract" lets a product and a sum become one instruction, as C compilers do by themselves.
    how: dict[str, Any] = {"nogil": True, "parallel": is_parallel, "fastmath": {"contract"}}
    try:
        return njit(cache=True, **how)(loops)
    except RuntimeError:  # numba found no folder that it may keep machine code in
        return njit(**how)(loops)


@compiled
def load_row(line: Any, picture: Any, row: Any, column_at: Any) -> None:
    """Fill `line` with row `row` of `picture` as float32, and with what lies beyond its ends."""
    samples = picture.shape[1]
    beyond = column_at.shape[0] // 2
    if row < 0:
        for x in range(line.shape[0]):
            line[x] = np.float32(0)
        return
    source = picture[row]
    inner = line[beyond : beyond + samples]
    for x in range(samples):
        inner[x] = np.float32(source[x])
    right = line[beyond + samples :]
    for x in range(beyond):
        left_at, right_at = column_at[x], column_at[beyond + x]
        line[x] = np.float32(source[left_at]) if left_at >= 0 else np.float32(0)
        right[x] = np.float32(source[right_at]) if right_at >= 0 else np.float32(0)


@compiled
def store(total: Any, target: Any, integers: bool, largest: Any) -> None:
    """Put sums into samples: integers rounded half to even and saturated."""
    if integers:
        for x in range(target.shape[0]):
            target[x] = min(max(np.rint(total[x]), np.float32(0)), largest)
    else:
        for x in range(target.shape[0]):
            target[x] = total[x]


@compiled
def copy_alpha(source: Any, target: Any, channels: int) -> None:
    for x in range(channels - 1, target.shape[0], channels):
        target[x] = source[x]


@compiled
def sum_band(picture: Any, out: Any, how: Any, first: int, last: int) -> None:
    """Fill rows `first` to `last` of `out`; `how` as `parallel._sums` has it."""
    row_at, column_at, weights, offset, channels, has_alpha, integers, largest = how
    ksize = weights.shape[0]
    ring = np.empty((ksize, picture.shape[1] + column_at.shape[0]), np.float32)
    sums = np.empty(STRETCH, np.float32)
    for y in range(first, first + ksize - 1):
        load_row(ring[y % ksize], picture, row_at[y], column_at)
    for y in range(first, last):
        below = y + ksize - 1
        load_row(ring[below % ksize], picture, row_at[below], column_at)
        for start in range(0, out.shape[1], STRETCH):
            target = out[y, start : start + STRETCH]
            count = target.shape[0]
            for x in range(count):
                sums[x] = offset
            for j in range(ksize):
                line = ring[(y + j) % ksize, start:]
                for i in range(0, ksize - 1, 2):
                    one, other = weights[j, i], weights[j, i + 1]
                    here = line[i * channels : i * channels + count]
                    beside = line[(i + 1) * channels : (i + 1) * channels + count]
                    for x in range(count):
                        total = sums[x] + one * here[x]
                        sums[x] = total + other * beside[x]
                one = weights[j, ksize - 1]
                here = line[(ksize - 1) * channels : (ksize - 1) * channels + count]
                for x in range(count):
                    sums[x] += one * here[x]
            store(sums, target, integers, largest)
        if has_alpha:
            copy_alpha(picture[y], out[y], channels)


@compiled
def length_band(weighted: Any, picture: Any, out: Any, how: Any, first: int, last: int) -> None:
    """Fill rows `first` to `last` of `out` with the length of Sobel's derivatives of `weighted`."""
    row_at, column_at, channels, has_alpha, integers, largest = how
    ring = np.empty((3, out.shape[1] + column_at.shape[0]), np.float32)
    for y in range(first, first + 2):
        load_row(ring[y % 3], weighted, row_at[y], column_at)
    for y in range(first, last):
        load_row(ring[(y + 2) % 3], weighted, row_at[y + 2], column_at)
        above, here, below = ring[y % 3], ring[(y + 1) % 3], ring[(y + 2) % 3]
        target = out[y]
        for x in range(target.shape[0]):
            middle, right = x + channels, x + 2 * channels
            gx = above[right] - above[x]
            gx += np.float32(2) * (here[right] - here[x])
            gx += below[right] - below[x]
            gy = below[x] - above[x]
            gy += np.float32(2) * (below[middle] - above[middle])
            gy += below[right] - above[right]
            # In double precision, where no square overflows.
            length = np.float32(np.sqrt(np.float64(gx) ** 2 + np.float64(gy) ** 2))
            target[x] = min(np.rint(length), largest) if integers else length
        if has_alpha:
            copy_alpha(picture[y], target, channels)


# Two functions that share nothing but their form: numba caches no machine code of a parallel loop
# over a function that is an argument.
@partial(compiled, is_parallel=True)
def sum_rows(picture: Any, out: Any, how: Any, first: int, last: int, bands: int) -> None:
    rows = last - first
    for band in prange(bands):
        start, stop = first + rows * band // bands, first + rows * (band + 1) // bands
        sum_band(picture, out, how, start, stop)


@partial(compiled, is_parallel=True)
def length_rows(
    weighted: Any, picture: Any, out: Any, how: Any, first: int, last: int, bands: int
) -> None:
    rows = last - first
    for band in prange(bands):
        start, stop = first + rows * band // bands, first + rows * (band + 1) // bands
        length_band(weighted, picture, out, how, start, stop)
