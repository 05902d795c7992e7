"""The oracle: correlation written to be obviously right, not fast.

Every implementation is tested against `correlate` here, and `correlate` itself is tested
against numbers worked out by hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.borders import read


def correlate(
    picture: NDArray[Any],
    weights: NDArray[np.float32],
    border: str,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
) -> NDArray[np.float64]:
    """Slide `weights` over `picture` and sum the products, in float64.

    picture        (H, W, C); the last of 2 or 4 channels is alpha and is copied
    weights        (K, K) float32, K odd; applied as drawn, not flipped
    border         one of `borders.BORDERS`
    rows, columns  the (start, stop) to work out; None: all
    returns        (rows, columns, C) float64, neither rounded nor clipped
    """
    top, bottom = rows or (0, picture.shape[0])
    left, right = columns or (0, picture.shape[1])
    radius = weights.shape[0] // 2
    around = read(picture, border, (top - radius, bottom + radius), (left - radius, right + radius))
    around = around.astype(np.float64)
    height, width = bottom - top, right - left

    total = np.zeros((height, width, picture.shape[2]))
    with np.errstate(invalid="ignore", over="ignore"):  # infinities in the picture are its own
        for j, weights_row in enumerate(weights.astype(np.float64)):
            for i, weight in enumerate(weights_row):
                total += weight * around[j : j + height, i : i + width]
    if picture.shape[2] in (2, 4):
        total[..., -1] = picture[top:bottom, left:right, -1]
    return total


def to_pixel_type(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Integers: rounded half to even and saturated.  Floats: converted, not clipped."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):  # too large for float32 is infinite
            return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
