"""The plain nested loops, compiled by numba: what every report's CPU column stands for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.host.strips import Rectangle
from kernels.job import Job

_compiled: set[str] = set()


def prepare(job: Job) -> bool:
    """Compile for the job's pixel type; True if that took place just now.

    About half a second the first time; numba keeps the machine code on disk.
    """
    if job.pixel_type in _compiled:
        return False
    one = np.zeros((1, 1, 1), job.picture.dtype)
    correlate(one, np.zeros((1, 1), np.float32), one.copy(), (0, 1, 0, 1))
    _compiled.add(job.pixel_type)
    return True


def correlate(
    padded: NDArray[Any],
    weights: NDArray[np.float32],
    out: NDArray[Any],
    rectangle: Rectangle,
    has_alpha: bool = False,
) -> None:
    """Fill `rectangle` of `out`; releases the GIL.

    padded   (H + 2r, W + 2r, C), the picture with its border around it
    weights  (2r + 1, 2r + 1) float32
    out      (H, W, C), dtype as padded
    """
    integers = out.dtype.kind == "u"
    largest = np.float32(np.iinfo(out.dtype).max if integers else 0)
    colours = out.shape[2] - has_alpha
    _compile()(padded, weights, out, *rectangle, colours, integers, largest)


@cache
def _compile() -> Any:
    from numba import njit

    return njit(nogil=True, cache=True)(_loops)


def _loops(
    padded: Any,
    weights: Any,
    out: Any,
    top: int,
    bottom: int,
    left: int,
    right: int,
    colours: int,
    integers: bool,
    largest: Any,
) -> None:
    ksize = weights.shape[0]
    radius = ksize // 2
    for y in range(top, bottom):
        for x in range(left, right):
            for c in range(colours):
                total = np.float32(0)
                for j in range(ksize):
                    for i in range(ksize):
                        total += weights[j, i] * np.float32(padded[y + j, x + i, c])
                if integers:  # half to even, saturated
                    total = min(max(np.rint(total), np.float32(0)), largest)
                out[y, x, c] = total
            for c in range(colours, out.shape[2]):
                out[y, x, c] = padded[y + radius, x + radius, c]
