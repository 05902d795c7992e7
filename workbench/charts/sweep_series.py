"""From a sweep's points to what a chart shows: who stands where, how high, with what spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kernels.sweep import Measurement, SweepPoint, Value
from workbench import numbers
from workbench.intents import implementation


class Dot(NamedTuple):
    """A verified point; low and high are its quartiles, in the unit of the chart's axis.

    value  None where all values have the same, and there is no other value yet
    """

    value: Value | None
    middle: float
    low: float
    high: float
    text: str


Series = dict[str, list[Dot]]  # by implementation, in the order of the values


def values(points: Iterable[SweepPoint]) -> list[Value | None]:
    """The values met so far, in the order of measuring; [None] if all there is holds for any."""
    met = list(dict.fromkeys(point.value for point in points))
    return [value for value in met if value is not None] or met


def position(points: Sequence[SweepPoint], value: Value | None) -> float:
    """Where `value` stands along x: sizes by log₂, so that a power law is a straight line."""
    return math.log2(value) if isinstance(value, int) else float(values(points).index(value))


def times(points: Sequence[SweepPoint]) -> Series:
    """Kernel times in ms."""

    def dot(point: SweepPoint, measured: Measurement, value: Value | None) -> Dot:
        low, high = measured.kernel.quartiles_ms
        rate = numbers.pixel_rate(measured.megapixels_per_s)
        text = f"{_time(point, measured)}\nquartiles {numbers.duration_range(low, high)}\n{rate}"
        return Dot(value, measured.kernel.median_ms, low, high, text)

    return _series(points, dot)


def speedups(points: Sequence[SweepPoint], baseline: str | None) -> Series:
    """How many times quicker than the implementation `baseline`, where that was measured too."""
    if baseline is None:
        return {}

    def dot(point: SweepPoint, measured: Measurement, value: Value | None) -> Dot | None:
        against = _measured(points, baseline, value)
        if against is None:
            return None
        ms, (low, high) = against.kernel.median_ms, measured.kernel.quartiles_ms
        factor = ms / measured.kernel.median_ms
        text = f"{_time(point, measured)}\n{numbers.ratio(factor)} {name(points, baseline)}"
        return Dot(value, factor, ms / high, ms / low, text)

    return _series(points, dot)


def name(points: Sequence[SweepPoint], key: str) -> str:
    """What a CPU baseline is called beside a speed-up: OpenCV (2 threads)."""
    found = (p.verified for p in points if p.implementation.key == key and p.verified)
    threads = max((ran.threads or 1 for each in found for ran in each.ran), default=1)
    return f"{implementation(key).title} ({threads} thread{'s' if threads > 1 else ''})"


def _series(
    points: Sequence[SweepPoint],
    dot: Callable[[SweepPoint, Measurement, Value | None], Dot | None],
) -> Series:
    series: Series = {}
    order = values(points)
    for point in points:
        for value in order if point.value is None else [point.value]:
            made = dot(point, point.verified, value) if point.verified else None
            if made:
                series.setdefault(point.implementation.key, []).append(made)
    for dots in series.values():
        dots.sort(key=lambda each: order.index(each.value))
    return series


def _measured(points: Iterable[SweepPoint], key: str, value: Value | None) -> Measurement | None:
    here = (p for p in points if p.implementation.key == key and p.value in (None, value))
    return next((p.verified for p in here if p.verified), None)


def _time(point: SweepPoint, measured: Measurement) -> str:
    return f"{point.name}: {numbers.duration(measured.kernel.median_ms)}"
