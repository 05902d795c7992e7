"""Filter a whole picture with a kernel of the user's own: on the GPU, or the CPU runtime.

There is a time on a GPU alone, of an answer that is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, TypeVar

from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.driving import last_of
from kernels.core.errors import CannotRunError, CompileFailedError
from kernels.core.job import Job, Progress, Sampling
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda_child.gpu_trial import GpuTrial, gpu_trial
from kernels.cuda_child.warm_children import cuda_children
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.trial import CpuTrial, trial
from kernels.rungs.rung import Rung

Say = Callable[[str], None]
Tried = TypeVar("Tried", CpuTrial, GpuTrial)
CROP_S = 10.0  # more than any kernel takes for the part of a picture that is tried first
LEAST_S = 60.0  # for a whole picture, and so many times what the part of it says
PATIENCE = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class OwnAnswer:
    """The answer of a kernel of the user's own.

    picture      like job.picture
    device_name  of the GPU; empty: it ran on the CPU
    kernel       its time there; None: none was taken
    compile_ms   None on the CPU
    """

    job: Job
    picture: NDArray[Any] = field(repr=False)
    check: Check
    device_name: str = ""
    kernel: Timing | None = None
    compile_ms: float | None = None


def own_answer(
    rung: Rung, job: Job, say: Say, device: Device | NoDevice, sampling: Sampling
) -> OwnAnswer:
    """Filter all of the job's picture with `rung`, check it, and time it where there is a GPU.

    Raises CannotRunError, and CompileFailedError, with the sentence for the user.
    """
    job = replace(job, implementation=rung.key)
    if isinstance(device, Device):
        return _on_gpu(rung, job, say, device, sampling)
    return _on_cpu(rung, job, say)


def _on_gpu(rung: Rung, job: Job, say: Say, device: Device, sampling: Sampling) -> OwnAnswer:
    steps = gpu_trial(rung, job, sampling=sampling, children=cuda_children(device.index))
    tried = _driven(steps, say)
    if tried.built is None and tried.log:
        raise CompileFailedError(f"{rung.key}: {tried.problem}", tried.log)
    if tried.problem or tried.answer is None or tried.check is None:
        raise CannotRunError(f"{rung.key}: {tried.problem}")
    compile_ms = tried.built.compile_ms if tried.built else None
    facts = (tried.check, tried.device_name, tried.kernel, compile_ms)
    return OwnAnswer(tried.job, tried.answer, *facts)


def _on_cpu(rung: Rung, job: Job, say: Say) -> OwnAnswer:
    """Try a part first, so that a kernel which does not end, or is wrong, is told of soon."""
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
    return OwnAnswer(tried.job, tried.answer, tried.check)


def _is_right(tried: CpuTrial) -> bool:
    return tried.check is not None and tried.check.ok


def _tried(rung: Rung, job: Job, say: Say, *, whole: bool, deadline_s: float) -> CpuTrial:
    return _driven(trial(rung, job, whole=whole, deadline_s=deadline_s), say)


def _driven(steps: Iterable[Progress | Tried], say: Say) -> Tried:
    """Return the outcome; what is under way is told once."""
    driving, said = last_of(steps), ""
    while True:
        try:
            doing = next(driving).doing
        except StopIteration as end:
            outcome: Tried = end.value
            return outcome
        if doing != said:
            say(doing)
        said = doing
