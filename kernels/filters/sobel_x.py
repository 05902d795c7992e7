"""Sobel X: the slope along x, smoothed along y; vertical edges light up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Sobel X"
ORDER = 30
SIZES = THREE_ONLY

DRAWN = (
    (-1, 0, 1),
    (-2, 0, 2),
    (-1, 0, 1),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
