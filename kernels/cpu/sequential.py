"""One thread, plain nested loops: the baseline that published comparisons use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Job, Ran
from kernels.core.verdict import Tolerance
from kernels.cpu import loops
from kernels.cpu.pieces import rectangles
from kernels.cpu.prepared import Prepared

TITLE = "Sequential"
IDEA = (
    "One CPU thread, four plain nested loops, one pixel after another, compiled: the baseline that "
    "published reports use, and far from what a CPU can do."
)
ORDER = 0


def tolerance(job: Job) -> Tolerance:
    """Return the error it may make: one addition for each weight."""
    return Tolerance(chain=job.ksize**2)


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """Return None: it runs everything."""
    return None


def prepare(job: Job) -> Prepared:
    """Compile the loops for the job's pixel type, or load what was compiled before."""
    compiled = loops.prepare(job)
    return Prepared(Ran("sequential loops", threads=1), partial(_filtering, job), compiled)


def _filtering(job: Job, out: NDArray[Any]) -> Iterator[float]:
    """Fill `out` a strip at a time."""
    for rectangle in rectangles(job.height, job.width, job.ksize**2 * job.channels):
        loops.fill(job, out, rectangle)
        yield rectangle[1] / job.height
