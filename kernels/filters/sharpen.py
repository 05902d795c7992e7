"""Sharpen: a pixel minus its four neighbours, on top of itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Sharpen"
ORDER = 20
SIZES = THREE_ONLY

DRAWN = (
    (0, -1, 0),
    (-1, 5, -1),
    (0, -1, 0),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
