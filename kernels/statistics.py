"""What samples of a duration say: their spread, how sure their median is, and who is quicker."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kernels.timing import Timing  # whose properties are made of the functions here

CONFIDENCE = 0.95
RESAMPLES = 1000
SEEDS = (20, 21)  # the same samples always give the same interval
SAME_WITHIN = 0.01  # two medians nearer than this are the same: clocks wander by as much
# Fewer samples than these hold the true median between them less often than CONFIDENCE asks for:
# n of them do with probability 1 - 2 (1/2)^n (David and Nagaraja, Order Statistics, 2003, 7.1).
ENOUGH_SAMPLES = 6
FEW_WITHIN = 0.10  # so much further than they reach may the median of too few lie
SHORTEST_MS = 1e-6  # what no clock resolves; stands for zero, so that there is a ratio

WITHIN_CLOCKS, WITHIN_NOISE = f"equal within {100 * SAME_WITHIN:g} %", "equal within noise"
# The verdict "same" of several, of which some are the one and some the other.
EQUAL = f"equal within {100 * SAME_WITHIN:g} % or noise"

_EDGES = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))  # percentiles

Verdict = Literal["faster", "slower", "same"]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How `a` stands to `b`.

    ratio          time of b over time of a: 2.0 means that a takes half as long
    low, high      the interval of that ratio, at CONFIDENCE
    """

    verdict: Verdict
    ratio: float
    low: float
    high: float

    @property
    def in_words(self) -> str:
        """ "faster", "slower", "equal within 1 %", "equal within noise"."""
        return how_equal(self.ratio) if self.verdict == "same" else self.verdict


def how_equal(ratio: float) -> str:
    """Return in words why medians in this ratio count as the same: they are as near as the rule
    asks for, or their noise is too large to tell.  Of several: the largest ratio among them."""
    apart = max(ratio, 1 / ratio)
    # As close as rounding may bring 1 + SAME_WITHIN to itself.
    return WITHIN_CLOCKS if apart <= 1 + SAME_WITHIN + 1e-9 else WITHIN_NOISE


def relative_spread(samples_ms: Sequence[float]) -> float:
    """Quartile range over median: what nvbench calls noise, but unmoved by outliers."""
    low, median, high = np.percentile(samples_ms, (25, 50, 75))
    return float((high - low) / median) if median > 0 else 0.0


def median_interval(samples_ms: Sequence[float]) -> tuple[float, float]:
    """The interval that holds the median at CONFIDENCE, by the percentile bootstrap (Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13); one sample gives no width.

    It takes samples to be independent: where they drift, the median is less sure than it says."""
    low, high = np.percentile(_resampled_medians(tuple(samples_ms)), _EDGES)
    return float(low), float(high)


def compare(a: Timing, b: Timing) -> Comparison:
    """Whether `a` is faster than `b`: only where the whole interval of the ratio says so, by more
    than SAME_WITHIN.

    The interval is that of the ratio of medians, both resampled: from the medians of their rounds,
    where they were measured in rounds, else from their samples (`Timing.independent_ms`).  Where
    one of them has fewer than ENOUGH_SAMPLES of these no resampling can tell how sure it is: its
    median is then taken to lie anywhere from FEW_WITHIN below the smallest to FEW_WITHIN above the
    largest, so that two single runs differ only where one takes over a fifth longer.
    """
    first, second = a.independent_ms, b.independent_ms
    if second < first:  # one order, so that a against b is b against a turned round
        low, high = _ratio_interval(second, first)
        low, high = 1 / high, 1 / low
    else:
        low, high = _ratio_interval(first, second)
        if first == second:
            low, high = min(low, 1 / high), max(high, 1 / low)
    ratio = max(b.median_ms, SHORTEST_MS) / max(a.median_ms, SHORTEST_MS)
    low, high = min(low, ratio), max(high, ratio)  # the ratio is of all samples
    verdict: Verdict = "same"
    if low > 1 + SAME_WITHIN:
        verdict = "faster"
    elif high < 1 / (1 + SAME_WITHIN):
        verdict = "slower"
    return Comparison(verdict, ratio, low, high)


def gives_speed_up(a: Timing, b: Timing) -> bool:
    """Return whether the ratio of two timings is a speed-up: not of a single run, of which nobody
    knows what disturbed it."""
    return not (a.is_single or b.is_single)


def groups_of_equals(timings: Mapping[K, Timing]) -> list[tuple[K, ...]]:
    """Fastest first; those in one tuple are the same as the first of them, by `compare`.

    What is noisy may be the same as the first while something steadier, and quicker, is not.
    """
    left = sorted(timings, key=lambda key: timings[key].median_ms)
    groups = []
    while left:
        best = timings[left[0]]
        group = [key for key in left if key == left[0] or _same(best, timings[key])]
        groups.append(tuple(group))
        left = [key for key in left if key not in group]
    return groups


def _same(a: Timing, b: Timing) -> bool:
    return compare(a, b).verdict == "same"


def _ratio_interval(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, float]:
    """Of the second's median over the first's."""
    if min(len(first), len(second)) < ENOUGH_SAMPLES:
        (low_1, high_1), (low_2, high_2) = map(_reach, (first, second))
        return low_2 / high_1, high_2 / low_1
    ratios = np.maximum(_resampled_medians(second, SEEDS[1]), SHORTEST_MS) / np.maximum(
        _resampled_medians(first, SEEDS[0]), SHORTEST_MS
    )
    low, high = np.percentile(ratios, _EDGES)
    return float(low), float(high)


def _reach(samples: tuple[float, ...]) -> tuple[float, float]:
    """Where a median may lie, whether of enough samples or of too few; never zero."""
    if len(samples) >= ENOUGH_SAMPLES:
        low, high = median_interval(samples)
    else:
        low, high = min(samples) * (1 - FEW_WITHIN), max(samples) * (1 + FEW_WITHIN)
    return max(low, SHORTEST_MS), max(high, SHORTEST_MS)


@lru_cache(maxsize=1024)
def _resampled_medians(samples: tuple[float, ...], seed: int = SEEDS[0]) -> NDArray[np.float64]:
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
