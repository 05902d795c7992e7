"""Time several jobs in turn, a sample each, so that drifts hit all alike; verify each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from time import perf_counter

import numpy as np

from kernels.core.device import Occupancy
from kernels.core.device_turns import Waiting
from kernels.core.driving import last_of
from kernels.core.errors import DeviceLostError, GivenUpError, KernelError
from kernels.core.job import Job, Progress, Ran, Result, Sampled, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Timing, groups_of_equals
from kernels.core.verdict import Check
from kernels.engine.engine import Engine
from kernels.oracle.checking import Oracle, checking
from kernels.rungs.own_kernels import is_own

# What takes less than this is measured to the end: its first run, which the device prepares for,
# says too little.
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

    known       of this picture, weights and border: see `checking.checking`
    limit_ms    give up where the kernel takes longer
    patience_s  for the first run, compiling and pauses aside
    Raises GivenUpError where that was too short, and DeviceLostError.
    """
    result: Result | None = None
    clock = Patience(patience_s)
    try:
        for step in clock.watched(engine.filtering(job, replace(sampling, check=False))):
            if not isinstance(step, Result):
                if result is None and clock.is_over:
                    raise GivenUpError(f"Given up: not finished after {patience_s:g} s.")
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
        return f"Its answer is {result.check}."
    if not sampling.check:
        return result
    check = yield from checked(engine, result, sampling.check_taps, known)
    return replace(result, check=check)


def checked(
    engine: Engine, result: Result, max_taps: int | None, known: Oracle
) -> Generator[Progress, None, Check]:
    """Verify the output of `result`, with `known` and `max_taps` of `checking.checking`.

    A user kernel brings its own Check, of more outputs than the one that is given.
    """
    if is_own(result.implementation):
        assert result.check is not None
        return result.check
    implementation = engine.implementation(result.implementation)
    tolerance = implementation.tolerance(result.job)
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


class Patience:
    """A clock of the time that a computation spends on itself.

    Not on compiling, which its second step ends with at the latest, not on waiting for its turn on
    the device, and not on time that the caller spends between the steps.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s, self._spent_s = limit_s, 0.0

    @property
    def is_over(self) -> bool:
        """Return True if more than the limit was spent."""
        return self._spent_s > self._limit_s

    def watched(self, steps: Iterator[Progress | Result]) -> Iterator[Progress | Result]:
        """Yield from `steps`, counting the time that each takes."""
        for number in count():
            start = perf_counter()
            step = next(steps, None)
            if step is None:
                return
            if number > 1 and not isinstance(step, Waiting):
                self._spent_s += perf_counter() - start
            yield step


NEWS_EVERY_S = 0.1
FIRST_RUN_S = 5.0  # what has not finished once after so long is left out
# As long as a job is timed its outputs are kept, two of them on the CPU and one on either side of
# the bus with a GPU; more jobs than have room go one group after the other.
HELD_BYTES = 2 << 30
COMPARING = Progress("comparing")  # of all: they take turns a thousand times a second


@dataclass(frozen=True, slots=True)
class CandidateState:
    """The state of one job so far.

    ms       its lower quartile, median and upper quartile; in a Snapshot they have been worked out
    check    of its first output, and in the end of its last, which was timed; None: not yet
    """

    timing: Timing | None = None  # None: it has not run yet, or never will
    ms: tuple[float, float, float] | None = None
    check: Check | None = None
    reason: str = ""  # why it is out: refused, failed, too slow; empty while it is not
    ran: tuple[Ran, ...] = ()
    occupancy: Occupancy | None = None
    is_over: bool = False  # nothing more will come
    disturbances: tuple[str, ...] = ()  # what may have falsified its time, in words

    @property
    def counts(self) -> bool:
        """Return True if its time is a speed: only beside a passed check."""
        return self.timing is not None and self.check is not None and self.check.ok


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of all jobs at one moment.

    groups     the numbers of those whose time counts: fastest first, what noise cannot tell from
               the first of a tuple is in it (`comparison.groups_of_equals`)
    """

    jobs: tuple[Job, ...]
    standings: tuple[CandidateState, ...]  # in the jobs' order
    groups: tuple[tuple[int, ...], ...]

    @property
    def is_over(self) -> bool:
        """Return True if all is known."""
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
                    standings[number] = yield from _one_turn(running[number])
                    if standings[number].is_over:
                        running.pop(number).close()
                    is_over = all(each.is_over for each in standings)
                    if clock() - told >= NEWS_EVERY_S and not is_over:
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
        samples_ms = each.timing.samples_ms if each.timing else (0.0,)
        low, middle, high = map(float, np.percentile(samples_ms, (25, 50, 75)))
        summed_up.append(replace(each, ms=(low, middle, high) if each.timing else None))
    return Snapshot(jobs, tuple(summed_up), tuple(groups_of_equals(timings)))


def _one_turn(
    turns: Iterator[Progress | CandidateState],
) -> Generator[Progress, None, CandidateState]:
    """Drive `turns` as far as its next CandidateState."""
    for step in turns:
        if isinstance(step, CandidateState):
            return step
        yield step if isinstance(step, Waiting) else COMPARING
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
        result = yield from last_of(engine.filtering(job, sampling))
        timing, occupancy = result.kernel, result.occupancy
        yield CandidateState(
            timing, None, result.check, ran=result.ran, occupancy=occupancy, is_over=True
        )
    except DeviceLostError:
        raise
    except KernelError as error:
        yield CandidateState(reason=str(error), is_over=True)


def _sampling(
    engine: Engine, job: Job, sampling: Sampling, known: Oracle
) -> Generator[Progress | CandidateState, None, None]:
    standing, result, seen = CandidateState(), None, None
    patience = Patience(FIRST_RUN_S)
    for step in patience.watched(engine.filtering(job, replace(sampling, check=False))):
        if isinstance(step, Sampled):
            yield replace(standing, timing=step.timing)
        elif not isinstance(step, Result):
            if result is None and patience.is_over:
                late = f"Left out: not finished once after {FIRST_RUN_S:g} s."
                yield CandidateState(reason=late, is_over=True)
                return
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
                if not check.ok:
                    break
    assert result is not None
    if result.picture is not seen and standing.counts:
        check = yield from checked(engine, result, sampling.check_taps, known)
        standing = replace(standing, check=check)
    yield replace(standing, is_over=True)
