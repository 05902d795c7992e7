"""Emboss: light from the upper left, as on stamped metal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Emboss"
ORDER = 50
SIZES = THREE_ONLY

DRAWN = (
    (-2, -1, 0),
    (-1, 1, 1),
    (0, 1, 2),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
