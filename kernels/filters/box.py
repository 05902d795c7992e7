"""Box blur: every neighbour counts the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import ANY_ODD

TITLE = "Box blur"
ORDER = 11
GROUP = "Blur"
SIZES = ANY_ODD


def weights(ksize: int) -> NDArray[np.float32]:
    """Return (ksize, ksize) float32, all equal, summing to 1."""
    return np.full((ksize, ksize), 1 / ksize**2, np.float32)
