"""Many kernels, each verified on the same jobs: what one of them does costs the others nothing.

On a GPU, where there is one, and then timed as well; else on the CPU runtime, without a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.device_turns import last_of, run_with_progress
from kernels.core.job import PIXEL_TYPES, Job, Progress, Sampling
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
from kernels.filters import Filter, all_filters
from kernels.oracle.checking import judged, limits_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import white
from kernels.rungs.headers import SMALLEST, HeaderError
from kernels.rungs.own_kernels import SUFFIX, read_own_kernel, text_hash
from kernels.rungs.rung import OF_WEIGHTS, PICTURE, Rung, filter_of
from workbench.base.numbers import in_digits
from workbench.files.neighbours import natural_key

SEED = 16  # of the timed picture: the same numbers on every computer
MAX_SEED = 1 << 31  # of those that are drawn
GAIN = 2.0  # Σ|w|
SMALL_GAIN = 1 / 32  # with which weights that are rounded to a fixed step are far off
SIZES = (5, 9, 11)  # of weights, of which one is drawn
NAMES = {1: "grey", 3: "RGB", 4: "RGBA"}  # by channels
# As kernel_checks.toml has them.
Kind = Literal["any", "separable", "small", "uniform", "smooth", "holed"]
Content = Literal["noise", "black", "white", "NaN and infinity"]
COUNTED_AT = 3  # the 7×7 that shows best what a tile spares
_TABLE = table_beside(__file__)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One of them; facts: what its name says of it besides the job."""

    job: Job
    facts: str = ""

    @property
    def name(self) -> str:
        """Its name in tables: "7×7, 45×18 uint8 RGB, mirror"."""
        job = self.job
        size = f"{job.ksize}×{job.ksize}, {job.width}×{job.height}"
        name = f"{size} {job.pixel_type} {NAMES[job.channels]}, {job.border}"
        return name + ", offset" * bool(getattr(job.filter, "offset", 0)) + self.facts


@dataclass(frozen=True, slots=True)
class Asked:
    """The filter that outputs are held against.

    ksize       of all jobs; None: each job's own, or the nearest that the filter has
    parameters  by name; one left out takes its default
    """

    filter: Filter
    ksize: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def of(self, job: Job) -> Job:
        """The job with this filter instead.  In what has no weights NaN have no place."""
        ksize = self.ksize or self.filter.nearest_size(job.ksize)
        offset = 0.0 if self.filter.gradient else job.correlation.offset
        scale = white(job.picture.dtype)
        made = self.filter.of_size(ksize, offset, white=scale, **self.parameters)
        picture = job.picture
        if not self.filter.has_weights and np.isnan(picture).any():
            picture = np.nan_to_num(picture, nan=0.0, posinf=np.inf, neginf=-np.inf)
            picture.flags.writeable = False
        gradient, title = self.filter.gradient, self.filter.title
        return job.but(picture=picture, filter=made, gradient=gradient, title=title)


@cache
def check_jobs(seed: int) -> tuple[CheckJob, ...]:
    """All of them.

    No picture but one is a multiple of a block; two are smaller than the weights, one of them than
    their half; one has many blocks and more samples than 16 bits count, one is wider and one taller
    than 1024, and five have sizes that `seed` draws, of the picture or also of the weights; one is
    black, one white, and one has samples far from the others, NaN and infinities.
    All samples and weights are drawn by it, so that no text can know them.
    Sums leave the range of their type; no weights are the same turned or mirrored, but for those
    that are uniform.  Some kernels ask for these, or for separable ones, which come with every
    border, in grey and in RGB.  Two have alpha, which no filter changes, and an offset: in several
    blocks, as a kernel may have a way of its own away from the edges.
    """
    rng = np.random.default_rng(seed)
    return tuple(_made(rng, **row) for row in _TABLE["job"])


def counted(jobs: tuple[CheckJob, ...]) -> CheckJob:
    """The job whose loads, stores and operations are counted."""
    return jobs[COUNTED_AT]


