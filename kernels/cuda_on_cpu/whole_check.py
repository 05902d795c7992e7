"""The check of all of an answer, however large."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Job, Progress
from kernels.core.verdict import Check
from kernels.oracle.checking import checking
from kernels.rungs.rung import Rung


def checked(rung: Rung, job: Job, answer: NDArray[Any]) -> Generator[Progress, None, Check]:
    """Compare all of an answer with the reference."""
    steps = checking(job, answer, rung.tolerance(job), max_taps=None)
    check = next(steps)
    for known in steps:
        check = known
        yield Progress("checking the answer")
    return check
