"""Gaussian blur: near neighbours count more, by a bell curve.

With a sigma the taps are exp(-x²/2σ²), scaled to sum to 1.  Without one, sizes 3 and 5 are
binomial, and all others have default_sigma().  These are the taps of cv2.getGaussianKernel(K, 0),
and so of cv2.GaussianBlur(…, 0), but at size 7 and, in newer versions, 9: there OpenCV has tables
of its own (small_gaussian_tab), which are no sampled bell, and so differs from ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernels.filters import Filter
from kernels.filters.parameters import ANY_ODD, SIGMA

ENOUGH = 0.99  # of a bell
FAR = 8  # sigmas: beyond, a bell is nothing in float64
# The small filters everybody writes down: rows of Pascal's triangle.
BINOMIAL = {1: (1,), 3: (1, 2, 1), 5: (1, 4, 6, 4, 1)}


def default_sigma(ksize: int) -> float:
    """The standard deviation, in pixels, that OpenCV documents for a size without one."""
    return 0.3 * ((ksize - 1) * 0.5 - 1) + 0.8


def is_binomial(ksize: int) -> bool:
    """Return True if taps(ksize) are a row of Pascal's triangle, and no sampled bell."""
    return ksize > 1 and ksize in BINOMIAL


def automatic_sigma(ksize: int) -> float:
    """The standard deviation of taps(ksize) in pixels: √((K - 1) / 4) of a binomial.

    One weight alone is 1 for every sigma; default_sigma() then.
    """
    if is_binomial(ksize):
        return math.sqrt((ksize - 1) / 4)
    return default_sigma(ksize)


def taps(ksize: int, sigma: float | None = None) -> NDArray[np.float64]:
    """The bell along one axis, (ksize,) float64 summing to 1."""
    if sigma is None and ksize in BINOMIAL:
        row = np.array(BINOMIAL[ksize], np.float64)
    else:
        distance = np.arange(ksize) - ksize // 2
        row = np.exp(-0.5 * (distance / (sigma or default_sigma(ksize))) ** 2)
    return np.asarray(row / row.sum())


def weights(ksize: int, *, sigma: float | None = None) -> NDArray[np.float32]:
    """The bell along y times the bell along x, (ksize, ksize) float32.

    sigma  standard deviation in pixels; None: binomial for 3 and 5, default_sigma() for others
    """
    row = taps(ksize, sigma)
    return np.outer(row, row).astype(np.float32)


def share_held(ksize: int, sigma: float) -> float:
    """The share of the whole bell of `sigma` that the size holds, from 0 to 1.

    The rest is cut off, and what is left scaled up: weights() always sum to 1.
    """
    far = max(ksize // 2, math.ceil(FAR * sigma))
    row = np.exp(-0.5 * (np.arange(-far, far + 1) / sigma) ** 2)
    inside = row[far - ksize // 2 : far + ksize // 2 + 1]
    return float((inside.sum() / row.sum()) ** 2)


def size_for(sigma: float, chosen: Filter) -> int:
    """The size that holds ENOUGH of the bell, else the largest; of a disk the usual one."""
    if not chosen.has_weights:
        return chosen.nearest_size(2 * round(2.5 * sigma) + 1)
    return size_holding(sigma, chosen.sizes) or max(chosen.sizes)


def size_holding(sigma: float, sizes: Sequence[int] = ANY_ODD) -> int | None:
    """The smallest of `sizes` that holds ENOUGH of the bell; None where none does."""
    return next((ksize for ksize in sizes if share_held(ksize, sigma) >= ENOUGH), None)


FILTERS = (
    Filter(
        *("gaussian", "Gaussian blur", 10, ANY_ODD, (SIGMA,), weights),
        automatic_sigma=automatic_sigma,
        group="Blur",
        idea="Near neighbours count more, by a bell curve.",
    ),
)
