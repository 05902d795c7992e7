"""The same loops on every core, rows innermost: what threads and vector instructions bring."""

from __future__ import annotations

from kernels.core.job import Job, Ran
from kernels.core.verdict import Tolerance
from kernels.cpu import row_loops
from kernels.cpu.prepared import Prepared

TITLE = "Parallel"
IDEA = (
    "The same loops on every CPU core, each with its own rows, and with a row innermost, so that "
    "the compiler's vector instructions sum many samples at once."
)
ORDER = 1


def tolerance(job: Job) -> Tolerance:
    """Return the error it may make: one addition for each weight."""
    return Tolerance(chain=job.ksize**2)


def why_not(job: Job) -> str | None:  # noqa: ARG001
    """Return None: it runs everything."""
    return None


def prepare(job: Job) -> Prepared:
    """Compile the loops for the job's pixel type, or load what was compiled before."""
    compiled = row_loops.prepare(job)
    ran = Ran("parallel loops", threads=row_loops.threads_for(job))
    return Prepared(ran, row_loops.runner(job), compiled)
