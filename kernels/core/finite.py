"""Tell once whether a picture holds NaN or infinities, since large pictures take a while."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import once_a_picture


def all_finite(picture: NDArray[Any]) -> bool:
    """Return whether every sample is a finite number, as integers always are."""
    return picture.dtype.kind != "f" or _all_finite(picture)


@once_a_picture
def _all_finite(picture: NDArray[Any]) -> bool:
    # Infinities and NaN survive a sum, and a sum needs no array of answers.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(picture.sum(dtype=np.float64)))
