"""Time several jobs in turn, so that drifts hit all alike; tune by measuring every way."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

from kernels.core.device import Device, NoDevice, Occupancy
from kernels.core.device_turns import Waiting, last_of, run_with_progress
from kernels.core.errors import CannotRunError, DeviceLostError, GivenUpError, KernelError
from kernels.core.job import Job, Progress, Ran, Result, Results, Sampled, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Timing, groups_of_equals
from kernels.core.verdict import Check
from kernels.engine.auto import DEFAULT_BLOCK_XY, Candidate, JobClass, job_class_of, usual_order
from kernels.engine.engine import Engine
from kernels.oracle.checking import Oracle, checking
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

# What takes less than this is measured to the end: its first run says too little.
GIVE_UP_FROM_MS = 10.0


def measure_checked(
    engine: Engine,
    job: Job,
    sampling: Sampling,
    known: Oracle,
    limit_ms: float = inf,
    patience_s: float = inf,
) -> Generator[Progress, None, Result | str]:
    """Measure and check `job`; return the Result, or the sentence why there is none.

    known       see `checking.checking`
    limit_ms    give up where the kernel takes longer
    patience_s  for the first run: see `watched`
    Raises GivenUpError where that was too short, and DeviceLostError.
    """
    result: Result | None = None
    try:
        for step in watched(engine.filtering(job, replace(sampling, check=False)), patience_s):
            if not isinstance(step, Result):
                yield step
                continue
            result = step
            ms = step.kernel.median_ms if step.kernel else 0.0
            if ms > max(limit_ms, GIVE_UP_FROM_MS):
                return f"Given up: {ms:.3g} ms, far slower than the best."
    except (DeviceLostError, GivenUpError):
        raise
    except KernelError as error:
        return str(error)
    assert result is not None
    if result.kernel is None:  # of a user kernel, which is never timed unchecked
        return f"Its output is {result.check}." if result.check else "A step of it has no time."
    if not sampling.check:
        return result
    check = yield from checked(engine, result, sampling.check_taps, known)
    return replace(result, check=check)


def checked(
    engine: Engine, result: Result, max_taps: int | None, known: Oracle
) -> Generator[Progress, None, Check | None]:
    """Verify the output of `result`; a user kernel brings its own Check.

    None of a list that takes too many products to compare anything.
    """
    if not result.steps and is_own(result.implementation):
        return result.check
    found: Check | None = None
    tolerance = engine.tolerance(result)
    for found in checking(result.job, result.picture, tolerance, max_taps, known):  # noqa: B007
        yield Progress("verifying against the float64 reference")
    return found


@contextmanager
def or_nothing() -> Iterator[None]:
    """Ignore failures of extras, unless the device is lost."""
    try:
        yield
    except DeviceLostError:
        raise
    except KernelError:
        pass


def watched(steps: Results, patience_s: float) -> Results:
    """Yield from `steps`; raise GivenUpError where there is no Result within that time.

    It leaves out compiling, which ends with the second step at the latest, waiting for a turn on
    the device, and the caller's time between the steps.
    """
    start, spent_s, is_done = perf_counter(), 0.0, False
    for number, step in enumerate(steps):
        is_done = is_done or isinstance(step, Result)
        if number > 1 and not isinstance(step, Waiting):
            spent_s += perf_counter() - start
        if spent_s > patience_s and not is_done:
            raise GivenUpError(f"Given up: not finished after {patience_s:g} s.")
        yield step
        start = perf_counter()


NEWS_EVERY_S = 0.1
FIRST_RUN_S = 5.0  # what has not finished once after so long is left out
# As long as a job is timed its outputs are kept, two of them on the CPU and one on either side of
# the bus with a GPU; more jobs than have room go one group after the other.
HELD_BYTES = 2 << 30
COMPARING = Progress("comparing")  # of all: they take turns a thousand times a second


@dataclass(frozen=True, slots=True)
class CandidateState:
    """The state of one job so far."""

    timing: Timing | None = None  # None: it has not run yet, or never will
    ms: tuple[float, float, float] | None = None  # quartiles and median, in a Snapshot
    check: Check | None = None  # of its first output, and in the end of its last
    reason: str = ""  # why it is out: refused, failed, too slow; empty while it is not
    ran: tuple[Ran, ...] = ()
    occupancy: Occupancy | None = None
    is_over: bool = False  # nothing more will come
    disturbances: tuple[str, ...] = ()  # what may have falsified its time, in words

    @property
    def counts(self) -> bool:
        """True if its time is a speed: only beside a passed check."""
        return self.timing is not None and self.check is not None and self.check.ok


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of all jobs at one moment."""

    jobs: tuple[Job, ...]
    standings: tuple[CandidateState, ...]  # in the jobs' order
    groups: tuple[tuple[int, ...], ...]  # of those that count: `groups_of_equals`

    @property
    def is_over(self) -> bool:
        return all(each.is_over for each in self.standings)


