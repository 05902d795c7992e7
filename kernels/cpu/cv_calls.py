"""The plain OpenCV calls that give a job's filter, as somebody would type them.

cv2's own filters of fixed shape are found in the weights: a bell curve is GaussianBlur, equal
weights are blur, and so on.  What has no name is sepFilter2D where the weights are a column times a
row, else filter2D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, Separable, separate

# Up to here plain sums are as quick as two passes.
MAX_DIRECT_KSIZE = 3
# What two ways to compute the same weights may differ by, as a share of the weight.
SAME_WEIGHT = 8 * UNIT_ROUNDOFF

FIXED_UNITS = 1 << 8  # of one, which is what cv2 rounds the weights of a pass over bytes to
NEARLY_ONE = 4 * UNIT_ROUNDOFF  # with some room beside what cv2 takes for a sum of one

SOBEL_X = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
LAPLACIANS = {
    1: np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.float32),
    3: np.array([[2, 0, 2], [0, -8, 0], [2, 0, 2]], np.float32),
}

Apply = Callable[[NDArray[Any], NDArray[Any] | None, int, int], NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a function of cv2, with its arguments.

    name    what is called, as "cv2.GaussianBlur"
    apply   (source, target or None, depth, border) -> the filtered picture, in `target` if that is
            of its shape and type
    coarse  whether integers may be computed with weights rounded to a few bits, and so be off by
            more than their last rounding; how far depends on the picture
    """

    name: str
    apply: Apply
    coarse: bool = False


def calls(job: Job) -> tuple[Call, ...]:
    """Return every call that gives `job`'s weighted samples; the last is exact in float32."""
    factors = separate(job.weights)
    found = [*_named(job, factors)]
    if factors is None or job.ksize <= MAX_DIRECT_KSIZE:
        found.append(_filter2d(job))
    if factors is not None:
        found.append(_separable(job, factors))
    return tuple(found)


def exact_call(job: Job) -> Call:
    """Return the call that sums in float32 and may be asked for float32, whatever it is given."""
    factors = separate(job.weights)
    return _filter2d(job) if factors is None else _separable(job, factors)


def _named(job: Job, factors: Separable | None) -> Iterator[Call]:
    if factors is not None and not job.offset:
        if (sigma := _sigma(job.ksize, factors)) is not None:
            yield _gaussian(job.ksize, sigma)
        if _is_mean(job.weights):
            yield _mean(job.ksize)
    if job.ksize == 3:
        yield from _derivatives(job)


def _gaussian(ksize: int, sigma: float) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, _depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.GaussianBlur(source, (ksize, ksize), sigma, dst=target, borderType=border)

    return Call("cv2.GaussianBlur", apply, coarse=not _is_exact_bell(ksize, sigma))


def _mean(ksize: int) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, _depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.blur(source, (ksize, ksize), dst=target, borderType=border)

    return Call("cv2.blur", apply)


def _derivatives(job: Job) -> Iterator[Call]:
    for dx, dy, weights in ((1, 0, SOBEL_X), (0, 1, SOBEL_X.T)):
        if (scale := _multiple(job.weights, weights)) is not None:
            yield _sobel(dx, dy, scale, job.offset)
    for aperture, weights in LAPLACIANS.items():
        if (scale := _multiple(job.weights, weights)) is not None:
            yield _laplacian(aperture, scale, job.offset)


def _sobel(dx: int, dy: int, scale: float, offset: float) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.Sobel(
            source, depth, dx, dy, dst=target, scale=scale, delta=offset, borderType=border
        )

    return Call("cv2.Sobel", apply)


def _laplacian(aperture: int, scale: float, offset: float) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.Laplacian(
            source, depth, dst=target, ksize=aperture, scale=scale, delta=offset, borderType=border
        )

    return Call("cv2.Laplacian", apply)


def _separable(job: Job, factors: Separable) -> Call:
    column, row = factors

    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.sepFilter2D(
            source, depth, row, column, dst=target, delta=job.offset, borderType=border
        )

    return Call("cv2.sepFilter2D", apply, coarse=all(map(_is_smooth, factors)))


def _filter2d(job: Job) -> Call:
    import cv2

    def apply(
        source: NDArray[Any], target: NDArray[Any] | None, depth: int, border: int
    ) -> NDArray[Any]:
        return cv2.filter2D(
            source, depth, job.weights, dst=target, delta=job.offset, borderType=border
        )

    return Call("cv2.filter2D", apply)


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


def _is_exact_bell(ksize: int, sigma: float) -> bool:
    """Return whether the few bits that cv2 gives a bell's weights hold them exactly.

    Then integers are summed exactly, whatever the picture, and rounded once: so it is for bells
    that are a row of Pascal's triangle.
    """
    import cv2

    scaled = cv2.getGaussianKernel(ksize, sigma, cv2.CV_64F).ravel() * FIXED_UNITS
    return bool(np.all(scaled == np.round(scaled)))


def _is_smooth(factor: NDArray[np.float32]) -> bool:
    """Return whether cv2 takes it for a mean with weights, which it gives a few bits each.

    Two such passes over bytes are summed as integers, all others as float32.
    """
    total = float(factor.astype(np.float64).sum())
    is_mean = float(factor.min()) >= 0 and abs(total - 1) <= NEARLY_ONE * (abs(total) + 1)
    return is_mean and np.array_equal(factor.ravel(), factor.ravel()[::-1])


def _multiple(weights: NDArray[np.float32], unit: NDArray[np.float32]) -> float | None:
    """Return the number that makes `weights` of `unit`, exactly; None where there is none."""
    scale = weights.ravel()[unit.ravel().argmax()] / unit.max()
    return float(scale) if scale and np.array_equal(unit * scale, weights) else None
