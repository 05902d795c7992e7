"""OpenCV, called as a user would call it: the quickest plain call that gives the filter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, read, read_made
from kernels.core.cores import usable_cores
from kernels.core.finite import all_finite
from kernels.core.job import Job, Ran
from kernels.core.verdict import Tolerance
from kernels.core.weights import gain
from kernels.cpu.cv_calls import Call, exact_call
from kernels.cpu.cv_choice import choose, use_threads
from kernels.cpu.prepared import Prepared
from kernels.oracle.checking import LENGTH_GAIN, largest_finite

TITLE = "OpenCV"
IDEA = (
    "The quickest of cv2's own filters that gives the answer: GaussianBlur, blur, Sobel, "
    "Laplacian, sepFilter2D or filter2D, on as many of its threads as help."
)
ORDER = 2
# With integers some of cv2's filters round their weights to a few bits, or ties the other way.
LEVELS = 1
ERROR_FACTOR = 2.0
# A gradient's squares are worked out in double precision where float32 has too few exponents.
MIN_LENGTH, MAX_LENGTH = 1e-9, 1e18
# OpenCV turns sums into integers by way of int32, and what lies beyond 2³¹ becomes 0 rather than
# the largest sample.  Half of that leaves room for the sums' own rounding errors.
MAX_SUM = 2.0**30
# A call gets so many samples at most for every two cores, so that a large picture can be stopped in
# between.  On two cores that costs nothing but where filter2D multiplies spectra: there 4 to 10 %,
# and a quarter of this 25 to 40 %.  As many on sixteen cost 16 to 36 % of what takes 4 ms; ...
BAND_SAMPLES = 1 << 24
SPECTRA_KSIZE = 11  # filter2D multiplies spectra from here on, and takes long enough on any cores
# ... and at least rows of so many times the filter's reach, since each band is read with its halo.
BAND_REACHES = 32

# What OpenCV calls our borders; it has no wrap for filters.
OPENCV_BORDERS = {
    "zero": "BORDER_CONSTANT",
    "clamp": "BORDER_REPLICATE",
    "reflect": "BORDER_REFLECT",
    "mirror": "BORDER_REFLECT_101",
}
DEPTHS = {"uint8": "CV_8U", "uint16": "CV_16U", "float16": "CV_16F", "float32": "CV_32F"}

Fill = Callable[[NDArray[Any], Span], object]  # fills rows of an array like the picture
__all__ = ["prepare", "tolerance", "why_not"]


def tolerance(job: Job) -> Tolerance:
    """Return the error it may make: one addition for each weight, and LEVELS for integers.

    filter2D multiplies spectra for large weights: their error, of the order of log(n) roundings
    of the norms, has stayed far below that wherever it was measured.
    """
    levels = LEVELS if job.picture.dtype.kind == "u" else 0
    return Tolerance(job.ksize**2, ERROR_FACTOR, levels, TITLE)


def why_not(job: Job) -> str | None:
    """Return why it cannot run `job`, for the user; None if it can.

    filter2D skips weights of zero, so NaN and infinity would not spread as they should; and
    integers have to stay below MAX_SUM.
    """
    if not all_finite(job.picture):
        return (
            "The picture holds NaN or infinity, which OpenCV does not treat as the other "
            "implementations do; choose another one, such as parallel."
        )
    if job.picture.dtype.kind == "u" and _largest_sum(job) >= MAX_SUM:
        return (
            f"With {job.pixel_type} pixels and weights this large OpenCV's sums may overflow; "
            "choose another implementation, such as parallel."
        )
    return None


def _largest_sum(job: Job) -> float:
    """Return what no sum over integer samples can exceed, whatever the picture."""
    grows = LENGTH_GAIN if job.gradient else 1.0
    return gain(job.weights) * float(np.iinfo(job.picture.dtype).max) * grows + abs(job.offset)


def prepare(job: Job) -> Prepared:
    """Find the quickest of OpenCV's calls for this kind of job by trying them."""
    if job.gradient:
        call = exact_call(job)
        return _prepared(job, call, Ran(f"{call.name}, cv2.Sobel, cv2.magnitude", usable_cores()))
    choice = choose(job, _border(job))
    return _prepared(job, choice.call, Ran(choice.call.name, choice.threads))


def _prepared(job: Job, call: Call, ran: Ran) -> Prepared:
    fill = _filling_lengths(job, call) if job.gradient else _filling_sums(job, call)
    bands, threads, has_alpha = tuple(_bands(job, call)), ran.threads or 1, job.has_alpha

    def filtering(out: NDArray[Any]) -> Iterator[float]:
        use_threads(threads)
        for rows in bands:
            fill(out, rows)
            if has_alpha:
                _copy_alpha(job, out, rows)
            yield rows[1] / job.height

    return Prepared(ran, filtering, again=lambda other: _prepared(other, call, ran))


def filtered(job: Job) -> NDArray[Any]:
    """Return the answer of OpenCV's call that is exact in float32, without a trial or a timing."""
    call, rows = exact_call(job), (0, job.height)
    fill = _filling_lengths(job, call) if job.gradient else _filling_sums(job, call)
    out = np.empty_like(job.picture)
    fill(out, rows)
    if job.has_alpha:
        _copy_alpha(job, out, rows)
    return out


