"""When to repeat a job, and when to say so: the same rule for CPU and GPU."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

from kernels.job import Sampling
from kernels.timing import WARM_UP_MS, Timing

NEWS_EVERY_S = 0.1


class Sampler:
    """Collects samples until the plan is met.

    The first run warms up.  It is shown until there is a better sample, and kept only where it
    took so long that warming up cannot matter.
    """

    def __init__(
        self, first_ms: float, plan: Sampling, cache: Literal["cold", "warm"] | None = None
    ) -> None:
        self._plan = plan
        self._cache = cache
        self._first_ms = first_ms
        self._samples_ms = [first_ms] if first_ms >= WARM_UP_MS else []
        self._spent_s = first_ms / 1e3
        self._last_news = perf_counter()

    def add(self, sample_ms: float) -> None:
        self._samples_ms.append(sample_ms)
        self._spent_s += sample_ms / 1e3

    def wants_more(self) -> bool:
        """False once there are max_samples, or another one would pass max_seconds."""
        next_s = self._first_ms / 1e3
        return (
            len(self._samples_ms) < self._plan.max_samples
            and self._spent_s + next_s <= self._plan.max_seconds
        )

    def is_news(self) -> bool:
        """True now and then, so that who looks on sees the figure settle."""
        if perf_counter() - self._last_news < NEWS_EVERY_S:
            return False
        self._last_news = perf_counter()
        return True

    def timing(self) -> Timing:
        return Timing(tuple(self._samples_ms or [self._first_ms]), self._cache)
