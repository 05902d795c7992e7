"""What samples of a duration say: their spread, how sure their median is, and who is quicker."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.timing import Timing

CONFIDENCE = 0.95
RESAMPLES = 1000
SEED = 20  # the same samples always give the same interval
SAME_WITHIN = 0.01  # two medians nearer than this are the same: clocks wander by as much

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


def relative_spread(samples_ms: Sequence[float]) -> float:
    """Quartile range over median: what nvbench calls noise, but unmoved by outliers."""
    low, median, high = np.percentile(samples_ms, (25, 50, 75))
    return float((high - low) / median) if median > 0 else 0.0


def median_interval(samples_ms: Sequence[float]) -> tuple[float, float]:
    """The interval that holds the median at CONFIDENCE, by the percentile bootstrap (Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13); one sample gives no width."""
    medians = _resampled_medians(tuple(samples_ms))
    edge = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(medians, (edge, 100 - edge))
    return float(low), float(high)


def compare(a: Timing, b: Timing) -> Comparison:
    """Whether `a` is faster than `b`: only where the whole interval of the ratio says so, by more
    than SAME_WITHIN."""
    raise NotImplementedError


def groups_of_equals(timings: Mapping[K, Timing]) -> list[tuple[K, ...]]:
    """Fastest first; those in one tuple are the same within noise as the first of them."""
    raise NotImplementedError


@lru_cache(maxsize=4096)
def _resampled_medians(samples: tuple[float, ...]) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    drawn = rng.choice(np.asarray(samples), (RESAMPLES, len(samples)))
    medians: NDArray[np.float64] = np.median(drawn, axis=1)
    return medians
