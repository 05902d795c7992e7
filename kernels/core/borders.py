"""The samples beyond the picture's edge, and parts of a picture with what their output needs.

The device's copy is `border_index` in `ladder/prelude.cuh`; the tests hold the two together.

======== ================== ============ ============== ==================
here     a b c d continues  numpy.pad    scipy.ndimage  OpenCV
======== ================== ============ ============== ==================
zero     0 0 | a b c d | 0  constant     constant       BORDER_CONSTANT
clamp    a a | a b c d | d  edge         nearest        BORDER_REPLICATE
reflect  b a | a b c d | d  symmetric    reflect        BORDER_REFLECT
mirror   c b | a b c d | c  reflect      mirror         BORDER_REFLECT_101
wrap     c d | a b c d | a  wrap         wrap           BORDER_WRAP
crop         | a b c d |    -            -              -
======== ================== ============ ============== ==================

With crop what is outside does not count, which for a weighted sum is the same as zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]  # start, stop

BORDERS = ("zero", "clamp", "reflect", "mirror", "wrap", "crop")
OUTSIDE = -1


def source_indices(start: int, stop: int, size: int, border: str) -> NDArray[np.intp]:
    """Source indices of positions start, ..., stop - 1 along an axis of `size` samples.

    returns  (stop - start,) of indices in [0, size), or OUTSIDE where the sample is zero, or none.
             Any distance from the picture is allowed, also more than its size.
    """
    at = np.arange(start, stop)
    match border:
        case "zero" | "crop":
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


def counted(start: int, stop: int, size: int, border: str) -> NDArray[np.bool_]:
    """Whether positions start, ..., stop - 1 along an axis count: (stop - start,)."""
    at = np.arange(start, stop)
    return (border != "crop") | ((at >= 0) & (at < size))


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
    if border in ("zero", "crop"):
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


# Blocks begin at multiples of these rows, or of half, a quarter and so on where rows are long.
BLOCK_ROWS, BLOCK_SAMPLES = 256, 1 << 23


@dataclass(frozen=True, slots=True)
class RowStrip:
    """Rows first to end - 1 of a picture, and what to filter for them."""

    first: int
    end: int
    spans: tuple[Span, ...]  # rows of the whole that are the strip's own picture
    above: int  # how many of these stand above row `first`
    whole: int  # height of the whole picture

    @property
    def own(self) -> slice:
        """The strip's rows in the output for its picture."""
        return slice(self.above, self.above + self.end - self.first)

    @property
    def height(self) -> int:
        return sum(end - first for first, end in self.spans)

    def of(self, picture: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([picture[first:end] for first, end in self.spans])


def block_rows(row_samples: int) -> int:
    """Rows of a block, for what rounds by where the rows begin: strips are multiples of it.

    row_samples  of each row of the picture; neither its height nor free memory counts
    """
    rows = BLOCK_ROWS
    while rows > 1 and rows * row_samples > BLOCK_SAMPLES:
        rows //= 2
    return rows


def strips_of(
    height: int, rows: int, reach: int, border: str, first: int = 0
) -> Iterator[RowStrip]:
    """Yield strips that cover rows `first` to height - 1 once, from top to bottom.

    height  of the whole picture
    rows    of each strip; the last may have fewer
    reach   how many rows away a sample still counts: `Job.reach`
    """
    for top in range(first, height, rows):
        yield strip_of_rows(top, min(top + rows, height), height, reach, border)


def even_parts(height: int, count: int, reach: int, border: str) -> tuple[RowStrip, ...]:
    """Cover all rows once with `count` strips, or fewer rows, as alike in height as can be."""
    count = min(count, height)
    bounds = [height * at // count for at in range(count + 1)]
    return tuple(strip_of_rows(*each, height, reach, border) for each in pairwise(bounds))


def strip_of_rows(first: int, end: int, height: int, reach: int, border: str) -> RowStrip:
    """The strip of rows first to end - 1; the rest as `strips_of` has it."""
    if border == "wrap" and end - first < height:
        return RowStrip(
            first, end, tuple(_around(first - reach, end + reach, height)), reach, height
        )
    top = max(first - reach, 0)
    return RowStrip(first, end, ((top, min(end + reach, height)),), first - top, height)


def _around(start: int, stop: int, height: int) -> Iterator[Span]:
    """Yield the rows at positions start, ..., stop - 1 of a picture that goes on for ever."""
    while start < stop:
        top = start % height
        end = min(top + stop - start, height)
        yield top, end
        start += end - top


@dataclass(frozen=True, slots=True)
class HaloRows:
    """Rows that a part takes from another one, or from itself where a picture wraps around."""

    source: int  # the number of the part that has them
    first: int  # the first of them, counted from the source's first own row
    count: int  # how many they are
    to: int  # where that goes, counted from the top of the taking part's picture


def halo_rows(parts: Sequence[RowStrip], taker: int) -> Iterator[HaloRows]:
    """Yield what fills the picture of `parts[taker]` but for its own rows, from top to bottom.

    parts  cover all rows of the picture once, from top to bottom
    """
    to, own = 0, parts[taker].own
    for start, stop in parts[taker].spans:
        while start < stop:
            source = next(at for at, part in enumerate(parts) if part.first <= start < part.end)
            count = min(stop, parts[source].end) - start
            if to == own.start:  # its own rows stand here
                count = own.stop - own.start
            else:
                count = min(count, own.start - to) if to < own.start else count
                yield HaloRows(source, start - parts[source].first, count, to)
            start, to = start + count, to + count


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A plan of what to read of a picture for a rectangle of it, and where that lies in it."""

    rows: RowStrip
    columns: RowStrip  # counted as rows are

    @property
    def own(self) -> tuple[slice, slice]:
        """The rectangle's rows and columns in the output for what is read."""
        return self.rows.own, self.columns.own

    def read(self, part: Callable[[Span, Span], NDArray[Any]]) -> NDArray[Any]:
        """Return all of it, (rows, columns, C).

        part  gives a rectangle of the whole picture, by its rows and columns
        """
        bands = [
            [part(rows, columns) for columns in self.columns.spans] for rows in self.rows.spans
        ]
        if len(bands) == len(bands[0]) == 1:
            return bands[0][0]
        return np.concatenate([np.concatenate(band, axis=1) for band in bands])


def surroundings_of(
    rows: Span, columns: Span, size_hw: tuple[int, int], reach: int, border: str
) -> Surroundings:
    """The parts of a picture that the output for a rectangle needs.

    size_hw  height and width of the whole picture
    reach    how many pixels away a sample still counts, at least: `Job.reach`
    """
    down = strip_of_rows(*rows, size_hw[0], reach, border)
    return Surroundings(down, strip_of_rows(*columns, size_hw[1], reach, border))
