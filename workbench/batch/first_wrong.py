"""The first wrong sample of an answer, as a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type


def first_wrong(job: Job, answer: NDArray[Any], tolerance: Tolerance) -> str:
    """Return where the first one is, from the top left, and what it should be; empty: none is.

    "x 3, y 0, channel 1 is 17 and should be 22; 45 of 2331 samples are wrong."
    """
    oracle = filtered(job)
    got = answer.reshape(job.picture.shape)
    _, _, wrong = judged(job, got, oracle, limits_of(job, tolerance))
    if not wrong.any():
        return ""
    at = tuple(int(each) for each in np.argwhere(wrong)[0])
    y, x, channel = at
    expected = to_pixel_type(oracle, got.dtype)[at]
    place = f"x {x}, y {y}" + (f", channel {channel}" if job.channels > 1 else "")
    return (
        f"{place} is {_number(got[at])} and should be {_number(expected)}; {int(wrong.sum())} of "
        f"{wrong.size} samples are wrong."
    )


def _number(value: Any) -> str:
    return f"{value}" if np.issubdtype(type(value), np.integer) else f"{float(value):.4g}"
