"""OpenCV's filter2D and sepFilter2D on every core: vectorised, the CPU's best."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.borders import pad
from kernels.errors import CannotRunError
from kernels.host.parallel import pool, threads
from kernels.host.strips import Rectangle, rectangles
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

Factors = tuple[NDArray[np.float32], NDArray[np.float32]] | None
__all__ = ["chain", "filtering", "prepare", "threads", "why_not"]


def chain(job: Job) -> int:
    """One addition a tap; a spectrum's log(n) roundings stay below that."""
    return job.ksize**2


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """It runs everything but pictures with NaN or infinity, which `filtering` looks for."""
    return None


def prepare(job: Job) -> bool:  # noqa: ARG001
    """Import OpenCV; nothing is compiled."""
    import cv2  # noqa: F401

    return False


def filtering(job: Job, out: NDArray[Any]) -> Iterator[None]:
    """Fill `out`, (H, W, C) of job.picture's dtype, one rectangle a thread and step.

    Raises CannotRunError for NaN or infinity: filter2D skips weights of zero, so they would
    not spread as they should.
    """
    import cv2

    if job.pixel_type == "float32" and not cv2.checkRange(job.picture)[0]:
        raise CannotRunError(
            "The picture holds NaN or infinity, which OpenCV does not treat as the other "
            "implementations do; choose Parallel."
        )
    padded = pad(job.picture, job.radius, job.border)
    yield
    factors = separate(job.weights)
    taps = 2 * job.ksize if factors else min(job.ksize, SPECTRAL_KSIZE) ** 2
    cost = max(taps * job.channels // SPEED, 1)
    waiting = rectangles(job.height, job.width, cost, threads())
    while together := list(islice(waiting, threads())):
        done = [pool().submit(_fill, job, padded, factors, out, each) for each in together]
        for future in done:
            future.result()
        yield


def _fill(
    job: Job, padded: NDArray[Any], factors: Factors, out: NDArray[Any], rectangle: Rectangle
) -> None:
    """Fill one rectangle of `out`.  Its slice of `padded` brings its own halo, so what OpenCV
    itself makes of borders never shows."""
    top, bottom, left, right = rectangle
    around = padded[top : bottom + 2 * job.radius, left : right + 2 * job.radius]
    filtered = _correlate(around, job.weights, factors)
    inner = filtered[job.radius : job.radius + bottom - top, job.radius : job.radius + right - left]
    _store(inner, out[top:bottom, left:right])
    if job.has_alpha:
        out[top:bottom, left:right, -1] = job.picture[top:bottom, left:right, -1]


def _correlate(
    around: NDArray[Any], weights: NDArray[np.float32], factors: Factors
) -> NDArray[Any]:
    """In the picture's type where one pass does it, which is fastest; in float32 where two do,
    since sepFilter2D from and to uint8 gets exact halves wrong."""
    import cv2

    if factors is None:
        filtered = cv2.filter2D(around, -1, weights)
    else:
        column, row = factors
        filtered = cv2.sepFilter2D(around, cv2.CV_32F, row, column)
    return np.asarray(filtered).reshape(around.shape)  # OpenCV drops a lone channel


def _store(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Round half to even and saturate in one pass, where that is still to be done."""
    import cv2

    if values.dtype == out.dtype:
        out[:] = values
        return
    depth = cv2.CV_8U if out.dtype == np.uint8 else cv2.CV_16U
    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    zero = np.zeros(4)  # a cv2.Scalar; adding it is the one-pass conversion that OpenCV offers
    out[:] = np.asarray(cv2.add(flat, zero, dtype=depth)).reshape(out.shape)
