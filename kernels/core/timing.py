"""Samples of a duration in milliseconds: their spread, and which of two is shorter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from statistics import median
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 1000
SEEDS = (20, 21)  # the same samples always give the same interval
# Fewer samples than these hold the true median between them less often than CONFIDENCE asks for:
# n of them do with probability 1 - 2 (1/2)^n (David and Nagaraja, Order Statistics, 2003, 7.1).
ENOUGH_SAMPLES = 6
CONFIDENCE_EDGES = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))  # percentiles


def relative_spread(samples_ms: Sequence[float]) -> float:
    """Quartile range over median: nvbench's "noise", but unmoved by outliers."""
    low, median, high = np.percentile(samples_ms, (25, 50, 75))
    return float((high - low) / median) if median > 0 else 0.0


def median_interval(samples_ms: Sequence[float]) -> tuple[float, float]:
    """The interval (low, high) that holds the median of independent samples at CONFIDENCE.

    By the percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13); one sample gives no width.
    """
    low, high = np.percentile(resampled_medians(tuple(samples_ms)), CONFIDENCE_EDGES)
    return float(low), float(high)


@lru_cache(maxsize=1024)
def resampled_medians(samples: tuple[float, ...], seed: int = SEEDS[0]) -> NDArray[np.float64]:
    """The medians of RESAMPLES draws of as many samples, with replacement.

    Not drawn one by one: the middle of n sorted draws from n samples is the sample number
    floor(n u), where u is the middle of n sorted uniform numbers, which is distributed as a beta
    (David and Nagaraja, chapter 2).  For an even n the next u lies above it by a beta's share of
    what is left.
    """
    rng, count = np.random.default_rng(seed), len(samples)
    ordered = np.sort(np.asarray(samples, np.float64))
    below = (count - 1) // 2  # samples under the middle one, or the lower of the two
    lower = rng.beta(below + 1, count - below, RESAMPLES)
    upper = lower
    if count % 2 == 0:
        upper = lower + (1 - lower) * rng.beta(1, count - below - 1, RESAMPLES)
    drawn = [ordered[np.minimum((count * u).astype(int), count - 1)] for u in (lower, upper)]
    medians: NDArray[np.float64] = (drawn[0] + drawn[1]) / 2
    medians.flags.writeable = False
    return medians


def added_up(times_ms: Iterable[float | None]) -> float | None:
    """The sum of those that are known; None where none is."""
    known = [each for each in times_ms if each is not None]
    return sum(known) if known else None


def in_a_row(timings: Sequence[Timing]) -> Timing:
    """The timing of what ran in turn: sample i is the sum of their samples i.

    timings  at least one; the shortest says why there are no more samples
    """
    shortest = min(timings, key=lambda each: len(each.samples_ms))
    samples_ms = tuple(map(sum, zip(*(each.samples_ms for each in timings), strict=False)))
    return replace(shortest, samples_ms=samples_ms)


Cache = Literal["cold", "warm"]
# Why no more samples were taken, see `Timing`.
Ended = Literal["stable", "samples", "time", "single", ""]


