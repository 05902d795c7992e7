"""Speed-ups over a baseline: lines along a dimension, and a map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial

from kernels.core.timing import Comparison, Timing, compare, gives_speed_up
from kernels.sweeps.plan import Cell
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import by_source
from workbench.charts.data.figure import Axis, Figure, Guide, Option, Plot
from workbench.charts.data.legend_entries import series_name, with_threads
from workbench.charts.data.points import HOW, Data, Point, Slice, Spread
from workbench.charts.kinds import lines
from workbench.charts.kinds.chart_kind import ChartKind, is_log, made, why_not_several
from workbench.charts.kinds.maps import SIZES, sizes_grid, subject_of, why_not_both
from workbench.model.names import kind_of, place_of


class Against:
    """The speed-ups of some points over the chosen baseline, with their intervals.

    The level of an interval is `statistics.CONFIDENCE`; of too few samples it has no width.

    option  the possible baselines: all that was measured, CPU implementations first
    name    that of the baseline, with its threads
    pairs   each point with the measurement of the baseline on the same work
    found   the speed-ups, by the id of their points; none where either ran only once
    notes   a sentence for each source with points that ran only once
    """

    def __init__(self, shown: Slice, everything: Slice) -> None:
        """Compare the points of `shown` with the baseline's, found among `everything`."""
        option = _baseline_option(everything)
        self.option: tuple[Option, ...] = (option,) if option else ()
        self.name = dict(option.values)[option.chosen] if option else "nothing measured yet"
        key = option.chosen if option else ""
        self.pairs = list(_beside_baseline(shown.points, everything.points, key))
        self.found = {
            id(point): _ratio(point, theirs)
            for point, theirs in self.pairs
            if _gives_speed_up(point, theirs)
        }
        single = dict.fromkeys(p.source.name for p, _ in self.pairs if id(p) not in self.found)
        self.notes = tuple(
            f"{each}: what was timed in a single run has no speed-up." for each in single
        )

    @property
    def rated(self) -> list[tuple[Point, Spread]]:
        """Return the points that have a speed-up, with it."""
        return [(p, self.found[id(p)]) for p, _ in self.pairs if id(p) in self.found]

    def beside(self, point: Point) -> str:
        """Return "12.3× (11.9× to 12.6×) as fast as OpenCV", "2.4× slower (…) than OpenCV"."""
        ratio = self.found[id(point)]
        how = "than" if numbers.is_slower(ratio.middle) else "as fast as"
        return f"{numbers.speed_up_between(*ratio)} {how} {self.name}"


def _baseline_option(shown: Slice) -> Option | None:
    found: dict[str, Point] = {}
    for point in shown.measured or shown.points:
        if point.ms:
            found.setdefault(point.cell.implementation, point)
    order = sorted(found, key=lambda key: (kind_of(key) == "cuda", place_of(key)))
    if not order:
        return None
    chosen = shown.data.choices.baseline
    values = tuple((key, with_threads(found[key], shown.data)) for key in order)
    return Option("baseline", "Against", values, chosen if chosen in found else order[0])


def _beside_baseline(
    points: Iterable[Point], everything: Iterable[Point], baseline: str
) -> Iterator[tuple[Point, Point]]:
    """Yield each point whose machine ran the baseline on the same work, and that baseline."""
    against = {
        (point.source.key, _work(point.cell), point.cell.cache): point
        for point in sorted(everything, key=lambda point: -point.cell.devices)
        if point.ms and point.cell.implementation == baseline
    }
    for point in points:
        place = point.source.key, _work(point.cell)
        theirs = against.get((*place, point.cell.cache), against.get((*place, None)))
        if point.ms and theirs:
            yield point, theirs


def _work(cell: Cell) -> tuple[object, ...]:
    """Return the work of a cell: all dimensions except who does it and how."""
    return tuple(chart_dimensions.of(cell, n) for n in chart_dimensions.NAMES if n not in HOW)


def _gives_speed_up(point: Point, theirs: Point) -> bool:
    """Tell whether both ran often enough; published numbers do not say, and pass."""
    ours, others = point.measurement, theirs.measurement
    return ours is None or others is None or gives_speed_up(ours.kernel, others.kernel)


def _ratio(point: Point, theirs: Point) -> Spread:
    """Return the speed-up of `point` over `theirs`; published ones have no interval."""
    if point.measurement and theirs.measurement and point is not theirs:
        found = _compared(point.measurement.kernel, theirs.measurement.kernel)
        return Spread(found.ratio, *(found.interval or 2 * (found.ratio,)))
    assert point.ms is not None
    assert theirs.ms is not None
    return Spread(*[theirs.ms.middle / point.ms.middle] * 3)


@lru_cache(maxsize=1 << 14)
def _compared(a: Timing, b: Timing) -> Comparison:
    """Compare each pair once: charts are drawn again and again."""
    return compare(a, b)


def _why_not(data: Data, name: str) -> str | None:
    """Explain the lack of two values of `name`, or of two implementations."""
    return why_not_several(data, name) or why_not_several(data, "implementations")


def _why_no_map(data: Data) -> str | None:
    return why_not_both(data) or why_not_several(data, "implementations")


# -- lines


