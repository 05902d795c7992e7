"""Many kernels, each verified on the same jobs: what one of them does costs the others nothing.

On a GPU, where there is one, and then timed as well; else on the CPU runtime, without a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.device_turns import last_of, run_with_progress
from kernels.core.job import Job, Progress, Sampling
from kernels.core.plain_data import table_beside
from kernels.core.timing import Timing
from kernels.core.verdict import Check, Tolerance, place_words
from kernels.cuda_child.gpu_trial import OWN_SAMPLING, gpu_trial
from kernels.cuda_child.worker_pool import cuda_children
from kernels.cuda_on_cpu import trial as cpu
from kernels.cuda_on_cpu.compile_errors import NOT_SEEN
from kernels.cuda_on_cpu.compiler import why_not as why_not_on_cpu
from kernels.cuda_on_cpu.counting import MULTIPLY_ADDS, RunCounts
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.cuda_on_cpu.regions import DEVICE as CPU_RUNTIME
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import SUFFIX, read_own_kernel, text_hash
from kernels.rungs.rung import PICTURE, Rung
from workbench.base.numbers import in_digits
from workbench.batch.check_jobs import Asked, CheckJob, check_jobs, counted, fitted, timed_job
from workbench.files.neighbours import natural_key

DEADLINE_S = 5.0  # of the CPU's time for one job, a thousand times what a kernel takes
# A signal that another thread received wakes no lock the main thread waits for: Ctrl+C would be
# heard only when the next kernel is done.
LISTENING_S = 0.1
BY_CHANCE = "So it is on the CPU; on the GPU the output is right by chance."
NOT_FOUND = "Its bug was looked for and not found."
UNTIMED = Sampling(max_samples=0, check_taps=None)
TIMED = replace(OWN_SAMPLING, check_taps=None)

Verdict = Literal[
    "verified", "unsearched", "incomplete", "unfinished", "wrong", "failed", "refused", "broken"
]
WORDS: dict[Verdict, str] = table_beside(__file__)["verdicts"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one job, as the kernel's text has it, over the samples of the output."""

    loads: float  # of samples of the picture
    stores: float
    operations: float | None  # a multiply-add as two; None: they cannot be counted

    @property
    def in_words(self) -> str:
        """The counts for a table: "loads 2.97, stores 1, operations 98"."""
        operations = "" if self.operations is None else f", operations {self.operations:.3g}"
        return f"loads {self.loads:.3g}, stores {self.stores:.3g}{operations}"


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """One row of a check's table."""

    file: str  # as the user named it, or below the folder that was named
    verdict: Verdict
    jobs: int
    verified: int = 0  # jobs whose output is right
    refused: int = 0  # jobs that its header does not take
    job: str = ""  # the name of the first one that is not right
    words: str = ""  # one sentence: its first wrong pixel, or what else is wrong or refused
    why: str = ""  # one sentence on what that job's output is instead, or where alone it is wrong
    bug: str = ""  # one sentence on its cause, where that was looked for and found
    search: str = ""  # why none was found, where one was looked for
    unseen: str = ""  # why no CUDA compiler has compiled it; empty: one has, or it is not verified
    log: str = ""  # the compiler's own words
    counts: Counts | None = None  # of the job COUNTED; None: that is not among those that are right
    device: str = ""  # the GPU that it ran on; empty: the CPU runtime
    text_sha256: str = ""  # of its text: see `own_kernels.text_hash`; empty: it could not be read
    kernel: Timing | None = None  # for the job of a megapixel; None unless all are right

    @property
    def compiles(self) -> bool:
        return self.verdict != "broken"

    @property
    def is_right(self) -> bool:
        return self.verdict == "verified"

    @property
    def is_sound(self) -> bool:
        """True if nothing is known against it."""
        return self.verdict in ("verified", "unsearched")

    @property
    def verdict_in_words(self) -> str:
        """The verdict with how many jobs it is of: "verified on 4 of 5 jobs"."""
        done = "all jobs" if self.verified == self.jobs else f"{self.verified} of {self.jobs} jobs"
        how = " on" if self.is_sound else "; right in"
        rest = f", {NOT_SEEN}" if self.unseen else ""
        if self.verdict == "unsearched":
            rest = ", not verified"
        return f"{WORDS[self.verdict]}{how} {done}{rest}"

    @property
    def sentence(self) -> str:
        """The error, as exactly as it is known, and why not more exactly."""
        what = ": ".join(filter(None, (self.job, self.bug or self.words)))
        return " ".join(filter(None, (what, self.why, self.search)))


