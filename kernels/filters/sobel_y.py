"""Sobel Y: the slope along y, smoothed along x; horizontal edges light up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Sobel Y"
ORDER = 31
SIZES = THREE_ONLY

DRAWN = (
    (-1, -2, -1),
    (0, 0, 0),
    (1, 2, 1),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
