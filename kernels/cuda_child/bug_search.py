"""Find the bug of a kernel wherever it can be run under checks: on the CPU, then on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.core.device import Device
from kernels.core.job import Job, Progress
from kernels.cuda.compute_sanitizer import Sanitizer, the_sanitizer
from kernels.cuda_child.gpu_bug import finding_bug_on_gpu
from kernels.cuda_child.sanitized_run import SanitizerError
from kernels.cuda_on_cpu.bug import Finding, finding_bug
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.trial import DEADLINE_S
from kernels.rungs.rung import Rung

ON_BOTH = "Looked for on the CPU, and on the GPU under compute-sanitizer."
ON_GPU = "Looked for on the GPU, under compute-sanitizer."
NOT_ON_GPU = "On the GPU it was not looked for: {reason}"


@dataclass(frozen=True, slots=True)
class BugSearch:
    """The outcome of a search.

    finding  None: no bug was found
    remark   where it was looked for, with a GPU, or why it was not there; empty: on the CPU alone
    """

    finding: Finding | None
    remark: str = ""


def why_no_search(device: Device | None) -> str | None:
    """Return why no bug can be looked for here, and what to do; None if it can be."""
    reason = why_not()
    if reason is None or device is None:
        return reason
    found = the_sanitizer()
    return f"{reason} {found}" if isinstance(found, str) else None


def searching_bug(
    rung: Rung,
    job: Job,
    device: Device | None,
    *,
    at: tuple[int, int] | None = None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[Progress | BugSearch]:
    """Look for a bug; the last that is yielded is the outcome.  Only where `why_no_search` is None.

    Raises SanitizerError where it could not be looked for at all.

    device      the GPU to look on, too, if nothing is found on the CPU; None: there is none
    at, deadline_s  as `finding_bug` has them
    """
    on_cpu = why_not() is None
    if on_cpu:
        for step in finding_bug(rung, job, at=at, deadline_s=deadline_s):
            if isinstance(step, Progress):
                yield step
            elif step is not None:
                yield BugSearch(step)
                return
    if device is None:
        yield BugSearch(None)
        return
    sanitizer = the_sanitizer()
    if not isinstance(sanitizer, Sanitizer):
        yield BugSearch(None, NOT_ON_GPU.format(reason=sanitizer))
        return
    try:
        for each in finding_bug_on_gpu(rung, job, device, sanitizer, at=at):
            if isinstance(each, Progress):
                yield each
            else:
                yield BugSearch(each, ON_BOTH if on_cpu else ON_GPU)
    except SanitizerError as error:
        if not on_cpu:
            raise
        yield BugSearch(None, NOT_ON_GPU.format(reason=error))