def _lines(data: Data, title: str, *, name: str) -> Figure:
    """Return speed-up against `name`; the baseline is named with its threads."""
    shown = lines.slice_along(data, name)
    against = Against(shown, shown)
    series = lines.series_of(
        *(shown, name), lambda point: against.found.get(id(point)), against.beside
    )
    x = lines.x_axis(shown, name)
    log = is_log(shown, [*lines.heights(series), 1.0])
    label = f"Speed-up: times as fast as {against.name}; the line: equally fast"
    y = Axis(label, numbers.ratio, log, ends=(1.0, 1.0))
    assert x.ends is not None
    even = Guide(((x.ends[0], 1.0), (x.ends[1], 1.0)), "")
    return made(
        shown,
        f"{title}, against {against.name}",
        Plot(x, y, series, (even,)),
        by_source(shown, lambda own: _say_best(own, against, name)),
        options=against.option,
        notes=(*_missing(shown, against), *against.notes),
    )


def _say_best(shown: Slice, against: Against, name: str) -> str:
    """Say the best speed-up, and the one at the other end of that line."""
    rated = [(p, against.found[id(p)].middle) for p in shown.points if id(p) in against.found]
    if len(rated) < 2:
        return ""
    best, most = max(rated, key=lambda pair: pair[1])
    if most < 1.05:
        return f"Nothing is faster than {against.name}."
    line = [pair for pair in rated if pair[0].key == best.key]
    line.sort(key=lambda pair: lines.place(chart_dimensions.of(pair[0].cell, name)))
    other, ratio = line[0] if line[-1][0] is best else line[-1]
    where, there = (chart_dimensions.where(point.cell, [name]) for point in (best, other))
    rest = "" if other is best else f"; at {there} {numbers.speed_up(ratio)}"
    who = series_name(best, shown.data)
    return f"At best {who} is {numbers.ratio(most)} as fast as {against.name}, at {where}{rest}."


def _missing(shown: Slice, against: Against) -> tuple[str, ...]:
    """Say which sources have no speed-up because their machine did not run the baseline."""
    having = {id(point) for point, _ in against.pairs}
    names = dict.fromkeys(p.source.name for p in shown.points if p.ms and id(p) not in having)
    return tuple(f"{each}: {against.name} was not measured on the same work." for each in names)


# -- a map


def _map(data: Data, title: str) -> Figure:
    everything = data.slice(*SIZES, "implementations")
    baseline = _baseline_option(everything)
    others = tuple(  # the baseline over itself is 1 everywhere
        point
        for point in everything.points
        if baseline is None or point.cell.implementation != baseline.chosen
    )
    shown = data.narrowed(replace(everything, points=others), "implementations")
    against = Against(shown, everything)

    def words(point: Point) -> tuple[str, ...]:
        found = against.found[id(point)]
        ends = map(numbers.ratio, numbers.speed_up_ends(*found))
        interval = (" to ".join(ends),) if found.low < found.high else ()
        return (numbers.speed_up(found.middle), *interval)

    def value(point: Point) -> float | None:
        found = against.found.get(id(point))
        return found.middle if found else None

    label = f"Speed-up: times as fast as {against.name}"
    body = sizes_grid(shown, value, words, label, numbers.ratio)
    who = subject_of(shown)
    heading = f"Speed-up of {who} over {against.name}" if who else title
    said = _say_ends(against)
    return made(shown, heading, body, said, options=against.option, notes=against.notes)


def _say_ends(against: Against) -> str:
    """Say where the speed-up is least and most, and how often the baseline wins."""
    found = sorted(against.rated, key=lambda pair: pair[1].middle)
    if len(found) < 2:
        return ""
    least, most = (
        f"{numbers.speed_up(ratio.middle)} at {chart_dimensions.where(point.cell, SIZES)}"
        for point, ratio in (found[0], found[-1])
    )
    slower = sum(ratio.middle < 1 for _, ratio in found)
    rest = f" In {slower} of {len(found)} cases {against.name} is faster." if slower else ""
    return f"From {least} to {most}.{rest}"


KINDS = (
    ChartKind(
        "speedup_by_size",
        "Speed-up by image size",
        "How many times as fast as a baseline, against image size",
        "Upwards: how many times as fast as the baseline, to the right larger pictures. The line "
        "at 1 is the baseline itself. Lines that rise and then stay level are the usual picture: "
        "small ones do not fill a GPU. Where one falls again, caches have become too small for the "
        "picture. Transfers are not in it.",
        30,
        partial(_why_not, name="sizes"),
        partial(_lines, name="sizes"),
    ),
    ChartKind(
        "speedup_by_kernel",
        "Speed-up by kernel size",
        "How many times as fast as a baseline, against kernel size",
        "Upwards: how many times as fast as the baseline, to the right larger kernels. The line at "
        "1 is the baseline itself; below it nothing is gained. A line that rises says that the "
        "baseline slows down more quickly with the size; look at the baseline's own time before "
        "being impressed. Transfers are not in it.",
        32,
        partial(_why_not, name="ksizes"),
        partial(_lines, name="ksizes"),
    ),
    ChartKind(
        "speedup_map",
        "Speed-up: image × kernel size",
        "How many times as fast as a baseline, over image size and kernel size",
        "A tile is how many times as fast as the baseline, or how many times slower, with pictures "
        "growing to the right and kernels downwards. Look for the corner where the baseline wins, "
        "which is usually the one of small pictures and small kernels. Transfers are not in it.",
        34,
        _why_no_map,
        _map,
    ),
)
