"""The same loops on every core, rows innermost: what threads and vector instructions bring."""

from __future__ import annotations

from kernels.check import Tolerance
from kernels.host import row_loops
from kernels.host.cores import usable_cores
from kernels.job import Job, Ran

TITLE = "Parallel"
IDEA = (
    "The same loops on every CPU core, each with its own rows, and with a row innermost, so that "
    "the compiler's vector instructions sum many samples at once."
)
ORDER = 1

prepare = row_loops.prepare
filtering = row_loops.filtering
__all__ = ["filtering", "prepare", "ran", "tolerance", "why_not"]


def tolerance(job: Job) -> Tolerance:
    """One addition for each weight."""
    return Tolerance(chain=job.ksize**2)


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """It runs everything."""
    return None


def ran(job: Job) -> Ran:  # noqa: ARG001
    """Return what is called: the loops, on every core."""
    return Ran("parallel loops", threads=usable_cores())
