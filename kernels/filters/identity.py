"""Identity: nothing changes, which makes it the first thing to test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import ANY_ODD

TITLE = "Identity"
ORDER = 0
SIZES = ANY_ODD


def weights(ksize: int) -> NDArray[np.float32]:
    """Return (ksize, ksize) float32: 1 in the middle, 0 elsewhere."""
    drawn = np.zeros((ksize, ksize), np.float32)
    drawn[ksize // 2, ksize // 2] = 1
    return drawn
