"""Unsharp mask: add back, exaggerated, what a Gaussian blur takes away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters import gaussian
from kernels.filters.parameters import AMOUNT, ANY_ODD, SIGMA

TITLE = "Unsharp mask"
ORDER = 22
GROUP = "Sharpen"
SIZES = ANY_ODD
PARAMETERS = (SIGMA, AMOUNT)
automatic_sigma = gaussian.automatic_sigma


def weights(ksize: int, *, sigma: float | None = None, amount: float = 1.0) -> NDArray[np.float32]:
    """(1 + amount) · identity - amount · gaussian, (ksize, ksize) float32 summing to 1.

    sigma   standard deviation of the Gaussian in pixels; None: its default for the size
    """
    row = gaussian.taps(ksize, sigma)
    drawn = -amount * np.outer(row, row)
    drawn[ksize // 2, ksize // 2] += 1 + amount
    return drawn.astype(np.float32)