def comparing(
    jobs: Sequence[Job],
    engine: Engine,
    sampling: Sampling = SWEEP_SAMPLING,
    *,
    held_bytes: int = HELD_BYTES,
    clock: Callable[[], float] = perf_counter,
) -> Iterator[Progress | Snapshot]:
    """Run jobs in turn, a sample each, until every one has its samples and is checked.

    jobs    all of one picture, weights and border; sampled by the rule, and held against the
            oracle, as any other measurement
            a user kernel is timed in one go, in its own process, when it is its turn
    yields  Progress wherever it may be paused or stopped, a Snapshot every tenth of a second, and
            the last one when all is known

    Raises DeviceLostError; any other failure is its job's reason.
    """
    jobs = tuple(jobs)
    standings = [CandidateState() for _ in jobs]
    known: Oracle = {}
    held = max((2 * each.picture.nbytes for each in jobs), default=1)
    together = max(1, min(len(jobs), held_bytes // held))
    told = clock()
    yield from engine.compiling(jobs)
    for first in range(0, len(jobs), together):
        group = range(first, min(first + together, len(jobs)))
        running = {n: _turns(engine, jobs[n], sampling, known) for n in group}
        try:
            while running:
                for number in list(running):
                    standings[number] = yield from _one_turn(running[number], standings[number])
                    if standings[number].is_over:
                        running.pop(number).close()
                    if clock() - told >= NEWS_EVERY_S and running:
                        yield _round(jobs, standings)
                        told = clock()
                    else:
                        yield COMPARING
        finally:
            for turns in running.values():
                turns.close()
    yield _round(jobs, standings)


def _round(jobs: tuple[Job, ...], standings: Sequence[CandidateState]) -> Snapshot:
    timings = {n: s.timing for n, s in enumerate(standings) if s.counts and s.timing is not None}
    summed_up = []
    for each in standings:
        if each.timing:
            low_ms, high_ms = each.timing.quartiles_ms
            each = replace(each, ms=(low_ms, each.timing.median_ms, high_ms))
        summed_up.append(each)
    return Snapshot(jobs, tuple(summed_up), tuple(groups_of_equals(timings)))


def _one_turn(
    turns: Iterator[Progress | CandidateState], before: CandidateState
) -> Generator[Progress, None, CandidateState]:
    """Drive `turns` as far as its next CandidateState; the first may take seconds to compile."""
    for step in turns:
        if isinstance(step, CandidateState):
            return step
        yield step if before.timing is None or isinstance(step, Waiting) else COMPARING
    raise AssertionError("a job's last CandidateState is over")


def _turns(
    engine: Engine, job: Job, sampling: Sampling, known: Oracle
) -> Generator[Progress | CandidateState, None, None]:
    """Yield a CandidateState after each sample; the last one is over."""
    try:
        if not is_own(job.implementation):
            yield from _sampling(engine, job, sampling, known)
            return
        # In one go: until then no other kernel runs, which would disturb its time.
        found = yield from last_of(engine.filtering(job, sampling))
        yield CandidateState(
            found.kernel, check=found.check, ran=found.ran, occupancy=found.occupancy, is_over=True
        )
    except DeviceLostError:
        raise
    except KernelError as error:
        yield CandidateState(reason=str(error), is_over=True)


def _sampling(
    engine: Engine, job: Job, sampling: Sampling, known: Oracle
) -> Generator[Progress | CandidateState, None, None]:
    standing, result, seen = CandidateState(), None, None
    for step in watched(engine.filtering(job, replace(sampling, check=False)), FIRST_RUN_S):
        if isinstance(step, Sampled):
            yield replace(standing, timing=step.timing)
        elif not isinstance(step, Result):
            yield step
        else:
            result = step
            standing = replace(
                standing, timing=step.kernel, ran=step.ran, disturbances=step.disturbances
            )
            if seen is None:  # what is wrong is out at once
                seen = step.picture
                check = yield from checked(engine, step, sampling.check_taps, known)
                with or_nothing():
                    standing = replace(standing, occupancy=engine.occupancy(job))
                standing = replace(standing, check=check)
                if check is not None and not check.ok:
                    break
    assert result is not None
    if result.picture is not seen and standing.counts:
        check = yield from checked(engine, result, sampling.check_taps, known)
        standing = replace(standing, check=check)
    yield replace(standing, is_over=True)


Block = tuple[int, int]

WARP = 32
# The block picker's shapes, and whole warps side by side and above each other.
PRESETS: tuple[Block, ...] = ((8, 8), (16, 16), (32, 8), (32, 16), (32, 32))
WIDTHS, HEIGHTS = (WARP, 2 * WARP, 4 * WARP, 8 * WARP), (1, 2, 4, 8, 16)
MIN_THREADS = 2 * WARP
# A way this many times slower than the best is measured no further, and in no other shape.
HOPELESS = 3.0
SAMPLING = Sampling(max_samples=30, max_seconds=0.25, check_taps=3_000_000)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Progress of a tuning: of `ways` to run class number `number` of `count`, `done` are known."""

    number: int
    count: int
    done: int
    ways: int
    doing: str


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one way: its time, or the sentence why it does not count."""

    kind: JobClass
    implementation: str
    block_xy: Block | None
    outcome: Candidate | str


def tuning(
    engine: Engine, jobs: Sequence[Callable[[], Job]], *, shapes: bool = True
) -> Iterator[Tuning | Trial]:
    """Measure, check and remember every way to run each of `jobs`.

    Saves what is known after each job, and wherever this is stopped.

    jobs    made when it is their turn: their pictures together may be large
    shapes  whether to try other block shapes than the usual one
    Raises CannotRunError without a GPU, DeviceLostError where it fails.
    """
    if isinstance(engine.device, NoDevice):
        raise CannotRunError(engine.device.reason)
    try:
        for number, make in enumerate(jobs, start=1):
            where = Tuning(number, len(jobs), 0, 0, "")
            for step in _tuning_one(engine, make(), (number, len(jobs)), shapes=shapes):
                where = step if isinstance(step, Tuning) else where
                yield replace(where, doing=step.doing) if isinstance(step, Waiting) else step
            engine.picker.measurements.save()
    finally:
        engine.picker.measurements.save()


def block_grid(device: Device) -> list[Block]:
    """The shapes to try: the usual one first, none refused by the device or tiny."""
    grid = [(x, y) for x in WIDTHS for y in HEIGHTS if x * y >= MIN_THREADS]
    shapes = dict.fromkeys((DEFAULT_BLOCK_XY, *PRESETS, *grid))
    return [each for each in shapes if device.why_no_block(each) is None]


def _tuning_one(
    engine: Engine, job: Job, place: tuple[int, int], *, shapes: bool
) -> Iterator[Tuning | Trial | Waiting]:
    """Try the ways likely to be quick first, for users who stop early."""
    assert isinstance(engine.device, Device)
    kind, known, best_ms = job_class_of(job), Oracle(), inf
    rungs, measurements = usual_order(job), engine.picker.measurements
    others = [each for each in block_grid(engine.device) if each != DEFAULT_BLOCK_XY]
    usual = [(rung, None if rung.own_block else DEFAULT_BLOCK_XY) for rung in rungs]
    shaped = [(rung, xy) for rung in rungs if shapes and not rung.own_block for xy in others]
    times_ms: dict[str, float] = {}
    for stage in (usual, shaped):
        ways = [
            (rung, xy)
            for rung, xy in stage
            if times_ms.get(rung.key, 0.0) < HOPELESS * best_ms
            and engine.picker.may_run(rung, _job(job, rung, xy))
        ]
        for progress in engine.compiling(_job(job, rung, xy) for rung, xy in ways):
            yield Tuning(*place, 0, len(ways), progress.doing)
        for done, (rung, xy) in enumerate(ways):
            name = f"{rung.key} {xy[0]}×{xy[1]}" if xy else rung.key
            where = Tuning(*place, done, len(ways), f"{name} · {kind}")
            yield where
            one = _job(job, rung, xy)
            steps = measure_checked(engine, one, SAMPLING, known, HOPELESS * best_ms)
            outcome = _outcome((yield from run_with_progress(steps, where)), one, xy)
            if isinstance(outcome, Candidate):
                measurements.add(kind, outcome)
                best_ms = min(best_ms, outcome.median_ms)
                times_ms[rung.key] = min(outcome.median_ms, times_ms.get(rung.key, inf))
            else:
                # Hopeless, wrong or failed: in its usual shape as in any.
                for each in measurements.of(kind):
                    is_shape = stage is usual or each.block_xy == xy
                    if each.implementation == rung.key and is_shape:
                        measurements.discard(kind, each.way)
                times_ms.setdefault(rung.key, inf)
            yield Trial(kind, rung.key, xy, outcome)


def _outcome(found: Result | str, job: Job, block_xy: Block | None) -> Candidate | str:
    if isinstance(found, str):
        return found
    if found.check is None or not found.check.ok:
        return f"Its output is {found.check or 'not checked'}."
    low_ms, high_ms = found.timed.quartiles_ms
    return Candidate(job.implementation, block_xy, found.timed.median_ms, low_ms, high_ms)


def _job(job: Job, rung: Rung, block_xy: Block | None) -> Job:
    return job.but(implementation=rung.key, block_xy=block_xy or DEFAULT_BLOCK_XY, devices=1)
