"""Count which values a picture has: a histogram and its numbers, per channel."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 256
PERCENTILES = (1.0, 50.0, 99.0)
NAMES = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_ROWS = 256


@dataclass(frozen=True, slots=True)
class Numbers:
    """The statistics of one channel of one picture; NaN and infinities left out, and counted.

    percentiles  the values below which 1, 50 and 99 % of the samples lie
    """

    low: float
    high: float
    mean: float
    percentiles: tuple[float, ...]
    not_finite: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The histogram of one channel of one picture.

    edges   (n + 1,) the bins' ends, the same for all pictures that are compared
    counts  (n,) with n at most BINS
    """

    channel: str
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    numbers: Numbers


def counting(
    pictures: tuple[NDArray[Any], ...],
) -> Iterator[tuple[tuple[Histogram, ...], ...] | None]:
    """Count each picture, (H, W, C) alike in shape, channel by channel; None on the way.

    The bins span what all of them hold; 8 bits have a bin for each value, and whole numbers as
    many values in each bin, or a comb of the bins' own would be seen.
    """
    spans = []
    for picture in pictures:
        spans.append(_span(picture))
        yield None
    lows, highs = zip(*spans, strict=True)
    edges = _edges({str(picture.dtype) for picture in pictures}, min(lows), max(highs))
    found = []
    for picture in pictures:
        channels = []
        for index, name in enumerate(NAMES[picture.shape[2]]):
            channels.append((yield from _counting(picture[..., index], name, edges)))
        found.append(tuple(channels))
    yield tuple(found)


def _edges(pixel_types: set[str], low: float, high: float) -> NDArray[np.float64]:
    """Return the edges of at most BINS bins from `low` to `high`."""
    if pixel_types == {"uint8"}:
        low, high = 0.0, 255.0
    if pixel_types & {"uint8", "uint16"}:
        first = math.floor(low)
        width = -(-(math.ceil(high) - first + 1) // BINS)
        count = -(-(math.ceil(high) - first + 1) // width)
        return first - 0.5 + width * np.arange(count + 1, dtype=np.float64)
    if high <= low:
        high = low + max(1.0, abs(low) * 1e-6)
    return np.linspace(low, high, BINS + 1)


def _span(picture: NDArray[Any]) -> tuple[float, float]:
    low, high = float(picture.min()), float(picture.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = picture[np.isfinite(picture)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return low, high


def _counting(
    samples: NDArray[Any], name: str, edges: NDArray[np.float64]
) -> Generator[None, None, Histogram]:
    """Count one channel; yields on the way."""
    if samples.dtype.kind == "u":
        values = np.zeros(np.iinfo(samples.dtype).max + 1, np.int64)
        for top in range(0, samples.shape[0], _ROWS):
            values += np.bincount(samples[top : top + _ROWS].ravel(), minlength=values.size)
            yield None
        counts = np.histogram(np.arange(values.size), edges, weights=values)[0].astype(np.int64)
        return Histogram(name, edges, counts, _of_counts(values))
    flat = samples.astype(np.float32).ravel()
    finite = flat[np.isfinite(flat)]
    yield None
    counts = np.zeros(edges.size - 1, np.int64)
    step = _ROWS * samples.shape[1]
    for start in range(0, finite.size, step):
        counts += np.histogram(finite[start : start + step], edges)[0]
        yield None
    return Histogram(name, edges, counts, _of_values(finite, flat.size - finite.size))


def _of_counts(counts: NDArray[np.int64]) -> Numbers:
    """Return the statistics of whole numbers, by how many there are of each."""
    there = np.flatnonzero(counts)
    total = int(counts.sum())
    mean = float((np.arange(counts.size) * counts).sum() / total)
    reached = np.cumsum(counts)
    ranks = [np.ceil(share / 100 * total) for share in PERCENTILES]
    percentiles = tuple(float(np.searchsorted(reached, rank)) for rank in ranks)
    return Numbers(float(there[0]), float(there[-1]), mean, percentiles)


def _of_values(values: NDArray[np.float32], not_finite: int) -> Numbers:
    if values.size == 0:
        nothing = float("nan")
        return Numbers(nothing, nothing, nothing, (nothing,) * len(PERCENTILES), not_finite)
    percentiles = np.percentile(values, PERCENTILES, method="inverted_cdf")
    return Numbers(
        float(values.min()),
        float(values.max()),
        float(values.mean(dtype=np.float64)),
        tuple(map(float, percentiles)),
        not_finite,
    )
