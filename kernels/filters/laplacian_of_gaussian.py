"""Laplacian of Gaussian: blur, then second derivative, in one; blobs and edges at one scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.gaussian import default_sigma
from kernels.filters.parameters import SIGMA

TITLE = "Laplacian of Gaussian"
ORDER = 42
GROUP = "Edges"
SIZES = range(3, 128, 2)
PARAMETERS = (SIGMA,)
automatic_sigma = default_sigma


def weights(ksize: int, *, sigma: float | None = None) -> NDArray[np.float32]:
    """Return (ksize, ksize) float32 with a negative centre, corrected to sum to zero.

    sigma  standard deviation of the Gaussian in pixels; None: `gaussian.default_sigma`
    Source: Marr and Hildreth, Theory of Edge Detection, 1980: ∇²G = (r² - 2σ²)/σ⁴ · G.
    """
    variance = (sigma or default_sigma(ksize)) ** 2
    distance = np.arange(ksize) - ksize // 2
    squared = distance[:, None] ** 2 + distance[None, :] ** 2
    bell = np.exp(-0.5 * squared / variance)
    bell /= bell.sum()
    drawn = bell * (squared - 2 * variance) / variance**2
    # A flat picture must give zero.  The centre is the lowest of all weights, so it stays below
    # their mean, however far sigma reaches beyond the size or stays below a pixel.
    return np.asarray(drawn - drawn.mean(), np.float32)
