"""Try a rung on the CPU, whatever it may do, and find its bug with every access checked."""

from __future__ import annotations

import pickle
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np

from kernels.core.device import Device
from kernels.core.device_turns import last_of, run_with_progress, side_by_side
from kernels.core.job import Job, Progress
from kernels.core.poison import same_bits, unwritten_in_words
from kernels.core.verdict import Check, place_words
from kernels.cuda_on_cpu import findings, regions
from kernels.cuda_on_cpu.compile_errors import LACKING, diagnostics_of, first_error, why_not_seen
from kernels.cuda_on_cpu.compiler import REFUSED, BuildError, default_cache, warnings, why_not
from kernels.cuda_on_cpu.counting import AccessesShim, CountingShim, RunCounts, counts_of
from kernels.cuda_on_cpu.cpu_runs import Ended, Runs, built, prepared
from kernels.cuda_on_cpu.device_code import generated, knobs_of
from kernels.cuda_on_cpu.elf import variables_of
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import DEVICE, Region
from kernels.cuda_on_cpu.shim import CheckedShim, TriedShim, ZeroedShim
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.rung import Rung

DEADLINE_S = 5.0  # of the CPU's time
COUNTING_TIMES = 4  # as long
MAX_VARIABLES = 64 << 20  # bytes that a library for several jobs may have: a run's are limited
NAMED = re.compile(r"[‘'`]([^’']+)[’'].* uninitialized")
UNSET = "is used before it was given a value"

Search = Generator[Progress, None, Finding | None]


def trial(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    whole: bool = False,
    counting: bool = False,
    some_rows: bool = True,
    deadline_s: float = DEADLINE_S,
    library: Path | None = None,
) -> Iterator[Progress | KernelTrial]:
    """Run a rung on a job, in a child that it may crash; the last that is yielded is the outcome.

    Closing the generator ends the compiler and the run.  Counts come with a second outcome.

    at          (x, y) of the pixel that is looked at: the part that runs is around it
    whole       the whole picture, however large
    some_rows   launch what is right for some rows alone as well, as `finding_bug` does
    deadline_s  of the CPU's time
    library     compiled ahead, for this job among others, which is whole
    """
    region = regions.region_of(job, (job.width, job.height) if whole else regions.TRIED_SIZE, at)
    part = regions.cropped(job, region)
    runs = yield from prepared(TriedShim, rung, part, deadline_s, library)
    if isinstance(runs, BuildError):
        refused = _refused_by_compiler(rung, region, runs)
        errors = (each for each in refused.diagnostics if each.is_error)
        log = "\n".join(f"{each.file}({each.line}): {each.text}" for each in errors)
        outcome = KernelTrial(part, region, log=log, is_lacking=LACKING in str(runs))
        yield replace(_with(outcome, refused), diagnostics=refused.diagnostics)
        return
    corner = region.left, region.top
    ended, check, found = yield from _examined(runs, region, corner, some_rows=some_rows)
    answer, printed = ended.answer, str(ended.said.get("printed", ""))
    if ended.beside:  # its output is to be seen
        answer = (yield from runs.patiently(is_guarded=False)).answer
        check = None if answer is None else (yield from regions.checked(rung, part, answer))
    outcome = KernelTrial(part, region, answer=answer, check=check, printed=printed)
    yield (outcome := _with(outcome, found))
    if outcome.ok and counting:
        yield replace(outcome, counts=(yield from _counts(rung, part, deadline_s)))
    elif check is not None and not check.ok and not outcome.problem:
        yield _with(outcome, (yield from unset_variable(runs, region, ended)))


def _with(outcome: KernelTrial, found: Finding | None) -> KernelTrial:
    if found is None:
        return outcome
    words, is_unfinished = found.sentence, found.is_unfinished
    return replace(outcome, problem=words, line=found.line, is_unfinished=is_unfinished)


def _examined(
    runs: Runs, region: Region, corner: tuple[int, int] = (0, 0), *, some_rows: bool
) -> Generator[Progress, None, tuple[Ended, Check | None, Finding | None]]:
    """Run it, check it, and run it again; return the first run's end and check, and a bug.

    corner  (x, y) that places count from
    """
    rung, job = runs.rung, runs.job
    ended = yield from runs.patiently()
    found = yield from with_unset(rung, job, findings.finding_of(rung, region, ended))
    if ended.answer is None:
        return ended, None, found
    check = yield from regions.checked(rung, job, ended.answer)
    if found is None:
        found = yield from _compared(runs, region, corner, ended, check)
    # Of a large picture a part came before.
    is_small = job.width * job.height <= prod(regions.TRIED_SIZE)
    if found is None and check.ok and some_rows and is_small:
        found = yield from rows_finding(runs, region, ended)
    return ended, check, found


