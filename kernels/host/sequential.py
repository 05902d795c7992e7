"""One thread, plain nested loops: the baseline that published comparisons use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from kernels.host import loops
from kernels.host.strips import rectangles
from kernels.job import Job

TITLE = "Sequential"
IDEA = "One CPU thread, four plain nested loops, compiled: the baseline published reports use."
ORDER = 0
ERROR_FACTOR = 1.0

prepare = loops.prepare


def chain(job: Job) -> int:
    """One addition a tap."""
    return job.ksize**2


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """It runs everything."""
    return None


def threads() -> int:
    """One."""
    return 1


def filtering(job: Job, out: NDArray[Any]) -> Iterator[None]:
    """Fill `out`, (H, W, C) of job.picture's dtype, a strip at a time."""
    for rectangle in rectangles(job.height, job.width, job.ksize**2 * job.channels):
        loops.fill(job, out, rectangle)
        yield