@dataclass(frozen=True, slots=True)
class Timing:
    """All samples in milliseconds, in the order they were taken, without warm-ups.

    ended    why there are no more: "stable", their spread had settled below the limit;
             "samples", there were as many as planned; "time", the time for them was over;
             "single", there is only one, which took longer than there was time for, or was made of
             strips; "", they are still being taken, or it is not known
    rounds   how many samples were taken in each of several rounds, in their order, where others
             were timed between them; empty: all in one go
    """

    samples_ms: tuple[float, ...]
    cache: Cache | None = None  # the GPU's L2 before each sample; None on the CPU
    ended: Ended = ""
    warmups: int = 0  # how many runs went before, and do not count
    rounds: tuple[int, ...] = ()

    @property
    def is_single(self) -> bool:
        """True if there is one sample only, whose spread is unknown."""
        return len(self.samples_ms) == 1

    @property
    def median_ms(self) -> float:
        return median(self.samples_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        low, high = np.percentile(self.samples_ms, (25, 75))
        return float(low), float(high)

    @property
    def independent_ms(self) -> tuple[float, ...]:
        """The samples, or the medians of rounds: samples of one round share its disturbances."""
        if len(self.rounds) < 2:
            return self.samples_ms
        ends = list(accumulate(self.rounds))
        return tuple(
            median(self.samples_ms[end - count : end])
            for end, count in zip(ends, self.rounds, strict=True)
        )

    @property
    def interval_ms(self) -> tuple[float, float] | None:
        """The interval that the median lies in, at CONFIDENCE.

        None of fewer than ENOUGH_SAMPLES independent values: no interval between so few covers the
        median that often; all five of them together do with 93.75 %.
        """
        if len(self.independent_ms) < ENOUGH_SAMPLES:
            return None
        low, high = median_interval(self.independent_ms)
        return min(low, self.median_ms), max(high, self.median_ms)


SAME_WITHIN = 0.01  # two medians nearer than this are the same: clocks wander by as much
FEW_WITHIN = 0.10  # so much further than they reach may the median of too few lie
MIN_MS = 1e-6  # what no clock resolves; stands for zero, so that there is a ratio
# The verdict "same" of several, of which some are the one and some the other.
EQUAL = f"equal within {100 * SAME_WITHIN:g} % or noise"
MAX_EQUAL = 1.25  # medians in a larger ratio are not called equal, however noisy they are
TOO_NOISY = "too noisy to tell"
NO_INTERVAL = "too few samples"  # stands where an interval would
Verdict = Literal["faster", "slower", "same"]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on two timings, `a` against `b`."""

    verdict: Verdict
    ratio: float  # time of b over time of a: 2.0 means that a takes half as long
    low: float  # bounds of it: its interval at CONFIDENCE, if has_interval
    high: float
    within: float = SAME_WITHIN  # how near to each other counts as the same: 0.01 is 1 %
    has_interval: bool = True

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the ratio at CONFIDENCE; None of too few samples."""
        return (self.low, self.high) if self.has_interval else None

    @property
    def turned(self) -> Comparison:
        """The same comparison, `b` against `a`."""
        turned: dict[Verdict, Verdict] = {"faster": "slower", "slower": "faster", "same": "same"}
        verdict, ratio = turned[self.verdict], 1 / self.ratio
        return replace(self, verdict=verdict, ratio=ratio, low=1 / self.high, high=1 / self.low)

    @property
    def in_words(self) -> str:
        """Format "faster", "slower", "equal within 1 %", "equal within noise" or TOO_NOISY."""
        if self.verdict != "same":
            return self.verdict
        is_near = max(self.ratio, 1 / self.ratio) <= MAX_EQUAL
        return how_equal(self.ratio, self.within) if is_near else TOO_NOISY


def how_equal(ratio: float, within: float = SAME_WITHIN) -> str:
    """The reason why medians in this ratio, the largest of several, count as the same."""
    is_near = max(ratio, 1 / ratio) <= 1 + within + 1e-9  # as rounding may change 1 + within
    return f"equal within {100 * within:g} %" if is_near else "equal within noise"


def compare(a: Timing, b: Timing, within: float = SAME_WITHIN) -> Comparison:
    """Compare `a` with `b`: faster only where the whole interval says so, by more than `within`.

    The interval is that of the ratio of medians, both resampled from `Timing.independent_ms`.  A
    median of fewer than ENOUGH_SAMPLES is taken to lie anywhere from FEW_WITHIN below the smallest
    to FEW_WITHIN above the largest; such bounds decide, and are nowhere shown as an interval.
    """
    first, second = a.independent_ms, b.independent_ms
    if second < first:  # one order, so that a against b is b against a turned round
        low, high = _ratio_interval(second, first)
        low, high = 1 / high, 1 / low
    else:
        low, high = _ratio_interval(first, second)
        if first == second:
            low, high = min(low, 1 / high), max(high, 1 / low)
    ratio = max(b.median_ms, MIN_MS) / max(a.median_ms, MIN_MS)
    low, high = min(low, ratio), max(high, ratio)  # the ratio is of all samples
    verdict: Verdict = "same"
    if low > 1 + within:
        verdict = "faster"
    elif high < 1 / (1 + within):
        verdict = "slower"
    is_enough = min(len(first), len(second)) >= ENOUGH_SAMPLES
    return Comparison(verdict, ratio, low, high, within, is_enough)


def gives_speed_up(a: Timing, b: Timing) -> bool:
    """False for single runs: their disturbances are unknown."""
    return not (a.is_single or b.is_single)


def groups_of_equals(timings: Mapping[K, Timing]) -> list[tuple[K, ...]]:
    """The keys, fastest first; those in one tuple are the same as its first, by `compare`."""
    left = sorted(timings, key=lambda key: timings[key].median_ms)
    groups = []
    while left:
        first, *others = left
        same = {k for k in others if compare(timings[first], timings[k]).verdict == "same"}
        groups.append((first, *(key for key in others if key in same)))
        left = [key for key in others if key not in same]
    return groups


def _ratio_interval(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, float]:
    """The interval of the second's median over the first's."""
    if min(len(first), len(second)) < ENOUGH_SAMPLES:
        reaches = []
        for samples in (first, second):
            reach = min(samples) * (1 - FEW_WITHIN), max(samples) * (1 + FEW_WITHIN)
            reach = median_interval(samples) if len(samples) >= ENOUGH_SAMPLES else reach
            reaches.append([max(each, MIN_MS) for each in reach])
        (low_1, high_1), (low_2, high_2) = reaches
        return low_2 / high_1, high_2 / low_1
    ratios = np.maximum(resampled_medians(second, SEEDS[1]), MIN_MS) / np.maximum(
        resampled_medians(first, SEEDS[0]), MIN_MS
    )
    low, high = np.percentile(ratios, CONFIDENCE_EDGES)
    return float(low), float(high)
