"""OpenCV, called as a user would call it: one plain call, chosen by the filter.

And a preview of what a job will give: the reduced picture, filtered with a reduced filter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, block_rows, read, read_made
from kernels.core.cache import all_finite, blank, once_a_picture
from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Ran
from kernels.core.nonlinear import (
    KINDS,
    MAX_KSIZE,
    Bilateral,
    Guided,
    Morphology,
    NonLocalMeans,
    Rank,
)
from kernels.core.verdict import Tolerance
from kernels.core.weights import UNIT_ROUNDOFF, Separable, gain, separate
from kernels.cpu import HostImplementation, Prepared, host_implementations
from kernels.oracle.checking import FLOAT32_MAX, LENGTH_GAIN, largest_finite

MIN_BLUR_KSIZE = 9
MAX_BELL_KSIZE = {"uint8": 3, "uint16": 7}
# With cv2's own last rounding, half a level, that is at most one level off.
MAX_OFF = 0.95
SPECTRA_KSIZE = 11  # filter2D multiplies spectra from about here on, uint16 as quickly as float32
SAME_WEIGHT = 8 * UNIT_ROUNDOFF  # relative difference of two ways to compute a weight
TAKES_DEPTH = ("cv2.sepFilter2D", "cv2.filter2D")
# What OpenCV calls our borders; it has no wrap for filters.
OPENCV_BORDERS = {
    "zero": "BORDER_CONSTANT",
    "clamp": "BORDER_REPLICATE",
    "reflect": "BORDER_REFLECT",
    "mirror": "BORDER_REFLECT_101",
    "crop": "BORDER_CONSTANT",
}
MEDIAN_OF_REALS = 5  # the largest size that cv2.medianBlur takes of anything but bytes
# Smaller ones cv2.bilateralFilter gives another size or, of grey in 5.0, cuts off the fractions of.
MIN_BILATERAL_KSIZE = {1: 7, 2: 7, 3: 3, 4: 3}


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a function of cv2, with its arguments."""

    name: str  # "cv2.GaussianBlur"
    arguments: dict[str, Any]
    in_float32: bool = False  # samples are given as float32, and the output is rounded afterwards
    in_blocks: bool = False  # roundings depend on where the rows given begin
    on_all_threads: bool = True  # cv2 shares it among its threads
    borders: Collection[str] = tuple(OPENCV_BORDERS)  # that it has
    channels: Collection[int] = (1, 2, 3, 4)  # that it takes
    takes_alpha: bool = False  # as a colour; else alpha is copied anyway

    def apply(
        self, source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        """Filter `source`, into `target` if that has the output's shape and type."""
        import cv2

        if source.shape[2] not in self.channels:  # it takes alpha by itself, or not at all
            colours, alpha = source[..., :-1].copy(), source[..., -1:].copy()
            if self.takes_alpha:
                alpha = self.apply(alpha, None, depth, border)
            return np.dstack((self.apply(colours, None, depth, border), alpha))
        function = getattr(cv2, self.name.removeprefix("cv2."))
        given = {"ddepth": depth} if self.name in TAKES_DEPTH else {}
        if self.name != "cv2.medianBlur":
            given["borderType"] = border
        found: NDArray[Any] = function(source, dst=target, **given, **self.arguments)
        return found


def call_for(job: Job) -> Call:
    """Choose the call for `job`, by its pixel type, border and filter alone.

    The rule is fitted to cv2 5.0 with 1, 2 and 16 threads.  It knows neither the picture's size nor
    the number of cores nor a clock, so that a strip, a busy computer and a larger one give the same
    pixels.  For what has no weights see `_window_call`; of weights:

    - Separable weights: sepFilter2D, whose sums are float32.
    - A mean: blur, whose running sums do not depend on K, from MIN_BLUR_KSIZE on; for uint16
      always.
    - A bell over integers up to MAX_BELL_KSIZE: GaussianBlur, for uint8 only where its weights are
      exact and for uint16 where they are off by less than MAX_OFF, whatever the picture.
    - All else: filter2D.

    cv2 filters uint16 with generic code, five to ten times slower than float32: see `in_float32`.
    """
    if not job.has_weights:
        found = _window_call(job)
        assert found is not None, "it is refused"
        return replace(found, takes_alpha=job.filters_alpha)
    weights, pixel_type, ksize = job.correlation.weights, job.pixel_type, job.ksize
    if (factors := separate(weights)) is None or job.correlation.offset:
        return exact_call(job)
    is_mean = bool(np.ptp(weights) == 0 and weights[0, 0] == np.float32(1 / ksize**2))
    if is_mean and (ksize >= MIN_BLUR_KSIZE or pixel_type == "uint16"):
        is_real = job.picture.dtype.kind == "f"  # whose running sums round
        is_slow, arguments = pixel_type == "float16", {"ksize": (ksize, ksize)}
        return Call("cv2.blur", arguments, is_slow, is_real, on_all_threads=False)
    if ksize <= MAX_BELL_KSIZE.get(pixel_type, 0):
        sigma = _sigma(ksize, factors)
        if sigma is not None and most_off(ksize, sigma, pixel_type) < MAX_OFF:
            return Call("cv2.GaussianBlur", {"ksize": (ksize, ksize), "sigmaX": sigma})
    return exact_call(job)


def _window_call(job: Job) -> Call | None:
    """The call that gives the same as a filter that is no weighted sum; None: cv2 has none.

    Not fastNlMeansDenoising, which counts differences in steps and is off by levels; nor a
    bilateral filter of real numbers, whose table follows the extremes of the rows that it is given,
    or of alpha among the colours.
    """
    chosen, pixel_type, is_half = job.filter, job.pixel_type, job.pixel_type == "float16"
    # To these what is constant does not count, unless its value is said.
    outside = {"borderValue": 0} if job.border == "zero" else {}
    match chosen:
        case Rank(percentile=50, is_disk=False) if job.border != "crop":
            most = {"uint8": MAX_KSIZE, "float16": 0}.get(pixel_type, MEDIAN_OF_REALS)
            if job.ksize <= most:
                call = Call("cv2.medianBlur", {"ksize": job.ksize}, channels=(1, 3, 4))
                return replace(call, on_all_threads=False, borders=("clamp",))
        case Rank(percentile=0 | 100):
            name = "cv2.dilate" if chosen.percentile else "cv2.erode"
            arguments = {"kernel": chosen.window.astype(np.uint8), **outside}
            return Call(name, arguments, is_half, on_all_threads=False)
        case Morphology():
            window = chosen.ranks[0].window.astype(np.uint8)
            # MORPH_OPEN, _CLOSE, _GRADIENT, _TOPHAT, _BLACKHAT are 2 to 6, as KINDS has them.
            arguments = {"op": 2 + KINDS.index(chosen.kind), "kernel": window, **outside}
            return Call("cv2.morphologyEx", arguments, is_half, on_all_threads=False)
        case Bilateral(ksize, space, colour) if pixel_type == "uint8" and job.border != "crop":
            if ksize >= MIN_BILATERAL_KSIZE[job.channels] and not job.filters_alpha:
                # Of less than this nothing is left a step away; cv2's squares would vanish.
                sigmas = {"sigmaSpace": max(space, 1e-3), "sigmaColor": max(colour, 1e-3)}
                arguments = {"d": ksize, **sigmas}
                return Call("cv2.bilateralFilter", arguments, channels=(1, 3))
    return None


def exact_call(job: Job) -> Call:
    """Choose the call that sums in float32 and may output float32, whatever its input."""
    is_slow = job.pixel_type in ("float16", "uint16")  # to cv2, or not known to it
    if (factors := separate(job.correlation.weights)) is None:
        by_spectra = job.ksize >= SPECTRA_KSIZE
        is_slow = job.pixel_type == "float16" or (is_slow and not by_spectra)
        arguments = {"kernel": job.correlation.weights, "delta": job.correlation.offset}
        return Call("cv2.filter2D", arguments, is_slow, by_spectra, not by_spectra)
    column, row = factors
    if job.pixel_type == "uint8":
        # Factors that sum to one cv2 rounds to 8 bits; these sum to ½ and 2, and stay float32.
        column, row = column * np.float32(0.5), row * np.float32(2)
    arguments = {"kernelX": row, "kernelY": column, "delta": job.correlation.offset}
    return Call("cv2.sepFilter2D", arguments, is_slow)


def _sigma(ksize: int, factors: Separable) -> float | None:
    """The sigma of cv2.GaussianBlur with these factors, 0 for its own choice; None: no bell."""
    import cv2

    rows = [each.astype(np.float64) / float(each.sum() or 1) for each in factors]
    # A column and a row that sum to one each, up to a factor that the other one has.
    gain = float(factors[0].astype(np.float64).sum() * factors[1].astype(np.float64).sum())
    if ksize == 1 or abs(gain - 1) > ksize**2 * SAME_WEIGHT or min(map(np.min, rows)) <= 0:
        return None
    radius, row = ksize // 2, rows[0]
    fall = float(np.log(row[radius] / row[0]))  # from the middle to the end, which tells most
    for sigma in (0.0, radius / math.sqrt(2 * fall) if fall > 0 else 0.0):
        bell = cv2.getGaussianKernel(ksize, sigma, cv2.CV_64F).ravel()
        if all(np.allclose(row, bell, rtol=SAME_WEIGHT, atol=0) for row in rows):
            return sigma
    return None


@lru_cache(maxsize=64)
def most_off(ksize: int, sigma: float, pixel_type: str) -> float:
    """Largest error of GaussianBlur's rounded weights, in levels, over all pictures.

    An impulse brings out the integers that cv2 makes of them.
    """
    import cv2

    largest = np.iinfo(pixel_type).max
    impulse = np.zeros((1, 2 * ksize - 1), pixel_type)
    impulse[0, ksize - 1] = largest
    spread = cv2.GaussianBlur(impulse, (ksize, 1), sigma, borderType=cv2.BORDER_CONSTANT)
    used = spread[0, ksize // 2 : ksize // 2 + ksize] / (largest + 1.0)
    bell = cv2.getGaussianKernel(ksize, sigma, cv2.CV_64F).ravel()
    off = np.outer(used, used) - np.outer(bell, bell)
    return float(largest * max(off[off > 0].sum(), -off[off < 0].sum()))


TITLE = "OpenCV"
IDEA = "One of cv2's own filters on all of its threads, chosen by the pixel type and the filter."
# With integers some of cv2's filters round their weights to a few bits, or ties the other way.
LEVELS = 1
ERROR_FACTOR = 2.0
# A gradient's squares are worked out in double precision where float32 has too few exponents.
MIN_LENGTH, MAX_LENGTH = 1e-9, 1e18
# OpenCV turns sums into integers by way of int32, and what lies beyond 2³¹ becomes 0 rather than
# the largest sample.  Half of that leaves room for the sums' own rounding errors.
MAX_SUM = 2.0**30
# What cv2's own threads do not share is shared here, from so many products on, samples times K.
SHARED_PRODUCTS = 1 << 23
# At most so many samples a shared band, and so many products a call on cv2's own threads, so that a
# large picture can be stopped in between; at least so many times the filter's reach in rows, since
# each band is read with its halo.
BAND_SAMPLES, CALL_PRODUCTS, BAND_REACHES = 1 << 20, 1 << 31, 4

DEPTHS = {"uint8": "CV_8U", "uint16": "CV_16U", "float16": "CV_16F", "float32": "CV_32F"}


def tolerance(job: Job) -> Tolerance:
    """The error it may make: one addition for each weight, and LEVELS for integers."""
    levels = LEVELS if job.picture.dtype.kind == "u" and job.has_weights else 0
    return Tolerance(job.ksize**2, ERROR_FACTOR, levels, TITLE)


def why_not(job: Job) -> str | None:
    """Reason why it cannot run `job`, for the user; None if it can.

    filter2D skips weights of zero, so NaN and infinity would not spread as they should; integers
    have to stay below MAX_SUM, and real numbers within float32.
    """
    # They would not spread over weights of zero, and what is beyond the picture is no infinity.
    if not isinstance(job.filter, Rank) and not all_finite(job.picture):
        return (
            "The picture holds NaN or infinity, which OpenCV does not treat as the other "
            "implementations do; choose another one, such as Parallel."
        )
    if not job.has_weights:
        if _window_call(job) is not None:
            return None
        is_known = not isinstance(job.filter, NonLocalMeans | Guided)
        is_known &= getattr(job.filter, "percentile", 50) in (0, 50, 100)
        where = f" for {job.pixel_type} pixels and this size, shape and border" if is_known else ""
        if isinstance(job.filter, Bilateral) and job.pixel_type == "uint8" and job.border != "crop":
            where = f" for {'grey' if job.channels < 3 else 'colour'} at sizes this small"
        in_bytes = job.but(picture=blank(job.picture.shape, "uint8"), filters_alpha=False)
        is_wide = job.pixel_type in ("uint8", "float32")  # which bytes become in a list
        if is_wide and job.filters_alpha and _window_call(in_bytes) is not None:
            where = f" for {job.pixel_type} pixels where the picture is transparent and its "
            where += "channels are not filtered apart (--alpha apart)"
        words = f"OpenCV has no filter that gives the same as {job.title}{where}"
        return f"{words}; choose another implementation, such as Parallel."
    if _largest_sum(job) >= (MAX_SUM if job.picture.dtype.kind == "u" else FLOAT32_MAX / 2):
        return (
            f"With {job.pixel_type} pixels and weights this large OpenCV's sums may overflow; "
            "choose another implementation, such as Parallel."
        )
    return None


def _largest_sum(job: Job) -> float:
    """Bound of all sums: over integer samples whatever the picture."""
    is_integer = job.picture.dtype.kind == "u"
    largest = np.iinfo(job.picture.dtype).max if is_integer else largest_finite(job.picture)
    grows = LENGTH_GAIN if job.has_length else 1.0
    return gain(job.correlation.weights) * float(largest) * grows + abs(job.correlation.offset)


def prepare(job: Job) -> Prepared:
    """Choose the call, and cut the picture into bands for it."""
    call = exact_call(job) if job.has_length else call_for(job)
    name = f"{call.name}, cv2.Sobel" if job.has_length else call.name
    bands = tuple(_bands(job, call))
    at_once = usable_cores() if len(bands) > 1 and _is_shared(job, call) else 1

    def filtering(out: NDArray[Any]) -> Iterator[float]:
        use_threads(usable_cores())
        fill = partial(_fill, job, call, out)
        for first in range(0, len(bands), at_once):
            together = bands[first : first + at_once]
            list((_threads().map if at_once > 1 else map)(fill, together))
            yield together[-1][1] / job.height

    return Prepared(Ran(name, usable_cores()), filtering)


def use_threads(count: int) -> bool:
    """Let OpenCV use `count` threads; True if it used another number before."""
    import cv2

    is_other: bool = cv2.getNumThreads() != count
    cv2.setNumThreads(count)
    return is_other


def filtered(job: Job) -> NDArray[Any]:
    """Filter with the call that is exact in float32, without a timing."""
    out = np.empty_like(job.picture)
    _fill(job, exact_call(job), out, (0, job.height))
    return out


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(usable_cores(), "opencv-bands")


def _has_border(job: Job, call: Call) -> bool:
    return job.border in call.borders and job.channels in call.channels


def _is_shared(job: Job, call: Call) -> bool:
    products = job.picture.size * (2 if call.name == "cv2.blur" else job.ksize)
    if not job.has_weights and np.all(call.arguments.get("kernel", 0)):  # of a square,
        products = job.picture.nbytes * job.ksize // 32  # which takes less than to copy halos
    is_one_call = not job.has_length and not call.in_float32 and _has_border(job, call)
    return products >= SHARED_PRODUCTS and not (is_one_call and call.on_all_threads)


def _bands(job: Job, call: Call) -> Iterator[Span]:
    """Cover the picture's rows once, from top to bottom."""
    if call.in_blocks:
        edges = _block_edges(job)
    else:
        row = job.picture[0].size
        taps = job.filter.taps if isinstance(job.filter, Bilateral) else job.ksize
        at_most = CALL_PRODUCTS // (row * taps)
        if _is_shared(job, call):
            at_most = min(BAND_SAMPLES // row, -(-job.height // usable_cores()))
        edges = [*range(0, job.height, max(at_most, BAND_REACHES * job.reach, 1))][1:]
    yield from pairwise((0, *edges, job.height))


def _block_edges(job: Job) -> list[int]:
    """Rows at which blocks begin, those of the whole picture and the strip's own ends."""
    strip = job.strip
    top, ends = (strip.first - strip.above, (strip.own.start, strip.own.stop)) if strip else (0, ())
    rows = block_rows(job.width * job.channels)
    edges = {*range(-top % rows, job.height, rows), *ends}
    return sorted(edges - {0, job.height})


def _fill(job: Job, call: Call, out: NDArray[Any], rows: Span) -> None:
    """Fill rows of an array like the picture."""
    is_plain = _has_border(job, call) and not call.in_float32
    if job.has_length:
        _store(_lengths(job, call, rows), out[rows[0] : rows[1]])
    elif is_plain and rows == (0, job.height):
        call.apply(job.picture, out, -1, _border(job))
    else:
        _store(_weighted(job, call, -1, rows, (0, job.width)), out[rows[0] : rows[1]])
    if job.has_alpha:
        import cv2

        (top, bottom), last = rows, job.channels - 1
        cv2.mixChannels([job.picture[top:bottom]], [out[top:bottom]], [last, last])


def _lengths(job: Job, call: Call, rows: Span) -> NDArray[Any]:
    """The lengths of gradients in those rows."""
    import cv2

    # By the type, not the picture: a strip must round as the whole does.
    in_float32 = job.picture.dtype.kind == "u" and MIN_LENGTH < _largest_sum(job) < MAX_LENGTH
    depth = cv2.CV_32F if in_float32 else cv2.CV_64F
    weighted = partial(_weighted, job, call, cv2.CV_32F)
    places = (rows[0] - 1, rows[1] + 1), (-1, job.width + 1)
    around = read_made(weighted, (job.height, job.width), job.border, *places)
    # cv2.magnitude rounds a sample by where in memory it stands.
    gx: NDArray[Any] = np.asarray(cv2.Sobel(around, depth, 1, 0))
    gy: NDArray[Any] = np.asarray(cv2.Sobel(around, depth, 0, 1))
    gx *= gx
    gy *= gy
    gx += gy
    np.sqrt(gx, out=gx)
    return gx.reshape(around.shape)[1:-1, 1:-1].astype(np.float32, copy=False)


def _weighted(job: Job, call: Call, depth: int, rows: Span, columns: Span) -> NDArray[Any]:
    """The weighted rectangle rows × columns of the picture, as cv2's type `depth`.

    OpenCV applies the border where the rectangle's halo ends at the picture's own edge; all but
    wrap, which it does not have.
    """
    (top, bottom), (left, right), r = rows, columns, job.filter.reach
    if job.border in call.borders:
        y, x = max(top - r, 0), max(left - r, 0)
        around = job.picture[y : bottom + r, x : right + r]
    else:
        y, x = top - r, left - r
        around = read(job.picture, job.border, (y, bottom + r), (x, right + r))
    if call.in_float32:
        around = around.astype(np.float32)
    filtered = call.apply(around, None, depth, _border(job))
    # OpenCV drops a lone channel.
    whole = np.asarray(filtered).reshape(around.shape)
    return whole[top - y : bottom - y, left - x : right - x]


def _border(job: Job) -> int:
    """The name of the job's border in cv2; for wrap, any: its rows and columns are cut off."""
    import cv2

    return int(getattr(cv2, OPENCV_BORDERS.get(job.border, "BORDER_REPLICATE")))


def _store(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Put `values` into `out`, rounded half to even and saturated if they are of another type."""
    import cv2

    if values.dtype == out.dtype:
        out[:] = values
        return
    # Adding nothing is the conversion in one pass that cv2 offers.
    flat, zero = np.ascontiguousarray(values).reshape(len(values), -1), np.zeros(4)  # a cv2.Scalar
    depth = getattr(cv2, DEPTHS[out.dtype.name])
    out[:] = np.asarray(cv2.add(flat, zero, dtype=depth)).reshape(values.shape)


HOST = HostImplementation("opencv", TITLE, IDEA, 2, tolerance, prepare, why_not)


LONG_PRODUCTS = 3e8  # some 0.2 s of the CPU's plain loops
# OpenCV adds many at once, by column and row; but copying alone takes a while.
LONG_OPENCV_PRODUCTS, MIN_OPENCV_PRODUCTS = 2e8, 8
REDUCED_PIXELS = 1e6
MIN_FACTOR = 2


def takes_long(job: Job) -> bool:
    """True if the CPU may take so long for `job` that a preview is worth while."""
    if not job.is_one_launch:
        return any(takes_long(job.part(run, job.picture)) for run in job.runs)
    if job.implementation == "opencv":
        return job.picture.size * max(job.ksize, MIN_OPENCV_PRODUCTS) > LONG_OPENCV_PRODUCTS
    is_on_cpu = job.implementation in [each.key for each in host_implementations()]
    return is_on_cpu and job.picture.size * job.filter.taps > LONG_PRODUCTS


def factor_for(picture: NDArray[Any]) -> int:
    """The factor by which a preview of `picture` is smaller along each axis."""
    pixels = picture.shape[0] * picture.shape[1]
    return max(math.ceil(math.sqrt(pixels / REDUCED_PIXELS)), MIN_FACTOR)


def preview(job: Job) -> NDArray[Any] | None:
    """Return about what `job` gives, at its size and of its pixel type; None where OpenCV cannot.

    The picture is averaged, and each weight shared among the nearest weights of the smaller grid,
    or a window made smaller: right for slopes, not for the finest detail.
    """
    if not job.is_one_launch or job.pixel_type == "float16" or (job.has_weights and why_not(job)):
        return None
    import cv2

    factor = factor_for(job.picture)
    small = job.but(picture=_reduced(job.picture), implementation="opencv")
    if not job.has_weights:
        small = small.but(filter=reduced_filter(job.filter, factor))
        others = (each for each in reversed(host_implementations()) if not each.why_not(small))
        [*next(others).prepare(small).filtering(found := np.empty_like(small.picture))]
    else:
        weights = reduced_weights(job.correlation.weights, factor)
        if job.has_length:
            weights /= factor  # from one pixel to the next the reduced picture rises as much more
        found = filtered(small.but(weights=weights))
    size = job.width, job.height
    large = cv2.resize(found, size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(large).reshape(job.picture.shape)


def reduced_filter(chosen: Any, factor: float) -> Any:
    """A filter without weights for a picture `factor` times as coarse."""

    def side(of: int) -> int:
        return round(of // 2 / factor) * 2 + 1

    reduced = replace(chosen, ksize=side(chosen.ksize))
    if isinstance(chosen, NonLocalMeans):
        return replace(reduced, patch=side(chosen.patch))
    if isinstance(chosen, Bilateral):
        return replace(reduced, sigma_space=chosen.sigma_space / factor)
    return reduced


def reduced_weights(weights: NDArray[np.float32], factor: float) -> NDArray[np.float32]:
    """Share weights among those of a grid `factor` times as coarse."""
    radius = len(weights) // 2
    offsets = np.arange(-radius, radius + 1) / factor
    reach = math.ceil(radius / factor)
    grid = np.arange(-reach, reach + 1)
    shares = np.maximum(1 - np.abs(offsets[:, None] - grid), 0)  # (K, 2 · reach + 1)
    return np.ascontiguousarray(shares.T @ weights @ shares, np.float32)


@once_a_picture
def _reduced(picture: NDArray[Any]) -> NDArray[Any]:
    import cv2

    height, width, channels = picture.shape
    factor = factor_for(picture)
    size = max(width // factor, 1), max(height // factor, 1)
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    return small.reshape(size[1], size[0], channels)
