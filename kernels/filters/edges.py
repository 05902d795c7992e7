"""Edges: a Gaussian blur against noise, then how steeply the picture rises in any direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters import gaussian
from kernels.filters.parameters import ANY_ODD, SIGMA

TITLE = "Edges"
ORDER = 35
GROUP = "Edges"
SIZES = ANY_ODD
PARAMETERS = (SIGMA,)
GRADIENT = True


def weights(ksize: int, *, sigma: float | None = None) -> NDArray[np.float32]:
    """Return the blur's weights, (ksize, ksize) float32: see `gaussian.weights`."""
    return gaussian.weights(ksize, sigma=sigma)
