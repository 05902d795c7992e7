"""Samples of a duration in milliseconds, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Literal

import numpy as np

from kernels.core.statistics import ENOUGH_SAMPLES, median_interval

Cache = Literal["cold", "warm"]
# Why no more samples were taken, see `Timing`.
Ended = Literal["stable", "samples", "time", "single", ""]


@dataclass(frozen=True, slots=True)
class Timing:
    """All samples in milliseconds, in the order they were taken, without warm-ups.

    cache    the GPU's L2 before each sample; None on the CPU
    ended    why there are no more: "stable", their spread had settled below what was asked for;
             "samples", there were as many as asked for; "time", the time for them was over;
             "single", there is only one, which took longer than there was time for, or was made of
             strips; "", they are still being taken, or it is not known
    warmups  how many runs went before, and do not count
    rounds   how many samples were taken in each of several rounds, in their order, where others
             were timed between them; empty: all in one go
    """

    samples_ms: tuple[float, ...]
    cache: Cache | None = None
    ended: Ended = ""
    warmups: int = 0
    rounds: tuple[int, ...] = ()

    @property
    def is_single(self) -> bool:
        """Return whether there is but one sample, whose spread is unknown."""
        return len(self.samples_ms) == 1

    @property
    def median_ms(self) -> float:
        """Return the median of the samples."""
        return median(self.samples_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        """Return the lower and the upper quartile."""
        low, high = np.percentile(self.samples_ms, (25, 75))
        return float(low), float(high)

    @property
    def min_ms(self) -> float:
        """Return the shortest sample."""
        return min(self.samples_ms)

    @property
    def max_ms(self) -> float:
        """Return the longest sample."""
        return max(self.samples_ms)

    @property
    def independent_ms(self) -> tuple[float, ...]:
        """Return the samples that tell how sure the median is.

        Of several rounds their medians, since samples of one round share whatever the
        computer did then; else the samples.
        """
        if len(self.rounds) < 2:
            return self.samples_ms
        ends = list(accumulate(self.rounds))
        return tuple(
            median(self.samples_ms[end - count : end])
            for end, count in zip(ends, self.rounds, strict=True)
        )

    @property
    def interval_ms(self) -> tuple[float, float] | None:
        """Return the interval that the median lies in, at `statistics.CONFIDENCE`.

        None of fewer than ENOUGH_SAMPLES independent values: no interval between so few covers the
        median that often; all five of them together do with 93.75 %.
        """
        if len(self.independent_ms) < ENOUGH_SAMPLES:
            return None
        low, high = median_interval(self.independent_ms)
        return min(low, self.median_ms), max(high, self.median_ms)
