"""The samples beyond the picture's edge: one definition, used by every CPU implementation.

The device's copy is `border_index` in `ladder/prelude.cuh`; the tests hold the two together.

======== ================== ============ ============== ==================
here     a b c d continues  numpy.pad    scipy.ndimage  OpenCV
======== ================== ============ ============== ==================
zero     0 0 | a b c d | 0  constant     constant       BORDER_CONSTANT
clamp    a a | a b c d | d  edge         nearest        BORDER_REPLICATE
reflect  b a | a b c d | d  symmetric    reflect        BORDER_REFLECT
mirror   c b | a b c d | c  reflect      mirror         BORDER_REFLECT_101
wrap     c d | a b c d | a  wrap         wrap           BORDER_WRAP
======== ================== ============ ============== ==================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]  # start, stop

BORDERS = ("zero", "clamp", "reflect", "mirror", "wrap")
OUTSIDE = -1


def source_indices(start: int, stop: int, size: int, border: str) -> NDArray[np.intp]:
    """Indices in [0, size) of positions start, ..., stop - 1, or OUTSIDE where they are zero."""
    at = np.arange(start, stop)
    match border:
        case "zero":
            return np.where((at >= 0) & (at < size), at, OUTSIDE)
        case "clamp":
            return np.clip(at, 0, size - 1)
        case "reflect":
            at = at % (2 * size)
            return np.minimum(at, 2 * size - 1 - at)
        case "mirror":
            period = max(2 * size - 2, 1)
            at = at % period
            return np.minimum(at, period - at) if size > 1 else at
        case "wrap":
            return at % size
    raise ValueError(f"unknown border {border!r}")


def read(
    picture: NDArray[Any], border: str, rows: tuple[int, int], columns: tuple[int, int]
) -> NDArray[Any]:
    """Copy a rectangle of `picture`, (H, W, C), continued beyond its edges by `border`."""
    height, width, channels = picture.shape
    ys = source_indices(*rows, height, border)
    xs = source_indices(*columns, width, border)
    top, bottom = np.searchsorted(np.arange(*rows), (0, height))
    left, right = np.searchsorted(np.arange(*columns), (0, width))
    rectangle = np.empty((len(ys), len(xs), channels), picture.dtype)
    # What lies inside the picture is copied whole; only what lies outside is picked out.
    band = picture[rows[0] + top : rows[0] + bottom]
    rectangle[top:bottom, left:right] = band[:, columns[0] + left : columns[0] + right]
    for side in (slice(0, left), slice(right, None)):
        rectangle[top:bottom, side] = band[:, xs[side]]
    for side in (slice(0, top), slice(bottom, None)):
        rectangle[side] = picture[ys[side, None], xs]
    if border == "zero":
        rectangle[ys == OUTSIDE] = 0
        rectangle[:, xs == OUTSIDE] = 0
    return rectangle


def read_made(
    make: Callable[[Span, Span], NDArray[Any]],
    size_hw: tuple[int, int],
    border: str,
    rows: Span,
    columns: Span,
) -> NDArray[Any]:
    """`read` a picture of that size; `make` gives any rectangle inside it."""
    ys = source_indices(*rows, size_hw[0], border)
    xs = source_indices(*columns, size_hw[1], border)
    parts: NDArray[Any] | None = None
    for into_y, from_y in _runs(ys):
        for into_x, from_x in _runs(xs):
            part = make(from_y, from_x)
            if parts is None:
                parts = np.zeros((len(ys), len(xs), part.shape[2]), part.dtype)
            parts[into_y, into_x] = part
    assert parts is not None, "it lies wholly outside"
    return parts


def _runs(at: NDArray[np.intp]) -> Iterator[tuple[slice, Span]]:
    """Yield where runs of consecutive positions stand in `at`, and which they are."""
    breaks = np.flatnonzero((np.diff(at) != 1) | (at[:-1] == OUTSIDE)) + 1
    for start, stop in pairwise((0, *map(int, breaks), len(at))):
        if at[start] != OUTSIDE:
            yield slice(start, stop), (int(at[start]), int(at[stop - 1]) + 1)
