"""The similarity of two pictures in three numbers: largest error, PSNR and SSIM."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WINDOW = 11  # pixels; Gaussian with SIGMA, cut off at five pixels and normalised
SIGMA = 1.5
K1, K2 = 0.01, 0.03
ROWS = 128  # at once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Similarity:
    """The outcome of comparing two pictures, alpha left out.

    largest  |difference|, in sample values; NaN where a sample is NaN
    psnr_db  10 · log₁₀(full² / mean squared difference); infinite where nothing differs, minus
             infinity where a difference is infinite, NaN where a sample is NaN
    ssim     mean over all windows that lie wholly in the picture, and over the channels; 1 where
             nothing differs; None where the picture is smaller than a window; NaN where a sample
             is not finite
    full     the value of full intensity, which PSNR and SSIM are relative to
    """

    largest: float
    psnr_db: float
    ssim: float | None
    full: float


def comparing(one: NDArray[Any], other: NDArray[Any], full: float) -> Iterator[Similarity | None]:
    """Compare strip by strip; the last step is the Similarity.

    one, other  (H, W, C) alike in shape, in the same units; full: the value of full intensity

    SSIM is that of Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, Image Quality
    Assessment: From Error Visibility to Structural Similarity, IEEE Transactions on Image
    Processing 13 (4), 2004: an 11×11 Gaussian window with σ = 1.5, K₁ = 0.01, K₂ = 0.03, L = full.
    """
    height, _, channels = one.shape
    colours = channels - (channels in (2, 4))
    largest, squares, windows, similarity = 0.0, 0.0, 0, 0.0
    around = WINDOW - 1
    for top in range(0, height, ROWS):
        rows = slice(top, min(top + ROWS + around, height))  # with the windows that begin here
        for channel in range(colours):
            a = one[rows, :, channel].astype(np.float64)
            b = other[rows, :, channel].astype(np.float64)
            with np.errstate(invalid="ignore"):
                apart = np.abs(a[:ROWS] - b[:ROWS])
            largest = float(np.maximum(largest, apart.max()))  # which keeps a NaN
            squares += float((apart**2).sum())
            if min(a.shape) >= WINDOW:
                found = _similarities(a, b, full)
                windows += found.size
                similarity += float(found.sum())
            yield None
    mean = squares / (one.shape[0] * one.shape[1] * colours)
    psnr = math.inf if mean == 0 else 20 * math.log10(full) - 10 * math.log10(mean)
    yield Similarity(largest, psnr, similarity / windows if windows else None, full)


def _similarities(a: Floats, b: Floats, full: float) -> Floats:
    """Return SSIM of each window that lies wholly in a and b: (rows - 10, W - 10)."""
    c1, c2 = (K1 * full) ** 2, (K2 * full) ** 2
    with np.errstate(invalid="ignore"):  # of what is not finite comes NaN
        mean_a, mean_b = _weighted(a), _weighted(b)
        spread_a = _weighted(a * a) - mean_a**2
        spread_b = _weighted(b * b) - mean_b**2
        common = _weighted(a * b) - mean_a * mean_b
        above = (2 * mean_a * mean_b + c1) * (2 * common + c2)
        below = (mean_a**2 + mean_b**2 + c1) * (spread_a + spread_b + c2)
        found: Floats = above / below
    return found


def _weighted(values: Floats) -> Floats:
    import cv2  # here: the window paints before anything heavy is imported

    reach = WINDOW // 2
    line = cv2.getGaussianKernel(WINDOW, SIGMA, cv2.CV_64F)
    blurred = cv2.sepFilter2D(values, cv2.CV_64F, line, line)
    return np.asarray(blurred[reach:-reach, reach:-reach], np.float64)
