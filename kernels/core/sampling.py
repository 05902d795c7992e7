"""Decide when to repeat a job, and when to report: the same rule for CPU and GPU."""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import perf_counter

from kernels.core.device_turns import Turns, outcome_of
from kernels.core.job import Progress, Sampling
from kernels.core.timing import Cache, Ended, Timing, relative_spread

NEWS_EVERY_S = 0.1
SETTLED_FOR = 5  # samples in a row: below the limit by chance is not settled
# A process's new threads share a core until the scheduler has moved them apart: measured on two
# cores, OpenCV's calls took twice as long for their first 36 to 74 ms, in every other process.
THREADS_SETTLE_S = 0.1
# What takes half a second is measured once, after a warm-up; what is faster ten times and more.
SWEEP_SAMPLING = Sampling(
    max_samples=100,
    max_seconds=0.5,
    min_samples=10,
    noise=0.005,
    warmups=2,
    warmup_seconds=0.05,
    check_taps=20_000_000,
)


class Sampler:
    """Collects runs until the plan is met; the first ones warm up.

    The rule is nvbench's "stdrel" (https://github.com/NVIDIA/nvbench, stdrel_criterion.cxx): a
    least number of samples, then until their noise is below a limit, or the time is over.  But
    noise is the quartile range over the median, which no outlier moves; it must have been below
    the limit for SETTLED_FOR samples; and `max_samples` ends what stays noisy.

    No sample is ever dropped.  Warm-ups are no samples: a first run is shown until there is a
    better one, and counts only where it takes longer than `again_seconds` and `max_seconds`.
    A run that takes longer than the plan allows is the last warm-up, or the only sample.  A plan
    without samples is for the output alone: the first run is the only one.

    first_ms  what the first run took
    clock     seconds, for the warm-up's end and for news; samples bring their own time
    """

    def __init__(
        self,
        first_ms: float,
        plan: Sampling,
        cache: Cache | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._plan, self._cache, self._clock = plan, cache, clock
        self._limit_ms = plan.max_seconds * 1e3
        self._latest_ms = first_ms
        self._warmups = 1
        self._warm_s = first_ms / 1e3
        self._warm_at = clock()
        self._samples_ms: list[float] = []
        self._spent_ms = 0.0
        self._settled = 0  # for how many samples the spread has been below the limit
        self._last_news = clock()
        self._next_warms_up = self._has_to_warm_up()

    def add(self, run_ms: float) -> None:
        """Count one more run: a warm-up or a sample, as was its turn when it began."""
        self._latest_ms = run_ms
        if self._next_warms_up:
            self._warmups += 1
            self._next_warms_up = self._has_to_warm_up()
        else:
            self._samples_ms.append(run_ms)
            self._spent_ms += run_ms
            if self._plan.noise is not None and len(self._samples_ms) > 1:
                is_quiet = relative_spread(self._samples_ms) <= self._plan.noise
                self._settled = self._settled + 1 if is_quiet else 0

    def wants_more(self) -> bool:
        """True while the plan is not met."""
        return not self._why_no_more()

    def is_news(self) -> bool:
        """True now and then, for a view in which the figure settles."""
        if self._clock() - self._last_news < NEWS_EVERY_S:
            return False
        self._last_news = self._clock()
        return True

    def timing(self) -> Timing:
        ended = self._why_no_more()
        if not self._samples_ms:
            # The latest warm-up, until there is a sample; where there will be none, it is one.
            return Timing((self._latest_ms,), self._cache, ended, self._warmups - 1)
        return Timing(tuple(self._samples_ms), self._cache, ended, self._warmups)

    def _has_to_warm_up(self) -> bool:
        now = self._clock()
        self._warm_s += abs(now - self._warm_at)  # or a clock set back would warm up for ever
        self._warm_at = now
        if self._latest_ms > self._limit_ms:
            return False
        return self._warmups < self._plan.warmups or self._warm_s < self._plan.warmup_seconds

    def _why_no_more(self) -> Ended:
        count = len(self._samples_ms)
        if self._plan.max_samples == 0:
            return "single"
        if count == 0:
            again_ms = max(self._limit_ms, self._plan.again_seconds * 1e3)
            return "single" if self._latest_ms > again_ms else ""
        if count == 1 and self._latest_ms > self._limit_ms:
            return "single"
        if count >= self._plan.max_samples:
            return "samples"
        if count < self._plan.min_samples:
            return ""
        if self._settled >= SETTLED_FOR:
            return "stable"
        return "time" if self._spent_ms + self._latest_ms > self._limit_ms else ""


def taking_samples(
    run_ms: Callable[[], float],
    plan: Sampling,
    cache: Cache | None = None,
    doing: str = "timing",
    turns: Turns | None = None,
) -> Generator[Progress, None, Timing]:
    """Run the job until the plan is met, then return its timing.

    It may be paused at each Progress.

    run_ms  runs it once, and says how many milliseconds that took
    turns   on the device that it runs on, of which each run has one; None: on the CPU
    """
    turns = turns or Turns([])
    sampler = Sampler((yield from turns.doing(run_ms)), plan, cache)
    while sampler.wants_more():
        yield Progress(doing)
        sampler.add((yield from turns.doing(run_ms)))
    return sampler.timing()


def take_samples(run_ms: Callable[[], float], plan: Sampling, cache: Cache | None = None) -> Timing:
    """Run the job until the plan is met in one go; see `taking_samples`."""
    return outcome_of(taking_samples(run_ms, plan, cache))
