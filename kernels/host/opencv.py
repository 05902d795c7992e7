"""OpenCV's filter2D, sepFilter2D and Sobel on every core: vectorised, the CPU's best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.borders import Span, read, read_made
from kernels.check import LENGTH_GAIN, largest_finite
from kernels.finite import all_finite
from kernels.host.parallel import on_all_threads, threads
from kernels.host.strips import Rectangle, bands, rectangles
from kernels.job import Job
from kernels.weights import gain, separate

TITLE = "OpenCV"
IDEA = "OpenCV's vectorised filters on every core; two 1-D passes where the weights allow it."
ORDER = 2
ERROR_FACTOR = 2.0
# OpenCV works out so many products in the time that plain loops take for one ...
SPEED = 10
# ... but a sample's way through memory takes as long as so many, however small the filter, ...
MEMORY_TAPS = 8
# ... and above this size, with spectra, so many of SPECTRAL_KSIZE², whatever the size.
SPECTRAL_KSIZE = 11
SPECTRAL_SPEED = 3
# A gradient takes a sample's way through memory so many times more ...
GRADIENT_TAPS = 16
# ... and its squares are worked out in double precision where float32 has too few exponents.
SMALLEST_LENGTH, LARGEST_LENGTH = 1e-9, 1e18
# OpenCV turns sums into integers by way of int32, and what lies beyond 2³¹ becomes 0 rather than
# the largest sample.  Half of that leaves room for the sums' own rounding errors.
LARGEST_SUM = 2.0**30
# OpenCV is given so many samples at once: what it makes on the way then fits a core's cache, and is
# less often new memory from the system; ...
BAND_SAMPLES = 1 << 17
# ... but rows of so many times the filter's reach, since each band is read with its halo.
BAND_REACHES = 32
# Waking a thread takes as long as so many products, as `_cost` counts them.
LEAST_PRODUCTS = 1 << 18

# What OpenCV calls our borders; it has no wrap for filters.
OPENCV_BORDERS = {
    "zero": "BORDER_CONSTANT",
    "clamp": "BORDER_REPLICATE",
    "reflect": "BORDER_REFLECT",
    "mirror": "BORDER_REFLECT_101",
}

Factors = tuple[NDArray[np.float32], NDArray[np.float32]] | None
__all__ = ["chain", "filtering", "prepare", "threads", "why_not"]


def chain(job: Job) -> int:
    """One addition a tap.  filter2D multiplies spectra for large weights: their error, of the order
    of log(n) roundings of the norms, has stayed far below that wherever it was measured."""
    return job.ksize**2


def why_not(job: Job) -> str | None:
    """filter2D skips weights of zero, so NaN and infinity would not spread as they should; and
    integers have to stay below LARGEST_SUM."""
    if not all_finite(job.picture):
        return (
            "The picture holds NaN or infinity, which OpenCV does not treat as the other "
            "implementations do; choose another one, such as parallel."
        )
    if job.picture.dtype.kind == "u" and _largest_sum(job) >= LARGEST_SUM:
        return (
            f"With {job.pixel_type} pixels and weights this large OpenCV's sums may overflow; "
            "choose another implementation, such as parallel."
        )
    return None


def _largest_sum(job: Job) -> float:
    """What no sum over integer samples can exceed, whatever the picture."""
    largest = gain(job.weights) * float(np.iinfo(job.picture.dtype).max) * _grows(job)
    return largest + abs(job.offset)


def _grows(job: Job) -> float:
    return LENGTH_GAIN if job.gradient else 1.0


def prepare(job: Job) -> bool:  # noqa: ARG001
    """Import OpenCV; nothing is compiled."""
    import cv2  # noqa: F401

    return False


def filtering(job: Job, out: NDArray[Any]) -> Iterator[None]:
    """Fill `out`, (H, W, C) of job.picture's dtype, one rectangle a thread and step."""
    factors = separate(job.weights)
    fill = _fill_lengths(job, factors, out) if job.gradient else _fill_sums(job, factors, out)
    least = 2 * job.radius + 1  # with fewer rows than that, most of the work is halo
    cost = _cost(job, factors)
    parts = min(threads(), max(job.height * job.width * cost // LEAST_PRODUCTS, 1))
    waiting = rectangles(job.height, job.width, cost, parts, least)

    def fill_in_bands(rectangle: Rectangle) -> None:
        for band in bands(rectangle, _band_rows(job, rectangle)):
            fill(band)

    yield from on_all_threads(waiting, fill_in_bands)


def _band_rows(job: Job, rectangle: Rectangle) -> int:
    _, _, left, right = rectangle
    return max(BAND_SAMPLES // ((right - left) * job.channels), BAND_REACHES * job.reach, 1)


def _cost(job: Job, factors: Factors) -> int:
    """A pixel's share of a step, in products of the plain loops."""
    more = GRADIENT_TAPS * job.channels if job.gradient else 0
    if factors is None and job.ksize >= SPECTRAL_KSIZE:
        return SPECTRAL_KSIZE**2 * job.channels // SPECTRAL_SPEED + more
    taps = job.ksize**2 if factors is None else 2 * job.ksize
    return max(taps // SPEED, MEMORY_TAPS) * job.channels + more


def _fill_sums(job: Job, factors: Factors, out: NDArray[Any]) -> Callable[[Rectangle], None]:
    """What fills one rectangle of `out` with weighted samples."""

    def fill(rectangle: Rectangle) -> None:
        top, bottom, left, right = rectangle
        # In the picture's type where one pass does it, which is fastest; in float32 where two do,
        # since sepFilter2D from and to uint8 gets exact halves wrong.
        unrounded = factors is not None
        _put(job, _weighted(job, factors, (top, bottom), (left, right), unrounded), out, rectangle)

    return fill


def _fill_lengths(job: Job, factors: Factors, out: NDArray[Any]) -> Callable[[Rectangle], None]:
    """What fills one rectangle of `out` with the lengths of gradients."""
    largest = LENGTH_GAIN * gain(job.weights) * largest_finite(job.picture)
    in_float32 = SMALLEST_LENGTH < largest < LARGEST_LENGTH

    def fill(rectangle: Rectangle) -> None:
        import cv2

        top, bottom, left, right = rectangle
        around = read_made(
            lambda rows, columns: _weighted(job, factors, rows, columns, unrounded=True),
            (job.height, job.width),
            job.border,
            (top - 1, bottom + 1),
            (left - 1, right + 1),
        )
        depth = cv2.CV_32F if in_float32 else cv2.CV_64F
        lengths = cv2.magnitude(cv2.Sobel(around, depth, 1, 0), cv2.Sobel(around, depth, 0, 1))
        inner = np.asarray(lengths).reshape(around.shape)[1:-1, 1:-1]
        _put(job, inner.astype(np.float32, copy=False), out, rectangle)

    return fill


def _weighted(
    job: Job, factors: Factors, rows: Span, columns: Span, unrounded: bool
) -> NDArray[Any]:
    """The weighted rectangle rows × columns of the picture, in float32 if it is to be unrounded.

    OpenCV is shown the picture itself as far as the rectangle's halo reaches, and what it makes of
    borders counts where that ends at the picture's own edge; all but wrap, which it does not have.
    """
    import cv2

    (top, bottom), (left, right), r = rows, columns, job.radius
    if job.border in OPENCV_BORDERS:
        border = getattr(cv2, OPENCV_BORDERS[job.border])
        y, x = max(top - r, 0), max(left - r, 0)
        around = job.picture[y : bottom + r, x : right + r]
    else:
        y, x = top - r, left - r
        border = cv2.BORDER_REPLICATE  # of what is cut off again
        around = read(job.picture, job.border, (y, bottom + r), (x, right + r))
    if around.dtype == np.float16:  # which OpenCV stores, and does not filter
        around = around.astype(np.float32)
    depth = cv2.CV_32F if unrounded else -1
    if factors is None:
        filtered = cv2.filter2D(around, depth, job.weights, delta=job.offset, borderType=border)
    else:
        column, row = factors
        filtered = cv2.sepFilter2D(around, depth, row, column, delta=job.offset, borderType=border)
    # OpenCV drops a lone channel.
    whole = np.asarray(filtered).reshape(around.shape)
    return whole[top - y : bottom - y, left - x : right - x]


def _put(job: Job, values: NDArray[Any], out: NDArray[Any], rectangle: Rectangle) -> None:
    """Store `values`, rounded, in their rectangle of `out`; alpha is the picture's."""
    top, bottom, left, right = rectangle
    _store(values, out[top:bottom, left:right])
    if job.has_alpha:
        out[top:bottom, left:right, -1] = job.picture[top:bottom, left:right, -1]


def _store(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Round half to even and saturate in one pass, where that is still to be done."""
    import cv2

    if out.dtype.kind == "f":
        with np.errstate(over="ignore"):  # what is too large for a float16 is infinite
            out[:] = values
        return
    if values.dtype == out.dtype:
        out[:] = values
        return
    depth = cv2.CV_8U if out.dtype == np.uint8 else cv2.CV_16U
    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    zero = np.zeros(4)  # a cv2.Scalar; adding it is the one-pass conversion that OpenCV offers
    out[:] = np.asarray(cv2.add(flat, zero, dtype=depth)).reshape(out.shape)
