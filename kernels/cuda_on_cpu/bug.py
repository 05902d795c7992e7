"""Find the bug of a rung: run it on a small picture, with every access checked."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernels.core.device import Device
from kernels.core.driving import last_of
from kernels.core.job import Job, Progress
from kernels.core.poison import unwritten_in_words
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.building import BuildError
from kernels.cuda_on_cpu.children import borrowed_child
from kernels.cuda_on_cpu.compile_errors import diagnostics_of, first_error
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.cpu_runs import Ended, Runs, built
from kernels.cuda_on_cpu.cuda_compiler import why_not_seen
from kernels.cuda_on_cpu.device_code import knobs_of
from kernels.cuda_on_cpu.findings import (
    Finding,
    finding_of,
    located,
    reads_old_answer,
    suspicion_of,
)
from kernels.cuda_on_cpu.regions import (
    DEVICE,
    FAR_SIZE,
    TRIED_SIZE,
    Region,
    checked,
    cropped,
    enlarged,
    region_of,
    small_size,
)
from kernels.cuda_on_cpu.shim import CheckedShim
from kernels.cuda_on_cpu.trial import DEADLINE_S, rows_finding, unset_variable, with_unset
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.rung import Rung

UNSEARCHED = "not checked for races, barriers and bounds: {reason}"
CHECKING = Progress("output right; checking for races, barriers and bounds")
NO_BUGS = "compile", "refused", "deadline"  # kinds of a Finding: the run, not the kernel, failed
FAR = "{sentence} So it is on a picture of {width}×{height} pixels."
MAX_KEPT = 256  # searches that found nothing, which are not done again

Search = Generator[Progress, None, Finding | None]


@dataclass(frozen=True, slots=True)
class BugSearch:
    """The outcome of the search that is part of a verdict.

    finding  None: no bug was found
    missing  why nothing was searched; empty: it was
    """

    finding: Finding | None
    missing: str = ""

    def verdict(self, check: Check, device: Device | None) -> Check:
        """Complete the check of a right output: the one verdict on a user kernel.

        device  the GPU that it ran on, whose compiler has seen it; None: it ran on the CPU
        """
        unseen = "" if device else why_not_seen() or ""
        search = self.without_failed_run()
        bug = search.finding.sentence if search.finding else ""
        return replace(check, bug=bug, unsearched=search.missing, unseen=unseen)

    def without_failed_run(self) -> BugSearch:
        """Take a run that failed for another reason than a bug as no search."""
        if self.finding is None or self.finding.kind not in NO_BUGS:
            return self
        return BugSearch(None, UNSEARCHED.format(reason=self.finding.sentence))


_clean: set[object] = set()  # what was searched and has no bug


def verdict_search(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[Progress | BugSearch]:
    """Search a kernel whose output is right, as part of its verdict; the last is the outcome.

    A kernel without a bug is not searched again with the same macros and weights.
    """
    if reason := why_not():
        yield BugSearch(None, UNSEARCHED.format(reason=reason))
        return
    width, height = small_size(job)
    size = min(width, job.width), min(height, job.height)
    key = (rung, knobs_of(rung, job), size, job.weights.tobytes())
    if key in _clean:
        yield BugSearch(None)
        return
    yield CHECKING
    finding = yield from last_of(finding_bug(rung, job, at=at, deadline_s=deadline_s))
    if finding is None:
        if len(_clean) >= MAX_KEPT:
            _clean.clear()
        _clean.add(key)
    yield BugSearch(finding).without_failed_run()


def finding_bug(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    deadline_s: float = DEADLINE_S,
    seed: int = 0,
) -> Iterator[Progress | Finding | None]:
    """Run a rung with every access checked; the last that is yielded is its bug; None: no bug.

    A read of what was not written before, or beyond a row's end, is a bug where the output is
    wrong.  The arguments are those of `trial`; seed: of the order of threads, which is shuffled.
    """
    region = region_of(job, small_size(job), at)
    if rung.why_not_anywhere(cropped(job, region)):  # as where its header asks for a width
        region = region_of(job, TRIED_SIZE, at)
    part = cropped(job, region)
    if reason := why_not() or rung.why_not(part, DEVICE):
        yield Finding("refused", reason, region)
        return
    library = yield from built(CheckedShim, rung, part)
    if isinstance(library, BuildError):
        sentence, line = first_error(str(library), rung)
        diagnostics = diagnostics_of(str(library), rung)
        yield Finding("compile", sentence, region, line, diagnostics=diagnostics)
        return
    with borrowed_child() as child:
        runs = Runs(child, CheckedShim, rung, part, library, deadline_s)
        yield (yield from _search(runs, region, seed))


def _search(runs: Runs, region: Region, seed: int) -> Search:
    rung, part = runs.rung, runs.job
    ended = yield from runs.patiently()
    if found := finding_of(rung, region, ended):
        return (yield from with_unset(rung, part, found))
    if ended.answer is None:
        return None
    check = yield from checked(rung, part, ended.answer)
    again = yield from runs.again(seed=seed)
    if check.ok:
        if found := finding_of(rung, region, again):
            return found
        if reads_old_answer(ended):  # by which a kernel could tell that it is being checked
            return suspicion_of(rung, region, ended)
        if differing := (yield from runs.differing(ended, again)):
            return Finding("order", differing, region)
        return (yield from rows_finding(runs, region, ended)) or (yield from _far(runs))
    never = ended.unwritten(again)
    if ended.reports.suspicion.kind:
        return suspicion_of(rung, region, ended)
    if never.any():
        return Finding("unwritten", unwritten_in_words(never), region)
    if unset := (yield from unset_variable(runs, region, ended)):
        return unset
    return _of_wrong_output(rung, region, ended, check)


def _far(runs: Runs) -> Search:
    """Search far blocks: some of them, so that nothing is known of the output."""
    rung, job = runs.rung, enlarged(runs.job, FAR_SIZE)
    is_alone = len(rung.passes) == 1  # else a pass reads what blocks before it left out
    is_same = not rung.why_not(job, DEVICE) and knobs_of(rung, job) == knobs_of(rung, runs.job)
    if not is_alone or not is_same:
        return None
    far = yield from runs.far(job)
    region = Region(0, 0, job.width, job.height, False)
    found = finding_of(rung, region, far)
    if found is None or found.kind in NO_BUGS:
        return None
    words = FAR.format(sentence=found.sentence, width=job.width, height=job.height)
    return replace(found, sentence=words)


def _of_wrong_output(rung: Rung, region: Region, ended: Ended, check: Check) -> Finding:
    """The first wrong sample, and the thread that wrote it."""
    job, answer = ended.job, ended.answer
    assert answer is not None
    oracle = filtered(job, (0, job.height), (0, job.width))
    _, _, wrong = judged(job, answer, oracle, limits_of(job, rung.tolerance(job)))
    y, x, channel = (int(each[0]) for each in np.nonzero(wrong))
    expected = to_pixel_type(oracle, answer.dtype)[y, x, channel]
    off = (
        f"writes {float(answer[y, x, channel]):.6g} to x {x}, y {y}, channel {channel}, where the "
        f"reference has {float(expected):.6g}; {check.wrong:,} of {check.samples:,} samples are "
        "wrong."
    )
    bug = Finding("wrong", f"The kernel {off}", region)
    where = ended.storer(y, x * job.channels + channel)
    return bug if where is None else located(rung, ended, where, bug, f"{{who}} {off}")
