"""Quantities of points beside their times: pixels per second, and speed-ups over a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from kernels.core.timing import Comparison, Timing, compare, gives_speed_up
from workbench.base import numbers
from workbench.charts.data.figure import Option
from workbench.charts.data.legend_entries import with_threads
from workbench.charts.data.points import WHAT, Point, Slice, Spread, timed
from workbench.model.names import kind_of, place_of


def rate_of(point: Point) -> Spread | None:
    """A point's rate in megapixels per second; None without a time."""
    if point.ms is None:
        return None
    pixels = point.cell.megapixels * 1e3
    return Spread(pixels / point.ms.middle, pixels / point.ms.high, pixels / point.ms.low)


def baseline_option(shown: Slice) -> Option | None:
    """The possible baselines: all that was measured, CPU implementations first."""
    found: dict[str, Point] = {}
    for point in timed(shown.measured or shown.points):
        found.setdefault(point.cell.implementation, point)
    if not found:
        return None
    order = sorted(found, key=lambda key: (kind_of(key) == "cuda", place_of(key)))
    chosen = shown.data.choices.baseline
    values = tuple((key, with_threads(found[key], shown.data)) for key in order)
    return Option("baseline", "Against", values, chosen if chosen in found else order[0])


class Against:
    """The speed-ups of some points over the chosen baseline, with their intervals.

    The level of an interval is `statistics.CONFIDENCE`; of too few samples it has no width.

    option  the possible baselines
    name    that of the baseline, with its threads
    pairs   each point with the measurement of the baseline on the same work
    notes   a sentence for each source with points that ran only once
    """

    def __init__(self, shown: Slice, everything: Slice) -> None:
        """Compare the points of `shown` with the baseline's, found among `everything`."""
        option = baseline_option(everything)
        self.option: tuple[Option, ...] = (option,) if option else ()
        self.name = dict(option.values)[option.chosen] if option else "nothing measured yet"
        key = option.chosen if option else ""
        self.pairs = list(_beside_baseline(shown.points, everything.points, key))
        pairs = ((id(point), _ratio(point, theirs)) for point, theirs in self.pairs)
        self._found = {key: ratio for key, ratio in pairs if ratio}
        single = dict.fromkeys(p.source.name for p, _ in self.pairs if not self.of(p))
        self.notes = tuple(
            f"{each}: what was timed in a single run has no speed-up." for each in single
        )

    def of(self, point: Point) -> Spread | None:
        """The speed-up of a point; None without a baseline, or where either ran only once."""
        return self._found.get(id(point))

    def beside(self, point: Point) -> str:
        """Say "12.3× (11.9× to 12.6×) as fast as OpenCV", "2.4× slower (…) than OpenCV"."""
        ratio = self._found[id(point)]
        how = "than" if numbers.is_slower(ratio.middle) else "as fast as"
        return f"{numbers.speed_up_between(*ratio)} {how} {self.name}"


def _beside_baseline(
    points: Iterable[Point], everything: Iterable[Point], baseline: str
) -> Iterator[tuple[Point, Point]]:
    """Yield each point whose machine ran the baseline on the same work, and that baseline."""

    def work(point: Point) -> tuple[object, ...]:
        return point.source.key, *map(point.value, WHAT)

    theirs = [p for p in timed(everything) if p.cell.implementation == baseline]
    theirs.sort(key=lambda point: -point.cell.devices)
    against = {(*work(point), point.cell.cache): point for point in theirs}
    for point in timed(points):
        for cache in (point.cell.cache, None):
            if found := against.get((*work(point), cache)):
                yield point, found
                break


def _ratio(point: Point, theirs: Point) -> Spread | None:
    """The speed-up of `point` over `theirs`; None of a single run.

    Published ones have no interval, and pass: they do not say how often they ran.
    """
    ours, others = point.measurement, theirs.measurement
    if ours is None or others is None:
        return Spread(*[theirs.median_ms / point.median_ms] * 3)
    if not gives_speed_up(ours.kernel, others.kernel):
        return None
    if point is theirs:
        return Spread(1.0, 1.0, 1.0)
    found = _compared(ours.kernel, others.kernel)
    return Spread(found.ratio, *(found.interval or 2 * (found.ratio,)))


@lru_cache(maxsize=1 << 14)
def _compared(a: Timing, b: Timing) -> Comparison:
    """Compare each pair once: charts are drawn again and again."""
    return compare(a, b)
