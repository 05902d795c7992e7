"""Find the bug of a kernel wherever it can be run under checks: on the CPU, then on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernels.core.device import Device
from kernels.core.driving import last_of
from kernels.core.job import Job, Progress
from kernels.core.verdict import Check
from kernels.cuda.compute_sanitizer import Sanitizer, the_sanitizer
from kernels.cuda_child.gpu_bug import finding_bug_on_gpu
from kernels.cuda_child.sanitized_run import SanitizerError
from kernels.cuda_on_cpu.bug import Finding, finding_bug
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.cuda_compiler import why_not_seen
from kernels.cuda_on_cpu.device_code import knobs_of
from kernels.cuda_on_cpu.regions import small_size
from kernels.cuda_on_cpu.trial import DEADLINE_S
from kernels.rungs.rung import Rung

ON_BOTH = "Looked for on the CPU, and on the GPU under compute-sanitizer."
ON_GPU = "Looked for on the GPU, under compute-sanitizer."
NOT_ON_GPU = "On the GPU it was not looked for: {reason}"
UNSEARCHED = "not checked for races, barriers and bounds: {reason}"
CHECKING = Progress("output right; checking for races, barriers and bounds")
NO_BUGS = "compile", "refused", "deadline"  # kinds of a Finding: the run, not the kernel, failed
MAX_KEPT = 256  # searches that found nothing, which are not done again

_clean: dict[object, str] = {}  # of those: their remark


@dataclass(frozen=True, slots=True)
class BugSearch:
    """The outcome of a search.

    finding  None: no bug was found
    remark   where it was looked for, with a GPU, or why it was not there; empty: on the CPU alone
    missing  why nothing was searched; empty: it was
    """

    finding: Finding | None
    remark: str = ""
    missing: str = ""

    def verdict(self, check: Check, device: Device | None) -> Check:
        """Complete the check of a right output: the one verdict on a user kernel.

        device  the GPU that it ran on, whose compiler has seen it; None: it ran on the CPU
        """
        unseen = "" if device else why_not_seen() or ""
        bug = self.finding.sentence if self.finding else ""
        return replace(check, bug=bug, unsearched=self.missing, unseen=unseen)


def why_no_search(device: Device | None) -> str | None:
    """Return why no bug can be looked for here, and what to do; None if it can be."""
    reason = why_not()
    if reason is None or device is None:
        return reason
    found = the_sanitizer()
    return f"{reason} {found}" if isinstance(found, str) else None


def verdict_search(
    rung: Rung,
    job: Job,
    device: Device | None = None,
    *,
    at: tuple[int, int] | None = None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[Progress | BugSearch]:
    """Search a kernel whose output is right, as part of its verdict; the last is the outcome.

    What was found to have no bug is not searched again with the same macros and weights.

    device  the GPU to search on as well, which takes ten seconds; None: on the CPU alone
    """
    if (reason := why_no_search(device)) is not None:
        yield BugSearch(None, missing=UNSEARCHED.format(reason=reason))
        return
    width, height = small_size(job)
    size = min(width, job.width), min(height, job.height)
    key = (rung, knobs_of(rung, job), size, job.weights.tobytes(), device)
    if (remark := _clean.get(key)) is not None:
        yield BugSearch(None, remark)
        return
    yield CHECKING
    try:
        steps = searching_bug(rung, job, device, at=at, deadline_s=deadline_s)
        found = yield from last_of(steps)
    except SanitizerError as error:
        found = BugSearch(None, missing=UNSEARCHED.format(reason=error))
    if found.finding is not None and found.finding.kind in NO_BUGS:
        found = BugSearch(None, missing=UNSEARCHED.format(reason=found.finding.sentence))
    if found.finding is None and not found.missing:
        if len(_clean) >= MAX_KEPT:
            _clean.clear()
        _clean[key] = found.remark
    yield found


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
