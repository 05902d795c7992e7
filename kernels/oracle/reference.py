"""The oracle: correlation, and the gradient after it, written to be obviously right, not fast."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, read, read_made
from kernels.core.weights import Weights

if TYPE_CHECKING:
    from kernels.core.job import Job


Floats = NDArray[np.float64]
Part = Span | None  # None: all rows, or columns


def filtered(job: Job, rows: Part = None, columns: Part = None) -> Floats:
    """The output for `job`, or the part rows × columns of it, as `correlate`."""
    make = gradient if job.gradient else correlate
    found = make(job.picture, job.weights, job.border, rows, columns)
    if job.offset:
        found[..., : job.channels - job.has_alpha] += float(np.float32(job.offset))
    return found


def correlate(
    picture: NDArray[Any], weights: Weights, border: str, rows: Part = None, columns: Part = None
) -> Floats:
    """Slide `weights` over `picture` and sum the products, in float64.

    picture        (H, W, C); the last of 2 or 4 channels is alpha and is copied
    weights        (K, K) float32, K odd; applied as drawn, not flipped
    border         one of `borders.BORDERS`
    rows, columns  the (start, stop) to work out
    returns        (rows, columns, C) float64, neither rounded nor clipped
    """
    top, bottom = rows or (0, picture.shape[0])
    left, right = columns or (0, picture.shape[1])
    radius = weights.shape[0] // 2
    around = read(picture, border, (top - radius, bottom + radius), (left - radius, right + radius))
    height, width = bottom - top, right - left

    total = np.zeros((height, width, picture.shape[2]))
    # Infinities and NaN in the picture are its own: a weight of 0 makes NaN of an infinity.
    with np.errstate(invalid="ignore", over="ignore"):
        around = around.astype(np.float64)
        for j, weights_row in enumerate(weights.astype(np.float64)):
            for i, weight in enumerate(weights_row):
                total += weight * around[j : j + height, i : i + width]
    if picture.shape[2] in (2, 4):
        total[..., -1] = picture[top:bottom, left:right, -1]
    return total


def gradient(
    picture: NDArray[Any], weights: Weights, border: str, rows: Part = None, columns: Part = None
) -> Floats:
    """The length of Sobel's derivatives of `correlate`'s output, which is as there.

    Beyond its edges the weighted picture is continued by `border` from its own values, which is not
    the same as weighting a picture that was continued further.
    """
    top, bottom = rows or (0, picture.shape[0])
    left, right = columns or (0, picture.shape[1])
    make = partial(correlate, picture, weights, border)
    around = (top - 1, bottom + 1), (left - 1, right + 1)
    weighted = read_made(make, picture.shape[:2], border, *around)
    with np.errstate(invalid="ignore"):
        along_y = weighted[:-2] + 2 * weighted[1:-1] + weighted[2:]
        along_x = weighted[:, :-2] + 2 * weighted[:, 1:-1] + weighted[:, 2:]
        gx = along_y[:, 2:] - along_y[:, :-2]
        gy = along_x[2:] - along_x[:-2]
        length: Floats = np.sqrt(gx**2 + gy**2)
    if picture.shape[2] in (2, 4):
        length[..., -1] = picture[top:bottom, left:right, -1]
    return length


def to_pixel_type(values: Floats, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert: to integers rounded half to even and saturated, to floats without clipping."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):  # what is too large is infinite
            return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
