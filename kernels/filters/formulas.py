"""Filters of any size whose weights are a line or two of arithmetic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters import Filter, gaussian
from kernels.filters.parameters import AMOUNT, ANY_ODD, SIGMA, THRESHOLD

Weights = NDArray[np.float32]


def _unsharp(ksize: int, *, sigma: float | None = None, amount: float = 1.0) -> Weights:
    """(1 + amount) · identity - amount · gaussian."""
    row = gaussian.taps(ksize, sigma)
    drawn = -amount * np.outer(row, row)
    drawn[ksize // 2, ksize // 2] += 1 + amount
    return drawn.astype(np.float32)


def _laplacian_of_gaussian(ksize: int, *, sigma: float | None = None) -> Weights:
    """∇²G = (r² - 2σ²)/σ⁴ · G (Marr and Hildreth, Theory of Edge Detection, 1980)."""
    variance = (sigma or gaussian.default_sigma(ksize)) ** 2
    distance = np.arange(ksize) - ksize // 2
    squared = distance[:, None] ** 2 + distance[None, :] ** 2
    bell = np.exp(-0.5 * squared / variance)
    bell /= bell.sum()
    drawn = bell * (squared - 2 * variance) / variance**2
    # A flat picture must give zero.  The centre is the lowest of all weights, so it stays below
    # their mean, however far sigma reaches beyond the size or stays below a pixel.
    return np.asarray(drawn - drawn.mean(), np.float32)


FILTERS = (
    Filter(
        *("identity", "Identity", 0, ANY_ODD, (), lambda k: np.pad([[np.float32(1)]], k // 2)),
        idea="Nothing changes, which makes it the first thing to test.",
        usual_size=1,  # of weights of 0 around it, NaN and infinity would spread as NaN
    ),
    Filter(
        *("box", "Box blur", 11, ANY_ODD, (), lambda k: np.full((k, k), 1 / k**2, np.float32)),
        group="Blur",
        idea="Every neighbour counts the same.",
    ),
    Filter(
        *("unsharp", "Unsharp mask", 22, ANY_ODD, (SIGMA, AMOUNT, THRESHOLD), _unsharp),
        automatic_sigma=gaussian.automatic_sigma,
        group="Sharpen",
        idea="Add back, exaggerated, what a Gaussian blur takes away.",
    ),
    Filter(
        *("edges", "Edges", 35, ANY_ODD, (SIGMA,), gaussian.weights),
        gradient=True,
        group="Edges",
        idea="A Gaussian blur against noise, then how steeply the picture rises in any direction.",
    ),
    Filter(
        *("laplacian_of_gaussian", "Laplacian of Gaussian", 42, range(3, 128, 2), (SIGMA,)),
        make=_laplacian_of_gaussian,
        automatic_sigma=gaussian.default_sigma,
        group="Edges",
        idea="Blur, then second derivative, in one; blobs and edges at one scale.",
    ),
)
