"""Strong sharpen: all eight neighbours count against the pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.filters.parameters import THREE_ONLY

TITLE = "Sharpen, strong"
ORDER = 21
SIZES = THREE_ONLY

DRAWN = (
    (-1, -1, -1),
    (-1, 9, -1),
    (-1, -1, -1),
)


def weights(ksize: int) -> NDArray[np.float32]:  # noqa: ARG001 - 3, the only size
    """(3, 3) float32."""
    return np.array(DRAWN, np.float32)
