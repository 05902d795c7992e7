"""A quick look at what a job will give: the reduced picture, filtered with reduced weights."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import once_a_picture
from kernels.core.job import Job
from kernels.cpu import host_implementations, opencv

LONG_PRODUCTS = 3e8  # some 0.2 s of the CPU's plain loops
# OpenCV adds many at once, and finds a column and a row in most weights; but copying alone takes a
# while.
LONG_OPENCV_PRODUCTS, MIN_OPENCV_PRODUCTS = 2e8, 8
REDUCED_PIXELS = 1e6
MIN_FACTOR = 2


def takes_long(job: Job) -> bool:
    """Return True if the CPU may take so long for `job` that a preview is worth while."""
    if job.implementation == "opencv":
        return job.picture.size * max(job.ksize, MIN_OPENCV_PRODUCTS) > LONG_OPENCV_PRODUCTS
    is_on_cpu = job.implementation in [each.key for each in host_implementations()]
    return is_on_cpu and job.picture.size * job.ksize**2 > LONG_PRODUCTS


def factor_for(picture: NDArray[Any]) -> int:
    """The factor by which a preview of `picture` is smaller along each axis."""
    pixels = picture.shape[0] * picture.shape[1]
    return max(ceil(sqrt(pixels / REDUCED_PIXELS)), MIN_FACTOR)


def preview(job: Job) -> NDArray[Any] | None:
    """Return about what `job` gives, at its size and of its pixel type; None where OpenCV cannot.

    The picture is averaged, and each weight shared among the nearest weights of the smaller grid:
    right for slopes, not for the finest detail.
    """
    if job.pixel_type == "float16" or opencv.why_not(job):
        return None
    import cv2

    factor = factor_for(job.picture)
    weights = reduced_weights(job.weights, factor)
    if job.gradient:
        weights /= factor  # from one pixel to the next the reduced picture rises as much more
    small = replace(job, picture=_reduced(job.picture), weights=weights, implementation="opencv")
    size = job.width, job.height
    filtered = cv2.resize(opencv.filtered(small), size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(filtered).reshape(job.picture.shape)


def reduced_weights(weights: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """Return `weights`, (K, K), on a grid `factor` times as coarse; sum and centre stay."""
    radius = len(weights) // 2
    offsets = np.arange(-radius, radius + 1) / factor
    reach = ceil(radius / factor)
    grid = np.arange(-reach, reach + 1)
    shares = np.maximum(1 - np.abs(offsets[:, None] - grid), 0)  # (K, 2 · reach + 1)
    return np.ascontiguousarray(shares.T @ weights @ shares, np.float32)


@once_a_picture
def _reduced(picture: NDArray[Any]) -> NDArray[Any]:
    import cv2

    height, width, channels = picture.shape
    factor = factor_for(picture)
    size = max(width // factor, 1), max(height // factor, 1)
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    return small.reshape(size[1], size[0], channels)
