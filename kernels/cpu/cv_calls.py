"""The OpenCV call for a job, by a rule over its pixel type and weights alone.

The rule is fitted to cv2 5.0 with 1, 2 and 16 threads.  It knows neither the picture's size nor the
number of cores nor a clock, so that a strip, a busy computer and a larger one give the same pixels:

- Separable weights: sepFilter2D, whose sums are float32.
- A mean: blur, whose running sums do not depend on K, from MIN_BLUR_KSIZE on; for uint16 always.
- A bell over integers up to MAX_BELL_KSIZE: GaussianBlur, for uint8 only where its weights are
  exact and for uint16 where they are off by less than MAX_OFF, whatever the picture.
- All else: filter2D.

cv2 filters uint16 with generic code, five to ten times slower than float32: see `in_float32`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, Separable, separate

MIN_BLUR_KSIZE = 9
MAX_BELL_KSIZE = {"uint8": 3, "uint16": 7}
# A sum off by less than 1 is at most one level from the rounded one: cv2's own last rounding adds
# half of one.
MAX_OFF = 0.95
SPECTRA_KSIZE = 11  # filter2D multiplies spectra from about here on, uint16 as quickly as float32
SAME_WEIGHT = 8 * UNIT_ROUNDOFF  # relative difference of two ways to compute a weight

Apply = Callable[[NDArray[Any], NDArray[Any] | None, int, int], NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a function of cv2, with its arguments.

    name        "cv2.GaussianBlur"
    apply       (source, target or None, depth, border) -> the filtered picture, in `target` if that
                is of its shape and type
    in_float32  whether it is given samples as float32, and its output is rounded afterwards
    in_blocks   whether a sample depends, by a rounding, on where the rows begin that cv2 is given
    on_all_threads  whether cv2 shares it among its threads
    """

    name: str
    apply: Apply
    in_float32: bool = False
    in_blocks: bool = False
    on_all_threads: bool = True


def call_for(job: Job) -> Call:
    """Choose the call for `job`'s weighted samples."""
    factors, pixel_type = separate(job.weights), job.pixel_type
    if factors is None:
        return _filter2d(job)
    if not job.offset:
        if _is_mean(job.weights) and (job.ksize >= MIN_BLUR_KSIZE or pixel_type == "uint16"):
            return _mean(job)
        if job.ksize <= MAX_BELL_KSIZE.get(pixel_type, 0):
            sigma = _sigma(job.ksize, factors)
            if sigma is not None and _most_off(job.ksize, sigma, pixel_type) < MAX_OFF:
                return _gaussian(job.ksize, sigma)
    return _separable(job, factors)


def exact_call(job: Job) -> Call:
    """Choose the call that sums in float32 and may output float32, whatever its input."""
    factors = separate(job.weights)
    return _filter2d(job) if factors is None else _separable(job, factors)


def _stored_otherwise(job: Job) -> bool:
    """Whether cv2 does not filter the pixel type, or not in its quick code."""
    return job.pixel_type in ("float16", "uint16")


def _gaussian(ksize: int, sigma: float) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, _depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.GaussianBlur(source, (ksize, ksize), sigma, dst=target, borderType=border)

    return Call("cv2.GaussianBlur", apply)


def _mean(job: Job) -> Call:
    import cv2

    ksize = job.ksize

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, _depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.blur(source, (ksize, ksize), dst=target, borderType=border)

    is_real = job.picture.dtype.kind == "f"  # whose running sums round
    return Call("cv2.blur", apply, job.pixel_type == "float16", is_real, on_all_threads=False)


def _separable(job: Job, factors: Separable) -> Call:
    import cv2

    column, row = factors
    if job.pixel_type == "uint8":
        # Factors that sum to one cv2 rounds to 8 bits; these sum to ½ and 2, and stay float32.
        half, two = np.float32(0.5), np.float32(2)
        column, row = np.multiply(column, half), np.multiply(row, two)

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.sepFilter2D(
            source, depth, row, column, dst=target, delta=job.offset, borderType=border
        )

    return Call("cv2.sepFilter2D", apply, _stored_otherwise(job))


def _filter2d(job: Job) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.filter2D(
            source, depth, job.weights, dst=target, delta=job.offset, borderType=border
        )

    by_spectra = job.ksize >= SPECTRA_KSIZE
    in_float32 = job.pixel_type == "float16" or (job.pixel_type == "uint16" and not by_spectra)
    return Call("cv2.filter2D", apply, in_float32, by_spectra, on_all_threads=not by_spectra)


def _sigma(ksize: int, factors: Separable) -> float | None:
    """Return the sigma with which cv2.GaussianBlur has these factors, 0 for its own choice.

    None where no bell curve has them.
    """
    import cv2

    rows = [each.astype(np.float64) / float(each.sum() or 1) for each in factors]
    # A column and a row that sum to one each, up to a factor that the other one has.
    gain = float(factors[0].astype(np.float64).sum() * factors[1].astype(np.float64).sum())
    if ksize == 1 or abs(gain - 1) > ksize**2 * SAME_WEIGHT or min(map(np.min, rows)) <= 0:
        return None
    for sigma in (0.0, _sigma_of(rows[0])):
        bell = cv2.getGaussianKernel(ksize, sigma, cv2.CV_64F).ravel()
        if all(np.allclose(row, bell, rtol=SAME_WEIGHT, atol=0) for row in rows):
            return sigma
    return None


def _sigma_of(row: NDArray[np.float64]) -> float:
    """Return the sigma of the bell through the middle of `row` and its end, which tells most."""
    radius = len(row) // 2
    fall = float(np.log(row[radius] / row[0]))
    return radius / float(np.sqrt(2 * fall)) if fall > 0 else 0.0


def _is_mean(weights: NDArray[np.float32]) -> bool:
    return bool(np.ptp(weights) == 0 and weights[0, 0] == np.float32(1 / weights.size))


@lru_cache(maxsize=64)
def _most_off(ksize: int, sigma: float, pixel_type: str) -> float:
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
