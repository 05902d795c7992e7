"""OpenCV's filter2D and sepFilter2D: vectorised, threaded, the CPU's best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.borders import pad
from kernels.errors import CannotRunError
from kernels.host.strips import rectangles
from kernels.job import Job
from kernels.weights import separate

TITLE = "OpenCV"
IDEA = "OpenCV's vectorised filters on every core; two 1-D passes where the weights allow it."
ORDER = 2
ERROR_FACTOR = 2.0
# OpenCV works out some ten products in the time that plain loops take for one.
SPEED = 10
# From this size on filter2D multiplies spectra, so a larger size costs no more.
SPECTRAL_KSIZE = 11


def chain(job: Job) -> int:
    """One addition a tap; a spectrum's log(n) roundings stay below that."""
    return job.ksize**2


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """It runs everything but pictures with NaN or infinity, which `filtering` looks for."""
    return None


def threads() -> int:
    """As many as OpenCV uses."""
    import cv2

    return int(cv2.getNumThreads())


def prepare(job: Job) -> bool:  # noqa: ARG001
    """Import OpenCV; nothing is compiled."""
    import cv2  # noqa: F401

    return False


def filtering(job: Job, out: NDArray[Any]) -> Iterator[None]:
    """Fill `out`, (H, W, C) of job.picture's dtype, a band of rows at a time.

    Raises CannotRunError for NaN or infinity: filter2D skips weights of zero, so they would
    not spread as they should.
    """
    import cv2

    if job.pixel_type == "float32" and not cv2.checkRange(job.picture):
        raise CannotRunError(
            "The picture holds NaN or infinity, which OpenCV does not treat as the other "
            "implementations do; choose Parallel."
        )
    padded = pad(job.picture, job.radius, job.border)
    yield
    factors = separate(job.weights)
    taps = 2 * job.ksize if factors else min(job.ksize, SPECTRAL_KSIZE) ** 2
    for top, bottom, left, right in rectangles(
        job.height, job.width, max(taps * job.channels // SPEED, 1)
    ):
        # A slice brings its own halo, so OpenCV's border rule never shows.
        part = padded[top : bottom + 2 * job.radius, left : right + 2 * job.radius]
        filtered = _filter(part.astype(np.float32), job.weights, factors)
        inner = filtered[job.radius : job.radius + bottom - top]
        inner = inner[:, job.radius : job.radius + right - left]
        out[top:bottom, left:right] = _to_pixel_type(inner, out.dtype)
        if job.has_alpha:
            out[top:bottom, left:right, -1] = job.picture[top:bottom, left:right, -1]
        yield


def _filter(
    part: NDArray[np.float32],
    weights: NDArray[np.float32],
    factors: tuple[NDArray[np.float32], NDArray[np.float32]] | None,
) -> NDArray[np.float32]:
    import cv2

    if factors is None:
        filtered = cv2.filter2D(part, cv2.CV_32F, weights)
    else:
        column, row = factors
        filtered = cv2.sepFilter2D(part, cv2.CV_32F, row, column)
    return np.asarray(filtered, np.float32).reshape(part.shape)  # OpenCV drops a lone channel


def _to_pixel_type(values: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round half to even and saturate, in one pass; floats stay."""
    if dtype == np.float32:
        return values
    import cv2

    depth = cv2.CV_8U if dtype == np.uint8 else cv2.CV_16U
    flat = np.ascontiguousarray(values).reshape(values.shape[0], -1)
    return np.asarray(cv2.add(flat, 0, dtype=depth)).reshape(values.shape)