def fitted(each: CheckJob, rung: Rung, *, is_strict: bool = False) -> Job:
    """The job as `rung` does it: with the length of a gradient, or a filter without weights.

    To a length no offset is added.  With wrap, and a filter that has a disk, only that counts.

    is_strict  its header does not choose
    """
    job = each.job.but(implementation=rung.key)
    if is_strict or rung.filter == "any":
        return job
    if rung.filter in OF_WEIGHTS:
        offset = 0.0 if rung.gradient else job.correlation.offset
        return job.but(gradient=rung.gradient, offset=offset)
    turns = _turns(rung.filter)
    asked = turns[job.height % len(turns)]
    return replace(asked, parameters={**asked.parameters, "is_disk": job.border == "wrap"}).of(job)


@cache
def _turns(does: str) -> tuple[Asked, ...]:
    """What a rung that does this of `rung.WORDS` is held against, in turns."""
    found = (Asked(each) for each in all_filters() if not each.has_weights)
    mine = (each for each in found if does in (each.filter.key, filter_of(each.of(SMALLEST))))
    given = ((each, _TABLE["turns"].get(each.filter.key, [{}])) for each in mine)
    return tuple(replace(each, parameters=one) for each, some in given for one in some)


def _made(
    rng: np.random.Generator,
    *,
    channels: int,
    border: str,
    size: Any,
    weights: Kind,
    ksize: int = 0,
    pixel_type: str = "",
    content: Content = "noise",
    block_xy: tuple[int, int] = (32, 8),
    offset: float = 0.0,
) -> CheckJob:
    is_drawn = not np.isscalar(size[0]) or not pixel_type
    ksize = ksize or int(rng.choice(SIZES))
    pixel_type = pixel_type or str(rng.choice(PIXEL_TYPES))
    width, height = map(int, size if np.isscalar(size[0]) else rng.integers(*size))
    drawn = _weights(rng, ksize, weights)
    picture = _picture(rng, (height, width, channels), np.dtype(pixel_type), content)
    job = Job.of(picture, drawn, border, block_xy=(block_xy[0], block_xy[1]), offset=offset)
    facts = "" if content == "noise" else f", {content}"
    return CheckJob(job, facts + ", drawn" * is_drawn)


def _weights(rng: np.random.Generator, ksize: int, kind: Kind) -> NDArray[np.float32]:
    weights, gain = rng.uniform(-1, 1, (ksize, ksize)), SMALL_GAIN if kind == "small" else GAIN
    if kind in ("separable", "small"):
        weights = np.outer(weights[0], weights[1])
    if kind == "uniform":
        weights = np.ones((ksize, ksize))
    if kind == "smooth":  # of which white stays white
        weights, gain = np.abs(weights), 1.0
    if kind in ("smooth", "holed"):
        weights[0, 0] = 0.0
    weights *= gain / np.abs(weights).sum()
    return weights.astype(np.float32)


def _picture(
    rng: np.random.Generator, shape: tuple[int, int, int], dtype: np.dtype[Any], content: Content
) -> NDArray[Any]:
    picture: NDArray[Any]
    if content in ("black", "white"):
        picture = np.full(shape, np.iinfo(dtype).max if content == "white" else 0, dtype)
    elif dtype.kind == "u":
        picture = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    else:
        picture = rng.uniform(-1, 2, shape).astype(dtype)
    if content == "NaN and infinity":
        places = rng.choice(picture.size, 6, replace=False)
        picture.ravel()[places] = np.nan, np.inf, -np.inf, 1e6, -1e6, 1e5
    picture.flags.writeable = False
    return picture


@cache
def timed_job() -> CheckJob:
    """The one of a megapixel, which kernels are timed on: smooth, as most can do that."""
    rng = np.random.default_rng(SEED)
    how: dict[str, Any] = {"ksize": 5, "pixel_type": "uint8", "channels": 3, "border": "mirror"}
    return _made(rng, **how, size=(1024, 1024), weights="uniform")


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
WORDS: dict[Verdict, str] = _TABLE["verdicts"]


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

    "x 3, y 0, channel 1 is 17 and should be 22; 45 of 2331 samples are wrong."
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
