"""When to repeat a job, and when to say so: the same rule for CPU and GPU."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

from kernels.job import Sampling
from kernels.timing import Timing

NEWS_EVERY_S = 0.1


class Sampler:
    """Collects samples until the plan is met.

    The first run warms up: it is shown until there is a better sample, and counts as one only
    where it alone takes all the time there is.
    """

    def __init__(
        self, first_ms: float, plan: Sampling, cache: Literal["cold", "warm"] | None = None
    ) -> None:
        self._plan = plan
        self._cache = cache
        self._first_ms = first_ms
        self._samples_ms: list[float] = []
        self._last_news = perf_counter()

    def add(self, sample_ms: float) -> None:
        """One more."""
        self._samples_ms.append(sample_ms)

    def wants_more(self) -> bool:
        """False once there are max_samples, or another one would pass max_seconds."""
        latest_ms = self._samples_ms[-1] if self._samples_ms else self._first_ms
        next_ms = sum(self._samples_ms) + latest_ms
        return (
            len(self._samples_ms) < self._plan.max_samples
            and next_ms <= self._plan.max_seconds * 1e3
        )

    def is_news(self) -> bool:
        """True now and then, so that who looks on sees the figure settle."""
        if perf_counter() - self._last_news < NEWS_EVERY_S:
            return False
        self._last_news = perf_counter()
        return True

    def timing(self) -> Timing:
        """What there is so far."""
        return Timing(tuple(self._samples_ms or [self._first_ms]), self._cache)
