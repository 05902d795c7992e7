"""Find the bug of a rung: run it on a small picture, check every access, say what is wrong."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.driving import last_of
from kernels.core.job import Job, Progress
from kernels.core.poison import unwritten_in_words
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.building import BuildError
from kernels.cuda_on_cpu.checked import CheckedShim
from kernels.cuda_on_cpu.children import Child, borrowed_child
from kernels.cuda_on_cpu.compile_errors import Diagnostic, diagnostics_of, first_error
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.cpu_runs import (
    Ended,
    built,
    differing_in_words,
    run_again,
    run_far,
    run_once,
    run_rows,
    unwritten_in,
)
from kernels.cuda_on_cpu.cuda_compiler import why_not_seen
from kernels.cuda_on_cpu.device_code import knobs_of
from kernels.cuda_on_cpu.regions import (
    DEVICE,
    FAR_SIZE,
    TRIED_SIZE,
    Region,
    checked,
    cropped,
    enlarged,
    launched_for,
    region_of,
    rows_fault,
    rows_to_try,
    small_size,
)
from kernels.cuda_on_cpu.run_words import (
    ended_in_words,
    fault_in_words,
    placed,
    reads_old_answer,
    suspicion_in_words,
)
from kernels.cuda_on_cpu.shared_run import DYNAMIC_ARRAY, Kind, Signal
from kernels.cuda_on_cpu.trial import DEADLINE_S
from kernels.cuda_on_cpu.unset_locals import unset_in_words, with_unset
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.rung import Rung

UNSEARCHED = "not checked for races, barriers and bounds: {reason}"
CHECKING = Progress("output right; checking for races, barriers and bounds")
NO_BUGS = "compile", "refused", "deadline"  # kinds of a Finding: the run, not the kernel, failed
FAR = "{sentence} So it is on a picture of {width}×{height} pixels."
MAX_KEPT = 256  # searches that found nothing, which are not done again
BARRIER = " at this barrier "  # in the runtime's words for threads that wait in vain
KINDS = {
    Kind.DEADLINE: "deadline",
    Kind.BOUNDS: "bounds",
    Kind.READ_ONLY: "bounds",
    Kind.ELEMENT: "bounds",
    Kind.BEYOND: "bounds",
    Kind.PADDING: "bounds",
    Kind.MISALIGNED: "misaligned",
    Kind.RACE: "race",
    Kind.UNINITIALISED: "uninitialised",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A bug, in one sentence.

    kind           "compile", "refused", "barrier", "bounds", "misaligned", "race", "division",
                   "stack", "deadline", "crash", "uninitialised", "unwritten", "rows", "order" or
                   "wrong"; "order" where the answer depends on that of threads or launches
    line           of the rung's file; None: it is of none
    thread, block  x then y; None where no single thread is at fault
    region         of the job's picture, that it was run on
    """

    kind: str
    sentence: str
    region: Region
    line: int | None = None
    thread: tuple[int, int] | None = None
    block: tuple[int, int] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


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

    What was found to have no bug is not searched again with the same macros and weights.
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

    What is read before it was written, or beyond a row's end, is a bug where the answer is wrong.
    The arguments are those of `trial`; seed: of the order of threads, which is shuffled.
    """
    region = region_of(job, small_size(job), at)
    part = cropped(job, region)
    if rung.why_not_anywhere(part):  # as where its header asks for a width
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
        ended = yield from run_once(child, CheckedShim, rung, part, library, deadline_s)
        if (fault := _fault(rung, region, ended)) or ended.answer is None:
            if fault and fault.kind == "bounds":
                sentence = yield from with_unset(rung, part, fault.sentence, fault.line)
                fault = replace(fault, sentence=sentence)
            yield fault
            return
        check = yield from checked(rung, part, ended.answer)
        again = yield from run_again(child, CheckedShim, rung, ended, deadline_s, seed=seed)
        if check.ok:
            yield (
                (yield from _of_right_answer(child, rung, region, ended, again, deadline_s))
                or (yield from _far(child, rung, ended, deadline_s))
            )
            return
        never = unwritten_in(ended, again)
        if not ended.reports.suspicion.kind and not never.any():
            sentence, line = yield from unset_in_words(child, rung, ended, deadline_s)
            if sentence:
                yield Finding("uninitialised", sentence, region, line)
                return
    yield _of_wrong_answer(rung, region, ended, check, never)


def _of_right_answer(
    child: Child, rung: Rung, region: Region, ended: Ended, again: Ended, seconds: float
) -> Generator[Progress, None, Finding | None]:
    """Search a right output: launch it again, and for some rows alone."""
    if fault := _fault(rung, region, again):
        return fault
    if reads_old_answer(ended):  # which tells what it is that tries the kernel
        return _suspicion(rung, region, ended)
    differing = yield from differing_in_words(
        *(child, CheckedShim, rung, ended, again, (0, 0), seconds)
    )
    if differing:
        return Finding("order", differing, region)
    rows = rows_to_try(ended.job.height)
    if rows is None:
        return None
    some = yield from run_rows(child, CheckedShim, rung, ended, rows, seconds)
    if fault := _fault(rung, region, some):
        return replace(fault, sentence=launched_for(rows, fault.sentence))
    if ended.answer is None or some.answer is None or some.as_before is None:
        return None
    answers = ended.answer, some.answer, some.as_before
    found = yield from rows_fault(rung, ended.job, rows, *answers)
    if found is None:
        return None
    where = some.storer(found.y, found.sample) if found.is_outside else None
    if where is None:
        return Finding("rows", found.in_words(rung), region)
    who, line = placed(rung, some, where)
    return Finding("rows", found.in_words(rung, who), region, line, where.thread, where.block)


def _far(
    child: Child, rung: Rung, ended: Ended, seconds: float
) -> Generator[Progress, None, Finding | None]:
    """Search far blocks: some of them, so that nothing is known of the output."""
    job = enlarged(ended.job, FAR_SIZE)
    is_alone = len(rung.passes) == 1  # else a pass reads what blocks before it left out
    if (
        not is_alone
        or rung.why_not(job, DEVICE)
        or knobs_of(rung, job) != knobs_of(rung, ended.job)
    ):
        return None
    far = yield from run_far(child, rung, job, ended.library, seconds)
    region = Region(0, 0, job.width, job.height, False)
    fault = _fault(rung, region, far)
    if fault is None or fault.kind in NO_BUGS:
        return None
    words = FAR.format(sentence=fault.sentence, width=job.width, height=job.height)
    return replace(fault, sentence=words)


def _fault(rung: Rung, region: Region, ended: Ended) -> Finding | None:
    """Return what ended the run, if it came to no good end."""
    report = ended.reports.fault
    is_race_of_barrier = report.kind == Kind.RACE and BARRIER in str(ended.said.get("refused", ""))
    if report.kind in (Kind.NOTHING, Kind.CRASH, Kind.DEADLINE) or is_race_of_barrier:
        sentence, line = ended_in_words(rung, ended)
        if not sentence:
            return None
        if report.kind == Kind.NOTHING or is_race_of_barrier:
            kind = "barrier" if BARRIER in sentence else "refused"
            if ended.crashed:
                kind = "deadline" if ended.is_starved else "crash"
            thread, block = _named("thread", sentence), _named("block", sentence)
            return Finding(kind, sentence, region, line, thread, block)
        kind = KINDS.get(Kind(report.kind), "crash")
        if report.signal == Signal.SIGFPE:
            kind = "division"
        if report.signal == Signal.SIGSEGV and report.array == DYNAMIC_ARRAY:
            kind = "stack"
    else:
        sentence, line = fault_in_words(rung, ended)
        kind = KINDS[Kind(report.kind)]
    return Finding(kind, sentence, region, line, report.here.thread, report.here.block)


def _named(what: str, sentence: str) -> tuple[int, int] | None:
    """Return the first thread, or block, that a sentence names."""
    found = re.search(rf"\b{what} \((\d+), (\d+)\)", sentence)
    return (int(found[1]), int(found[2])) if found else None


def _suspicion(rung: Rung, region: Region, ended: Ended) -> Finding:
    sentence, line = suspicion_in_words(rung, ended)
    report = ended.reports.suspicion
    kind, here = KINDS[Kind(report.kind)], report.here
    return Finding(kind, sentence, region, line, here.thread, here.block)


def _of_wrong_answer(
    rung: Rung, region: Region, ended: Ended, check: Check, never: NDArray[np.bool_]
) -> Finding:
    suspicion = ended.reports.suspicion
    if suspicion.kind:
        return _suspicion(rung, region, ended)
    if never.any():
        return Finding("unwritten", unwritten_in_words(never), region)
    assert ended.answer is not None
    (y, x, channel), off = wrong_in_words(rung, ended.job, ended.answer, check)
    where = ended.storer(y, x * ended.job.channels + channel)
    if where is None:
        return Finding("wrong", f"The kernel writes {off}.", region)
    thread, line = placed(rung, ended, where)
    return Finding("wrong", f"{thread} writes {off}.", region, line, where.thread, where.block)


def wrong_in_words(
    rung: Rung, job: Job, answer: NDArray[Any], check: Check
) -> tuple[tuple[int, int, int], str]:
    """Return (y, x, channel) of the first wrong sample, and what a kernel writes there, in words.

    The words go on from "The kernel writes".
    """
    y, x, channel, expected = _first_wrong(rung, job, answer)
    got = answer[y, x, channel]
    return (y, x, channel), (
        f"{_number(got)} to x {x}, y {y}, channel {channel}, where the reference has "
        f"{_number(expected)}; {check.wrong:,} of {check.samples:,} samples are wrong"
    )


def _first_wrong(rung: Rung, job: Job, answer: NDArray[Any]) -> tuple[int, int, int, Any]:
    """Return (y, x, channel) of the first wrong sample of all, and what it ought to be."""
    oracle = filtered(job, (0, job.height), (0, job.width))
    _, _, wrong = judged(job, answer, oracle, limits_of(job, rung.tolerance(job)))
    y, x, channel = (int(each[0]) for each in np.nonzero(wrong))
    return y, x, channel, to_pixel_type(oracle, answer.dtype)[y, x, channel]


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
