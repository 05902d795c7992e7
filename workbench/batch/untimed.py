"""Filter a whole picture with a kernel of the user's own, on the CPU runtime: never a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from kernels.core.errors import CannotRunError, CompileFailedError
from kernels.core.job import Job
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.trial import CpuTrial, trial
from kernels.rungs.rung import Rung

Say = Callable[[str], None]
CROP_S = 10.0  # more than any kernel takes for the part of a picture that is tried first
LEAST_S = 60.0  # for a whole picture, and so many times what the part of it says
PATIENCE = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Untimed:
    """An answer without a time.

    picture  like job.picture
    """

    job: Job
    picture: NDArray[Any] = field(repr=False)
    check: Check


def untimed_answer(rung: Rung, job: Job, say: Say) -> Untimed:
    """Filter all of the job's picture with `rung`, and check every pixel.

    A part of it goes first, so that a kernel which does not end, or is wrong, is told of soon.
    Raises CannotRunError, and CompileFailedError, with the sentence for the user.
    """
    job = replace(job, implementation=rung.key)
    if reason := why_not() or rung.why_not_anywhere(job):
        raise CannotRunError(reason)
    say(f"trying {rung.key} on a part of it")
    began = monotonic()
    tried = _tried(rung, job, say, whole=False, deadline_s=CROP_S)
    if not tried.region.is_whole and _is_right(tried):
        say(f"running {rung.key} on the CPU runtime, which is slow")
        share = tried.region.width * tried.region.height / (job.width * job.height)
        patience = LEAST_S + PATIENCE * (monotonic() - began) / share
        tried = _tried(rung, job, say, whole=True, deadline_s=patience)
    if log := tried.compiler_errors:
        raise CompileFailedError(f"{rung.key}: {tried.problem}", log)
    if tried.answer is None or tried.check is None:
        raise CannotRunError(f"{rung.key}: {tried.problem}")
    return Untimed(tried.job, tried.answer, tried.check)


def _is_right(tried: CpuTrial) -> bool:
    return tried.check is not None and tried.check.ok


def _tried(rung: Rung, job: Job, say: Say, *, whole: bool, deadline_s: float) -> CpuTrial:
    last: CpuTrial | None = None
    for step in trial(rung, job, whole=whole, deadline_s=deadline_s):
        if isinstance(step, CpuTrial):
            last = step
        else:
            say(step.doing)
    assert last is not None
    return last