def _compared(
    runs: Runs, region: Region, corner: tuple[int, int], ended: Ended, check: Check
) -> Search:
    """Run it again, in the opposite order; return the bug that this shows."""
    again = yield from runs.again()
    if found := findings.finding_of(runs.rung, region, again):
        return found
    # A kernel could tell by what the output held before that it is being checked.
    if ended.reports.suspicion.kind and (not check.ok or findings.reads_old_answer(ended)):
        return findings.reported(runs.rung, region, ended, ended.reports.suspicion)
    if difference := ended.difference(again, corner):
        return Finding("order", difference, region)
    unwritten = unwritten_in_words(ended.unwritten(again), corner)
    return Finding("unwritten", unwritten, region) if unwritten else None


def rows_finding(runs: Runs, region: Region, ended: Ended) -> Search:
    """Launch a right kernel for some rows alone; return its bug there."""
    rung, job, rows = runs.rung, runs.job, regions.rows_to_try(runs.job.height)
    some = yield from runs.once(rows=rows)
    if found := findings.finding_of(rung, region, some):
        return replace(found, sentence=f"{found.sentence} {regions.launched_for(rows)}")
    if ended.answer is None or some.answer is None or some.as_before is None:
        return None
    outputs = ended.answer, some.answer, some.as_before
    words, place = yield from regions.rows_fault(rung, job, rows, *outputs)
    return _of_storer(rung, some, place, Finding("rows", words, region)) if words else None


def _of_storer(
    rung: Rung, ended: Ended, place: tuple[int, int] | None, finding: Finding
) -> Finding:
    """Name who stored a sample of a row, for "{who}" in the finding's sentence."""
    where = ended.storer(*place) if place else None
    if where is not None:
        return findings.located(rung, ended, where, finding, finding.sentence)
    return replace(finding, sentence=finding.sentence.format(who="The kernel"))


def building_ahead(
    rung: Rung, jobs: Iterable[Job], searched: Iterable[Job] = ()
) -> Generator[Progress, None, Path | None]:
    """Compile what trials of these whole jobs run, and what `finding_bug` runs of `searched`.

    Return one library for all of `jobs`: the prelude is then compiled once.  None: they do not
    compile together.  Closing the generator ends the compilers.
    """
    whole = [job for job in jobs if not rung.why_not(job, DEVICE)]
    parts = [regions.part_of(job, regions.small_size(job)) for job in searched]
    parts = [job for job in parts if not rung.why_not(job, DEVICE)]
    if not whole:
        return None
    # By the first, in one process: to begin CUDA's compiler takes long.
    together = built(TriedShim, rung, *whole, for_cuda=[*parts, *whole])
    apart = (built(CheckedShim, rung, job, for_cuda=()) for job in parts)
    ends_no_others = (None for _ in range(0))
    building = side_by_side(ends_no_others, together, *apart)
    _, made, *_ = yield from run_with_progress(building, Progress(f"compiling {rung.title}"))
    if isinstance(made, BuildError):
        return None
    size = sum(each.end - each.begin for each in variables_of(made))
    return made if size <= MAX_VARIABLES else None


def _counts(rung: Rung, job: Job, seconds: float) -> Generator[Progress, None, RunCounts | None]:
    """Count what the rung does to a part of the picture: it takes a hundred times as long."""
    part = regions.part_of(job, regions.COUNTED_SIZE)
    for shim in (CountingShim, AccessesShim):
        runs = yield from prepared(shim, rung, part, COUNTING_TIMES * seconds)
        if isinstance(runs, Runs):
            said = (yield from runs.patiently()).said.get("counts")
            return counts_of(said) if isinstance(said, dict) else None
    return None


def _refused_by_compiler(rung: Rung, region: Region, error: BuildError) -> Finding:
    kind = "refused" if str(error).startswith(REFUSED) else "compile"
    sentence, line = first_error(str(error), rung)
    return Finding(kind, sentence, region, line, diagnostics=diagnostics_of(str(error), rung))


# ---- Local variables that are used before they have a value: `float sum;` without `= 0`. --------
#
# Their contents are by chance, on a GPU often zero.  Here they are a pattern that no kernel gets
# right with; where zeros make another output, that depends on such a variable.


def unset_variable(runs: Runs, region: Region, ended: Ended) -> Search:
    """The variable that a wrong output depends on."""
    rung = runs.rung
    others = yield from prepared(ZeroedShim, rung, ended.job, runs.seconds)
    if isinstance(others, BuildError):  # a compiler that knows no such option
        return None
    zeroed = yield from others.patiently()
    if ended.answer is None or zeroed.answer is None or same_bits(ended.answer, zeroed.answer):
        return None
    warned = yield from _warned(rung, ended.job)
    line, name = next(iter(warned.items()), (None, ""))
    name = f"{name} (line {line})" if line else "A variable"
    return Finding("uninitialised", f"{name} {UNSET}; the answer depends on it.", region, line)


def with_unset(rung: Rung, job: Job, found: Finding | None) -> Search:
    """Add to the sentence for a fault on a line the variable that has no value there."""
    if found is None or found.line is None or found.kind not in ("bounds", "crash", "stack"):
        return found
    warned = yield from _warned(rung, job)
    if found.line not in warned:
        return found
    return replace(found, sentence=f"{found.sentence} {warned[found.line]} {UNSET}.")