@dataclass(frozen=True, slots=True)
class Exam:
    """What is asked of each kernel, and where it runs."""

    seed: int  # of what is drawn of the jobs
    is_strict: bool = False  # as for hand-ins: the header chooses neither jobs nor tolerance
    asked: Asked | None = None  # what all are held against; None: what the header says
    find_bug: bool = False  # look for the cause where an output is wrong
    device: Device | None = None  # to check on, and to time on what is right; None: the CPU

    @property
    def jobs(self) -> tuple[CheckJob, ...]:
        """All that each kernel has to do; where it is timed, the last one is for that."""
        jobs = (*check_jobs(self.seed), *((timed_job(),) if self.device else ()))
        asked = self.asked
        return tuple(replace(each, job=asked.of(each.job)) for each in jobs) if asked else jobs


def kernel_files(named: Path) -> dict[Path, str]:
    """`named` itself, or the kernels in that folder and in those in it, by name.

    Links to folders, which may lead in circles, and hidden ones are passed over.
    """
    if not named.is_dir():
        return {named: str(named)}
    found = (each for each in named.rglob("*") if each.suffix.lower() == SUFFIX)
    files = {path: str(path.relative_to(named)) for path in found}
    seen = (each for each in files.items() if not re.search(r"(^|[/\\\\])\.", each[1]))
    return dict(sorted(seen, key=lambda each: natural_key(each[1])))


def check_all(
    files: Mapping[Path, str],
    say: Callable[[str], None],
    add: Callable[[int, CheckedKernel], None],
    how: Exam,
    *,
    at_a_time: int = 1,
) -> None:
    """Check all; `say` and `add`, which gets a row with its place, are called on any thread."""
    stop, every = Event(), list(files.items())

    def check(at: int) -> None:
        steps = checking(*every[at], how)
        said = ""
        try:
            while not stop.is_set():
                if (doing := next(steps).doing) != said:  # else several would take turns forever
                    say(doing)
                said = doing
        except StopIteration as end:
            add(at, end.value)
        finally:
            steps.close()

    with ThreadPoolExecutor(at_a_time, "kernel-checks") as pool:
        try:
            waiting: set[Future[None]] = {pool.submit(check, at) for at in range(len(files))}
            while waiting:
                done, waiting = wait(waiting, LISTENING_S, FIRST_COMPLETED)
                for each in done:
                    each.result()
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def checking(path: Path, shown: str, how: Exam) -> Generator[Progress, None, CheckedKernel]:
    """Check one kernel on every job, then search it for bugs; the end is its row."""
    every, device = how.jobs, how.device
    count = len(every)
    found = CheckedKernel(shown, "verified", count, device=device.name if device else "")
    try:
        rung = read_own_kernel(path, is_strict=how.is_strict)
    except HeaderError as error:
        return replace(found, verdict="broken", words=str(error))
    found = replace(found, text_sha256=text_hash(rung.source))
    is_said = how.is_strict or how.asked is not None
    jobs = [fitted(each, rung, is_strict=is_said) for each in every]
    if other := rung.other_work(jobs[0]):
        return replace(found, verdict="refused", refused=count, words=f"{other}.")
    refusals = [rung.why_not(job, device or CPU_RUNTIME) for job in jobs]
    taken = [job for job, reason in zip(jobs, refusals, strict=True) if reason is None]
    searched = _to_search(taken)
    library: Path | None = None
    if device is None:
        where = Progress(f"{shown}: compiling")
        library = yield from run_with_progress(cpu.building_ahead(rung, taken, searched), where)
    suspect: Job | None = None
    check: Check | None = None
    for number, (each, job) in enumerate(zip(every, jobs, strict=True), 1):
        if refusals[number - 1] is not None:
            continue
        where = Progress(f"{shown}: job {number} of {count}")
        yield where
        is_timed = number == count and found.verdict == "verified"
        trying = _tried(rung, job, device, is_timed, each is counted(every), library)
        tried, counts = yield from run_with_progress(trying, where)
        if tried.ok:
            check = tried.check
            found = replace(found, verified=found.verified + 1, kernel=tried.kernel)
            if counts is not None:
                found = replace(found, counts=_per_sample(job, counts))
            continue
        if suspect is None:
            suspect, found = job, _with_failure(found, each, tried, rung)
        if tried.check is None:
            break  # it came to no end, and would take as long again
    refusal = next(filter(None, refusals), "")
    found = replace(found, refused=sum(each is not None for each in refusals))
    if found.refused == count:
        return replace(found, verdict="refused", words=refusal)
    if found.verdict == "verified":
        assert check is not None
        where = Progress(f"{shown}: {cpu.CHECKING.doing}")
        for job in searched:
            steps = cpu.verdict_search(rung, job, deadline_s=DEADLINE_S)
            search: cpu.BugSearch = yield from run_with_progress(last_of(steps), where)
            check = search.verdict(check, device)
            if not check.is_verified:
                break
        return _judged(found, check, how, refusal)
    if how.find_bug and suspect is not None and found.verdict in ("wrong", "failed"):
        if reason := why_not_on_cpu():
            return replace(found, search=f"Its bug could not be looked for: {reason}")
        where = Progress(f"{shown}: looking for the bug")
        steps = last_of(cpu.finding_bug(rung, suspect, deadline_s=DEADLINE_S))
        finding = yield from run_with_progress(steps, where)
        return replace(found, bug=finding.sentence) if finding else replace(found, search=NOT_FOUND)
    return found


