"""The spread of samples of a duration, and how sure their median is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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
    """Return quartile range over median: nvbench's "noise", but unmoved by outliers."""
    low, median, high = np.percentile(samples_ms, (25, 50, 75))
    return float((high - low) / median) if median > 0 else 0.0


def median_interval(samples_ms: Sequence[float]) -> tuple[float, float]:
    """Return the interval (low, high) that holds the median at CONFIDENCE.

    By the percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13); one sample gives no width.

    It takes samples to be independent: where they drift, the median is less sure than it says.
    """
    low, high = np.percentile(resampled_medians(tuple(samples_ms)), CONFIDENCE_EDGES)
    return float(low), float(high)


@lru_cache(maxsize=1024)
def resampled_medians(samples: tuple[float, ...], seed: int = SEEDS[0]) -> NDArray[np.float64]:
    """Return the medians of RESAMPLES draws of as many samples, with replacement.

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
