"""One thread, plain nested loops: the baseline that published comparisons use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, read, read_made
from kernels.core.job import Job, Ran
from kernels.core.nonlinear import Rank
from kernels.core.verdict import Tolerance
from kernels.cpu import HostImplementation, Prepared, ranks

STEP_TAPS = 20_000_000  # products; about 20 ms of plain loops on one core

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right
_compiled: set[tuple[str, bool, bool]] = set()


def tolerance(job: Job) -> Tolerance:
    """The error it may make: one addition for each weight."""
    return Tolerance(chain=job.ksize**2)


def prepare(job: Job) -> Prepared:
    """Compile the loops for the job's pixel type, or load them from a cache."""

    def filtering(out: NDArray[Any]) -> Iterator[float]:
        for rectangle in rectangles(job.height, job.width, job.ksize**2 * job.channels):
            fill(job, out, rectangle)
            yield rectangle[1] / job.height

    wanted = job.pixel_type, job.has_length, isinstance(job.filter, Rank)
    is_new = wanted not in _compiled
    if is_new:
        small = np.zeros((2, 2, 1), job.picture.dtype)
        small_job = Job.of(small, np.zeros((1, 1), np.float32), gradient=job.has_length)
        small_job = small_job.but(filter=Rank(1)) if isinstance(job.filter, Rank) else small_job
        # Whole rows lie in memory in one piece; to numba other rectangles are of another type.
        for rectangle in ((0, 2, 0, 2), (0, 2, 0, 1)):
            fill(small_job, small.copy(), rectangle)
        _compiled.add(wanted)
    return Prepared(Ran("sequential loops", threads=1), filtering, is_new)


def rectangles(height: int, width: int, taps_per_pixel: int) -> Iterator[Rectangle]:
    """Cover height × width once, in order, with rectangles of about STEP_TAPS."""
    pixels = max(STEP_TAPS // taps_per_pixel, 1)
    rows = min(max(pixels // width, 1), height)
    columns = min(pixels, width)
    for top in range(0, height, rows):
        for left in range(0, width, columns):
            yield top, min(top + rows, height), left, min(left + columns, width)


def fill(job: Job, out: NDArray[Any], rectangle: Rectangle) -> None:
    """Compute `rectangle` of `out`, which is like job.picture; releases the GIL."""
    top, bottom, left, right = rectangle
    part = out[top:bottom, left:right]
    # float16 is not known to numba: then its loops write float32.
    filtered = np.empty(part.shape, np.float32) if out.dtype == np.float16 else part
    if isinstance(job.filter, Rank):
        _rank(job, filtered, (top, bottom), (left, right))
    elif job.has_length:
        _length(job, filtered, rectangle)
    else:
        _sum(job, filtered, (top, bottom), (left, right))
    if out.dtype == np.float16:
        with np.errstate(over="ignore"):  # too large samples are infinite
            part[:] = filtered
        if job.has_alpha:
            part[..., -1] = job.picture[top:bottom, left:right, -1]


def _sum(job: Job, out: NDArray[Any], rows: Span, columns: Span) -> None:
    """Fill `out` with the weighted rectangle rows × columns of job.picture."""
    (top, bottom), (left, right), r = rows, columns, job.radius
    around = read(job.picture, job.border, (top - r, bottom + r), (left - r, right + r))
    around = around.astype(np.float32) if around.dtype == np.float16 else around
    # One layout and writable, so compiled once.
    weights = np.array(job.correlation.weights, order="C")
    offset, colours = np.float32(job.correlation.offset), job.channels - job.has_alpha
    _compile(_sum_loops)(around, weights, offset, out, colours, *sample_range(out))


def _rank(job: Job, out: NDArray[Any], rows: Span, columns: Span) -> None:
    """Fill `out` with the ranks of windows in the rectangle rows × columns of job.picture."""
    is_integer, _ = sample_range(out)
    given = ranks.around(job, rows, columns)
    how = out, job.channels - job.has_alpha, is_integer, 0, len(out)
    _compile(ranks.rank_band)(*given, *how)


def _length(job: Job, out: NDArray[Any], rectangle: Rectangle) -> None:
    """Fill `out` with the gradient's length in `rectangle` of job.picture."""
    top, bottom, left, right = rectangle

    def weighted(rows: Span, columns: Span) -> NDArray[np.float32]:
        shape = (rows[1] - rows[0], columns[1] - columns[0], job.channels)
        sums = np.empty(shape, np.float32)
        _sum(job, sums, rows, columns)
        return sums

    size_hw = (job.height, job.width)
    around = read_made(weighted, size_hw, job.border, (top - 1, bottom + 1), (left - 1, right + 1))
    _compile(_length_loops)(around, out, job.channels - job.has_alpha, *sample_range(out))


def sample_range(out: NDArray[Any]) -> tuple[bool, np.float32]:
    """True for samples that are integers, and the largest of them."""
    integers = out.dtype.kind == "u"
    return integers, np.float32(np.iinfo(out.dtype).max if integers else 0)


@cache
def _compile(loops: Callable[..., None]) -> Any:
    """Compile `loops` with numba, for each new type of array."""
    from numba import njit

    try:
        return njit(nogil=True, cache=True)(loops)
    except RuntimeError:  # numba found no folder that it may keep machine code in
        return njit(nogil=True)(loops)


def _sum_loops(
    around: Any, weights: Any, offset: Any, out: Any, colours: int, integers: bool, largest: Any
) -> None:
    """Fill `out` with the weighted sums of `around`, in plain loops for numba to compile."""
    ksize = weights.shape[0]
    radius = ksize // 2
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(colours):
                total = offset
                for j in range(ksize):
                    for i in range(ksize):
                        total += weights[j, i] * np.float32(around[y + j, x + i, c])
                if integers:  # half to even, saturated
                    total = min(max(np.rint(total), np.float32(0)), largest)
                out[y, x, c] = total
            for c in range(colours, out.shape[2]):
                out[y, x, c] = around[y + radius, x + radius, c]


def _length_loops(around: Any, out: Any, colours: int, integers: bool, largest: Any) -> None:
    """Fill `out` with the gradient's lengths of `around`, in loops for numba to compile."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(colours):
                gx = gy = np.float32(0)
                for side, weight in ((0, 1), (1, 2), (2, 1)):
                    times = np.float32(weight)
                    gx += times * (around[y + side, x + 2, c] - around[y + side, x, c])
                    gy += times * (around[y + 2, x + side, c] - around[y, x + side, c])
                # In double precision, where no square overflows.
                length = np.float32(np.sqrt(np.float64(gx) ** 2 + np.float64(gy) ** 2))
                if integers:
                    length = min(np.rint(length), largest)
                out[y, x, c] = length
            for c in range(colours, out.shape[2]):
                out[y, x, c] = around[y + 1, x + 1, c]


IDEA = (
    "One CPU thread, four plain nested loops, compiled: the baseline that published reports use, "
    "and far from what a CPU can do."
)
HOST = HostImplementation("sequential", "Sequential", IDEA, 0, tolerance, prepare)