def _warned(rung: Rung, job: Job) -> Generator[Progress, None, dict[int, str]]:
    text = generated(rung, [knobs_of(rung, job)])
    doing = Progress(f"looking for variables of {rung.title} without a value")
    try:
        said = yield from run_with_progress(warnings(text, default_cache()), doing)
    except (BuildError, OSError):
        return {}
    found: dict[int, str] = {}
    for each in diagnostics_of(said, rung):
        if each.file == rung.file and (named := NAMED.search(each.text)):
            of, dot, member = named[1].partition(".")
            # "s.a" for "s.convolve(int)::S::a".
            found.setdefault(each.line, f"{of}{dot}{member.rpartition('::')[2]}")
    return dict(sorted(found.items()))


UNSEARCHED = "not checked for races, barriers and bounds: {reason}"
CHECKING = Progress("output right; checking for races, barriers and bounds")
NO_BUGS = "compile", "refused", "deadline"  # kinds of a Finding: the run, not the kernel, failed
FAR = "{sentence} So it is on a picture of {width}×{height} pixels."
MAX_KEPT = 256  # searches that found nothing, which are not done again


@dataclass(frozen=True, slots=True)
class BugSearch:
    """The outcome of the search that is part of a verdict."""

    finding: Finding | None  # None: no bug was found
    missing: str = ""  # why nothing was searched; empty: it was

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
    rung: Rung, job: Job, *, at: tuple[int, int] | None = None, deadline_s: float = DEADLINE_S
) -> Iterator[Progress | BugSearch]:
    """Search a kernel whose output is right, as part of its verdict; the last is the outcome.

    A kernel without a bug is not searched again with the same macros and weights.
    """
    if reason := why_not():
        yield BugSearch(None, UNSEARCHED.format(reason=reason))
        return
    width, height = regions.small_size(job)
    size = min(width, job.width), min(height, job.height)
    key = (rung, knobs_of(rung, job), size, pickle.dumps(job.filter))
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
    rung: Rung, job: Job, *, at: tuple[int, int] | None = None, deadline_s: float = DEADLINE_S
) -> Iterator[Progress | Finding | None]:
    """Run a rung with every access checked; the last that is yielded is its bug; None: no bug.

    A read of what was not written before, or beyond a row's end, is a bug where the output is
    wrong.  The arguments are those of `trial`.
    """
    region = regions.region_of(job, regions.small_size(job), at)
    if rung.why_not_anywhere(regions.cropped(job, region)):  # as where its header asks for a width
        region = regions.region_of(job, regions.TRIED_SIZE, at)
    part = regions.cropped(job, region)
    runs = yield from prepared(CheckedShim, rung, part, deadline_s)
    if isinstance(runs, BuildError):
        yield _refused_by_compiler(rung, region, runs)
        return
    ended, check, found = yield from _examined(runs, region, some_rows=True)
    if found or check is None:
        yield found
    elif check.ok:
        yield (yield from _far(runs, region))
    else:
        unset = yield from unset_variable(runs, region, ended)
        yield unset or _of_wrong_output(rung, region, ended, check)


def _far(runs: Runs, region: Region) -> Search:
    """Search far blocks: some of them, so that nothing is known of the output."""
    rung, job, (width, height) = runs.rung, runs.job, regions.FAR_SIZE
    beyond = (0, max(height - job.height, 0)), (0, max(width - job.width, 0)), (0, 0)
    job = job.but(picture=np.pad(job.picture, beyond, "wrap"))
    is_alone = len(rung.passes) == 1  # else a pass reads what blocks before it left out
    is_same = not rung.why_not(job, DEVICE) and knobs_of(rung, job) == knobs_of(rung, runs.job)
    if not is_alone or not is_same:
        return None
    # A column and a row of blocks and the last one: any far place is in one.
    cross = 1 + zlib.crc32(pickle.dumps(job.filter)) // 2
    far = yield from replace(runs, job=job).once(cross=cross)
    found = findings.finding_of(rung, region, far)
    if found is None or found.kind in NO_BUGS:
        return None
    words = FAR.format(sentence=found.sentence, width=job.width, height=job.height)
    return replace(found, sentence=words, thread=None, is_far=True)


def _of_wrong_output(rung: Rung, region: Region, ended: Ended, check: Check) -> Finding:
    job, answer = ended.job, ended.answer
    assert answer is not None
    oracle = filtered(job, (0, job.height), (0, job.width))
    _, _, wrong = judged(job, answer, oracle, limits_of(job, rung.tolerance(job)))
    y, x, channel = (int(each[0]) for each in np.nonzero(wrong))
    expected = to_pixel_type(oracle, answer.dtype)[y, x, channel]
    words = (
        f"{{who}} writes {float(answer[y, x, channel]):.6g} to "
        f"{place_words(y, x, channel, job.channels)}, where the reference has "
        f"{float(expected):.6g}; {check.wrong:,} of {check.samples:,} samples are wrong."
    )
    place = y, x * job.channels + channel
    return _of_storer(rung, ended, place, Finding("wrong", words, region))
