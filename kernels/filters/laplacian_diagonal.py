"""Laplacian with diagonals: all eight neighbours against the pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Laplacian, diagonal"
ORDER = 41
SIZES = THREE_ONLY

DRAWN = (
    (1, 1, 1),
    (1, -8, 1),
    (1, 1, 1),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