def _bands(job: Job, call: Call) -> Iterator[Span]:
    """Cover the picture's rows once, from top to bottom."""
    by_spectra = call.name == "cv2.filter2D" and job.ksize >= SPECTRA_KSIZE
    samples = BAND_SAMPLES * (1 if by_spectra else max(usable_cores() // 2, 1))
    rows = BAND_REACHES * max(job.reach, 1)
    count = max(min(round(job.picture.size / samples), job.height // rows), 1)
    edges = [number * job.height // count for number in range(count + 1)]
    yield from pairwise(edges)


def _filling_sums(job: Job, call: Call) -> Fill:
    """Return what fills rows with weighted samples."""
    picture, border = job.picture, _border(job)
    if job.border in OPENCV_BORDERS and picture.dtype != np.float16:
        if len(tuple(_bands(job, call))) > 1:
            return partial(_fill_in_place, job, call, border)
        return lambda out, _: call.apply(picture, out, -1, border)

    def fill(out: NDArray[Any], rows: Span) -> None:
        _store(_weighted(job, call, -1, rows, (0, job.width)), out[rows[0] : rows[1]])

    return fill


def _fill_in_place(job: Job, call: Call, border: int, out: NDArray[Any], rows: Span) -> None:
    """Let OpenCV write rows `rows` of `out`, shown the picture as far as their halo reaches.

    Where the halo ends inside the picture the rows in it come out wrong.  Those above are right
    already, and put back; those below are written by the next band.
    """
    (top, bottom), r = rows, job.radius
    first, last = max(top - r, 0), min(bottom + r, job.height)
    kept = out[first:top].copy()
    call.apply(job.picture[first:last], out[first:last], -1, border)
    out[first:top] = kept


def _filling_lengths(job: Job, call: Call) -> Fill:
    """Return what fills rows with the lengths of gradients."""
    import cv2

    largest = LENGTH_GAIN * gain(job.weights) * largest_finite(job.picture)
    in_float32 = MIN_LENGTH < largest < MAX_LENGTH
    depth = cv2.CV_32F if in_float32 else cv2.CV_64F

    def weighted(rows: Span, columns: Span) -> NDArray[Any]:
        return _weighted(job, call, cv2.CV_32F, rows, columns)

    def fill(out: NDArray[Any], rows: Span) -> None:
        top, bottom = rows
        size_hw = (job.height, job.width)
        around = read_made(
            weighted, size_hw, job.border, (top - 1, bottom + 1), (-1, job.width + 1)
        )
        lengths = cv2.magnitude(cv2.Sobel(around, depth, 1, 0), cv2.Sobel(around, depth, 0, 1))
        inner = np.asarray(lengths).reshape(around.shape)[1:-1, 1:-1]
        _store(inner.astype(np.float32, copy=False), out[top:bottom])

    return fill


def _weighted(job: Job, call: Call, depth: int, rows: Span, columns: Span) -> NDArray[Any]:
    """Return the weighted rectangle rows × columns of the picture.

    depth  cv2's type of the answer; -1: the picture's own, or float32 where that is float16

    OpenCV is shown the picture itself as far as the rectangle's halo reaches, and what it makes of
    borders counts where that ends at the picture's own edge; all but wrap, which it does not have.
    """
    (top, bottom), (left, right), r = rows, columns, job.radius
    if job.border in OPENCV_BORDERS:
        y, x = max(top - r, 0), max(left - r, 0)
        around = job.picture[y : bottom + r, x : right + r]
    else:
        y, x = top - r, left - r
        around = read(job.picture, job.border, (y, bottom + r), (x, right + r))
    if around.dtype == np.float16:  # which OpenCV stores, and does not filter
        around = _converted(around, np.float32)
    filtered = call.apply(around, None, depth, _border(job))
    # OpenCV drops a lone channel.
    whole = np.asarray(filtered).reshape(around.shape)
    return whole[top - y : bottom - y, left - x : right - x]


def _border(job: Job) -> int:
    """Return what cv2 calls the job's border; for wrap, that of what is cut off again."""
    import cv2

    return int(getattr(cv2, OPENCV_BORDERS.get(job.border, "BORDER_REPLICATE")))


def _copy_alpha(job: Job, out: NDArray[Any], rows: Span) -> None:
    """Put the picture's own alpha into rows `rows` of `out`."""
    import cv2

    top, bottom = rows
    last = job.channels - 1
    cv2.mixChannels([job.picture[top:bottom]], [out[top:bottom]], [last, last])


def _store(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Put `values` into `out`, rounded half to even and saturated if that is still to be done."""
    out[:] = values if values.dtype == out.dtype else _converted(values, out.dtype)


def _converted(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return `values` as `dtype` in one pass: adding nothing is the conversion that cv2 offers."""
    import cv2

    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    zero = np.zeros(4)  # a cv2.Scalar
    depth = getattr(cv2, DEPTHS[np.dtype(dtype).name])
    return np.asarray(cv2.add(flat, zero, dtype=depth)).reshape(values.shape)
