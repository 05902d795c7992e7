"""The plain nested loops, compiled by numba: what every report's CPU column stands for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.borders import read
from kernels.host.strips import Rectangle
from kernels.job import Job

_compiled: set[str] = set()


def prepare(job: Job) -> bool:
    """Compile for the job's pixel type, or load what was compiled before; True if just now.

    About a second the first time; numba keeps the machine code on disk.
    """
    if job.pixel_type in _compiled:
        return False
    one = np.zeros((1, 1, 1), job.picture.dtype)
    fill(Job(one, np.zeros((1, 1), np.float32)), one.copy(), (0, 1, 0, 1))
    _compiled.add(job.pixel_type)
    return True


def fill(job: Job, out: NDArray[Any], rectangle: Rectangle) -> None:
    """Work out `rectangle` of `out`, which is like job.picture; releases the GIL."""
    top, bottom, left, right = rectangle
    radius = job.radius
    around = read(
        job.picture, job.border, (top - radius, bottom + radius), (left - radius, right + radius)
    )
    integers = out.dtype.kind == "u"
    largest = np.float32(np.iinfo(out.dtype).max if integers else 0)
    weights = np.array(job.weights, order="C")  # one layout and writable, so compiled once
    colours = job.channels - job.has_alpha
    _compile()(around, weights, out[top:bottom, left:right], colours, integers, largest)


@cache
def _compile() -> Any:
    from numba import njit

    try:
        return njit(nogil=True, cache=True)(_loops)
    except RuntimeError:  # numba found no folder that it may keep machine code in
        return njit(nogil=True)(_loops)


def _loops(around: Any, weights: Any, out: Any, colours: int, integers: bool, largest: Any) -> None:
    ksize = weights.shape[0]
    radius = ksize // 2
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(colours):
                total = np.float32(0)
                for j in range(ksize):
                    for i in range(ksize):
                        total += weights[j, i] * np.float32(around[y + j, x + i, c])
                if integers:  # half to even, saturated
                    total = min(max(np.rint(total), np.float32(0)), largest)
                out[y, x, c] = total
            for c in range(colours, out.shape[2]):
                out[y, x, c] = around[y + radius, x + radius, c]
