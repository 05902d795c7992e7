"""How a list runs as a whole on one GPU: a ladder of its own."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.core.device import Device
from kernels.core.job import Job, Results, Sampling
from kernels.cuda.gpu import Gpu
from kernels.cuda.listed_run import filtering_list, why_no_strips
from kernels.rungs.rung import Rung, list_ladder

Runs = Sequence[tuple[Rung, Job]]  # what ran each step, and its part of the job
GRAPH, STRIPS = "graph", "strips"
# By their keys; all others are rungs that do a whole list in one launch.
LIST_RUNGS = {rung.key: rung for rung in list_ladder()}
WAYS = (GRAPH, STRIPS, *LIST_RUNGS)


def why_not(way: str, job: Job, runs: Runs, device: Device) -> str:
    """The reason why `job` cannot run in that way, a sentence; empty where it can.

    runs  empty: not all of it can be launched one after another
    """
    if way in LIST_RUNGS:
        return LIST_RUNGS[way].why_not(job, device) or ""
    if not runs:
        return "Not all of this list is launches of one GPU."
    return why_no_strips(job, [rung for rung, _ in runs]) if way == STRIPS else ""


def way_of(job: Job, runs: Runs, device: Device) -> tuple[str, str]:
    """The way that the job asks for, or a quick one, or "": none can; and why it is another one.

    A rung of whole lists stands in the place of all steps' implementations, so that it is taken
    by itself only where none of these was chosen; and not where bytes stay bytes between launches,
    since these are moved in a quarter of the time, and summed by rungs for bytes.
    """
    reason = ""
    if job.list_way != "auto":
        reason = why_not(job.list_way, job, runs, device)
        if not reason:
            return job.list_way, ""
    elif all(step.implementation == "auto" for step in job.steps) and (
        job.is_wide or job.pixel_type != "uint8" or not runs
    ):
        for key, rung in reversed(LIST_RUNGS.items()):
            if not rung.why_not(job, device) and rung.is_quick(job):
                return key, ""
    return GRAPH if runs else "", reason


def running(way: str, gpu: Gpu, job: Job, runs: Runs, sampling: Sampling) -> Results:
    """Filter and time all of `job` in that way; yields as `Gpu.filtering` does."""
    if way in LIST_RUNGS:
        return gpu.filtering(LIST_RUNGS[way], job, sampling)
    return filtering_list(gpu, job, runs, sampling, in_strips=way == STRIPS)
