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
    """Source indices of positions start, ..., stop - 1 along an axis of `size` samples.

    returns  (stop - start,) of indices in [0, size), or OUTSIDE where the sample is zero.
             Any distance from the picture is allowed, also more than its size.
    """
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
    """Return the rectangle rows × columns of `picture`, continued beyond its edges by `border`.

    picture        (H, W, C) of any dtype
    rows, columns  (start, stop); may reach outside the picture by any distance
    returns        a copy, (rows, columns, C), same dtype
    """
    height, width, channels = picture.shape
    ys = source_indices(*rows, height, border)
    xs = source_indices(*columns, width, border)
    rectangle = np.empty((len(ys), len(xs), channels), picture.dtype)
    above, inside, below = _parts(rows, height)
    left, middle, right = _parts(columns, width)
    # What lies inside the picture is copied whole; only what lies outside is picked out.
    band = picture[_from(ys, inside)]
    rectangle[inside, middle] = band[:, _from(xs, middle)]
    for outside in (left, right):
        rectangle[inside, outside] = band[:, xs[outside]]
    for outside in (above, below):
        rectangle[outside] = picture[ys[outside, None], xs]
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
    """`read` a picture whose parts are made on demand.

    make     (rows, columns) -> (rows, columns, C), for any rectangle inside the picture
    size_hw  height and width of the whole picture
    """
    ys, xs = (
        source_indices(*span, size, border)
        for span, size in zip((rows, columns), size_hw, strict=True)
    )
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
    """Yield where runs of consecutive positions stand in `at`, and which they are.

    Positions that are OUTSIDE are left out.
    """
    breaks = np.flatnonzero((np.diff(at) != 1) | (at[:-1] == OUTSIDE)) + 1
    for start, stop in pairwise((0, *map(int, breaks), len(at))):
        if at[start] != OUTSIDE:
            yield slice(start, stop), (int(at[start]), int(at[stop - 1]) + 1)


def _parts(span: tuple[int, int], size: int) -> tuple[slice, slice, slice]:
    """Split positions start, ..., stop - 1 into those before, inside and after an axis.

    The axis has `size` samples.
    """
    start, stop = span
    first = min(max(-start, 0), stop - start)
    last = max(min(size - start, stop - start), first)
    return slice(0, first), slice(first, last), slice(last, stop - start)


def _from(at: NDArray[np.intp], part: slice) -> slice:
    """Return the positions at[part], which run consecutively, as a slice."""
    return slice(int(at[part][0]), int(at[part][-1]) + 1) if part.stop > part.start else slice(0)
