"""One filtering by a user kernel: on the GPU in a child, or on the CPU runtime.

An output comes with its verdict, and a time only after a passed check, on a GPU alone.  The search
for bugs comes last, and completes the verdict.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from time import monotonic

from kernels.core.cache import read_only
from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import last_of, run_with_progress
from kernels.core.errors import CannotRunError, CompileFailedError
from kernels.core.job import Job, Progress, Ran, Result, Results, Sampling
from kernels.core.verdict import NOT_YET_SEARCHED
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import cuda_children
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.cuda_on_cpu.trial import trial, verdict_search
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.rung import Rung

CROP_S = 5.0  # more than any kernel takes for the part of a picture that is tried first
MIN_S = 60.0  # for a whole picture, and PATIENCE times the estimate by its part
PATIENCE = 20.0


def own_filtering(job: Job, device: Device | NoDevice, sampling: Sampling) -> Results:
    """Filter all of the job's picture, verify it, and time it where there is a GPU.

    Raises CannotRunError, and CompileFailedError, with the sentence for the user: also for an
    output that is more than right or wrong, as where some of it was never written.
    """
    own = OwnKernel.of(job)
    if reason := own.why_not(job, device):
        raise CannotRunError(reason)
    there = device if isinstance(device, Device) else None
    steps = _on_gpu(own.rung, job, there, sampling) if there else _on_cpu(own.rung, job)
    right: Result | None = None
    for step in steps:
        if isinstance(step, Result) and step.check is not None and step.check.ok:
            step = right = replace(step, check=replace(step.check, unsearched=NOT_YET_SEARCHED))
        yield step
    if right is not None and right.check is not None:
        search = yield from last_of(verdict_search(own.rung, job))
        yield replace(right, check=search.verdict(right.check, there))


def end_children(device: Device) -> None:
    """End the processes that ran kernels on a GPU, without waiting for that."""
    cuda_children(device.index).end(0)


def _on_gpu(rung: Rung, job: Job, device: Device, sampling: Sampling) -> Results:
    name = f"{rung.key} on {device.name}"
    for step in gpu_trial(rung, job, sampling=sampling, children=cuda_children(device.index)):
        if isinstance(step, Progress):
            yield step
            continue
        _refuse(rung, step)
        if step.answer is not None and step.check is not None:
            assert step.built is not None  # or there would be no answer
            yield Result(
                job,
                read_only(step.answer),
                step.kernel,
                tuple(replace(each, function=name) for each in step.built.ran),
                step.built.compile_ms,
                check=step.check,
                device_name=step.device_name,
                health=step.health,
                occupancy=step.built.occupancy,
            )


def _on_cpu(rung: Rung, job: Job) -> Results:
    """Try a part first, so that a kernel which does not end is rejected soon."""
    yield Progress(f"trying {rung.key} on a part of the picture")
    began = monotonic()
    tried = yield from _tried(rung, job, whole=False, deadline_s=CROP_S)
    if not tried.region.is_whole:
        doing = Progress(f"running {rung.key} on the CPU runtime, which is slow")
        yield doing
        share = tried.region.width * tried.region.height / (job.width * job.height)
        patience_s = MIN_S + PATIENCE * (monotonic() - began) / share
        tried = yield from _tried(rung, job, whole=True, deadline_s=patience_s, doing=doing)
    assert tried.answer is not None
    ran = (Ran(f"{rung.key} on the CPU runtime", block=None if rung.own_block else job.block_xy),)
    yield Result(job, read_only(tried.answer), None, ran, check=tried.check)


def _tried(
    rung: Rung, job: Job, *, whole: bool, deadline_s: float, doing: Progress | None = None
) -> Generator[Progress, None, KernelTrial]:
    """Return the outcome of a trial that came to its end; `doing` replaces its own progress."""
    steps = last_of(trial(rung, job, whole=whole, deadline_s=deadline_s))
    tried = yield from (run_with_progress(steps, doing) if doing else steps)
    _refuse(rung, tried)
    return tried


def _refuse(rung: Rung, tried: KernelTrial) -> None:
    if tried.problem and tried.log:
        raise CompileFailedError(f"{rung.key}: {tried.problem}", tried.log)
    if tried.problem:
        raise CannotRunError(f"{rung.key}: {tried.problem}")