def _to_search(jobs: Sequence[Job]) -> list[Job]:
    if not jobs:
        return []
    widest = max(jobs, key=lambda job: (job.channels == 3, job.ksize))
    least = min(jobs, key=lambda job: (job.ksize, job.channels, *job.block_xy))
    return [widest] if least is widest else [widest, least]


def _judged(found: CheckedKernel, check: Check, how: Exam, refusal: str) -> CheckedKernel:
    if check.bug:
        return replace(found, verdict="failed", bug=check.bug, kernel=None)
    if how.is_strict and found.refused:
        return replace(found, verdict="incomplete", words=refusal, kernel=None)
    verdict: Verdict = "verified" if check.is_verified else "unsearched"
    found = replace(found, search=check.unsearched, unseen=check.unseen)
    return replace(found, verdict=verdict, words=refusal)


def _tried(
    rung: Rung,
    job: Job,
    device: Device | None,
    is_timed: bool,
    is_counted: bool,
    library: Path | None,
) -> Generator[Progress, None, tuple[KernelTrial, RunCounts | None]]:
    """Try it; the end is the trial, and its counts, which the CPU takes where it can."""
    if device is None:
        steps = cpu.trial(  # the search launches it for some rows
            *(rung, job),
            whole=True,
            counting=is_counted,
            some_rows=False,
            deadline_s=DEADLINE_S,
            library=library,
        )
        tried = yield from last_of(steps)
        return tried, tried.counts
    sampling = TIMED if is_timed else UNTIMED
    children = cuda_children(device.index)
    there = yield from last_of(gpu_trial(rung, job, sampling=sampling, children=children))
    if not is_counted or not there.ok or why_not_on_cpu():
        return there, None
    here = yield from last_of(cpu.trial(rung, job, counting=True, deadline_s=DEADLINE_S))
    if here.is_at_fault:
        return replace(here, problem=f"{here.problem} {BY_CHANCE}"), None
    return there, here.counts


def _per_sample(job: Job, counts: RunCounts) -> Counts:
    samples, size = job.picture.size, job.picture.itemsize
    done = counts.operations
    flops = None if done is None else sum(done) + done[MULTIPLY_ADDS]
    return Counts(
        loads=counts.loaded.get(PICTURE, 0) / size / samples,
        stores=counts.stored.get(PICTURE, 0) / size / samples,
        operations=None if flops is None else flops / samples,
    )


def _with_failure(
    found: CheckedKernel, each: CheckJob, tried: KernelTrial, rung: Rung
) -> CheckedKernel:
    if tried.is_lacking:  # CUDA takes it
        return replace(found, verdict="refused", words=tried.problem)
    if tried.is_unfinished:
        return replace(found, verdict="unfinished", job=each.name, words=tried.problem)
    if tried.log:
        return replace(found, verdict="broken", words=tried.problem, log=tried.log)
    words = tried.problem
    if not words and tried.answer is not None:
        words = first_wrong(tried.job, tried.answer, rung.tolerance(tried.job))
    verdict: Verdict = "wrong" if tried.check is not None and not tried.check.ok else "failed"
    why = tried.check.why if tried.check and not tried.problem else ""
    return replace(found, verdict=verdict, job=each.name, words=words, why=why)


def first_wrong(job: Job, answer: NDArray[Any], tolerance: Tolerance) -> str:
    """The place of the first wrong sample, from the top left, and its right value; empty: none.

    "x 3, y 0, green is 17 and should be 22; 45 of 2331 samples are wrong."
    """
    oracle = filtered(job)
    got = answer.reshape(job.picture.shape)
    _, _, wrong = judged(job, got, oracle, limits_of(job, tolerance))
    if not wrong.any():
        return ""
    at = tuple(int(each) for each in np.argwhere(wrong)[0])
    y, x, channel = at
    both = got, to_pixel_type(oracle, got.dtype)
    value, expected = (in_digits(float(each[at])) for each in both)
    place = place_words(y, x, channel, job.channels)
    return (
        f"{place} is {value} and should be {expected}; {wrong.sum()} of {wrong.size} samples are "
        "wrong."
    )
