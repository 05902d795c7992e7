"""What the kinds of chart share: a figure with its words around a body, axes, speed-ups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from kernels.core.comparison import Comparison, compare, gives_speed_up
from kernels.core.timing import Timing
from kernels.sweeps.cell import Cell
from workbench.base import numbers
from workbench.charts.data import chart_dimensions, chart_words
from workbench.charts.data.figure import Axis, Bars, Entry, Figure, Grid, Option, Plot
from workbench.charts.data.legend_entries import entries_of, with_threads
from workbench.charts.data.points import Point, Spread
from workbench.charts.data.slices import Data, Slice
from workbench.model.names import KEYS, kind_of

LARGE_RANGE = 20.0  # from here on an axis is logarithmic unless somebody chose
SERIES = ("implementations", "caches", "machines")  # what tells the series of a chart apart


class SpeedUp(NamedTuple):
    """How many times as fast as the baseline a point is, and from where to where that lies at
    `statistics.CONFIDENCE`."""

    point: Point
    ratio: Spread

    @property
    def in_words(self) -> str:
        """12.3× (11.9× to 12.6×)."""
        return numbers.ratio_between(self.ratio.middle, self.ratio.low, self.ratio.high)


def made(
    shown: Slice,
    title: str,
    body: Plot | Bars | Grid,
    sentence: str,
    *,
    options: tuple[Option, ...] = (),
    notes: tuple[str, ...] = (),
) -> Figure:
    """A figure of what is shown, with all that stands around every chart."""
    return Figure(
        kind="",
        title=title,
        subtitle=chart_words.subtitle(shown),
        sentence=sentence,
        notes=(*notes, *chart_words.notes(shown)),
        body=body,
        entries=_legend(shown, body),
        options=(*options, *shown.options),
        has_published=shown.data.has_published,
    )


def _legend(shown: Slice, body: Plot | Bars | Grid) -> tuple[Entry, ...]:
    """Of what is drawn, and of what would be if nobody had hidden it."""
    able = drawable(shown)
    points = tuple(point for point in shown.points if point.key in able)
    entries = entries_of(replace(shown, points=points))
    match body:
        case Plot(series=series):
            drawn = {each.entry.key for each in series if each.dots}
        case Bars(groups=groups):
            drawn = {bar.entry.key for group in groups for bar in group.bars}
        case Grid():
            return ()
    return tuple(entry for entry in entries if entry.is_hidden or entry.key in drawn)


def why_not_several(data: Data, name: str) -> str | None:
    """A chart along a dimension needs two values of it."""
    values = data.values(name)
    if len(values) > 1:
        return None
    only = f", {chart_dimensions.in_words(name, values[0])}" if values else ""
    return f"Only one {chart_dimensions.label(name).lower()} is measured{only}."


def visible(shown: Slice) -> list[Point]:
    """Those that somebody did not hide, of series that have something to see."""
    able = drawable(shown)
    return [point for point in shown.in_sight if point.key in able]


def drawable(shown: Slice) -> set[str]:
    """The series of which something ran; of the others the notes say why nothing did."""
    return {point.key for point in shown.points if point.ms or point.is_wrong}


def is_log(shown: Slice, values: Iterable[float], *, always: bool = False) -> bool:
    """As chosen; else where the values ask for it."""
    if shown.data.choices.is_log is not None:
        return shown.data.choices.is_log
    found = [value for value in values if value > 0]
    return always or (bool(found) and max(found) / min(found) > LARGE_RANGE)


def times_axis(label: str, *, log: bool) -> Axis:
    return Axis(label, numbers.duration, log)


def baseline_option(shown: Slice) -> Option | None:
    """What speed-ups may be against: all that was measured, CPU implementations first."""
    found: dict[str, Point] = {}
    for point in shown.measured or shown.points:
        if point.ms:
            found.setdefault(point.cell.implementation, point)
    order = sorted(found, key=lambda key: (kind_of(key) == "cuda", _place(key)))
    if not order:
        return None
    chosen = shown.data.choices.baseline
    values = tuple((key, with_threads(found[key], shown.data)) for key in order)
    return Option("baseline", "Against", values, chosen if chosen in found else order[0])


def speed_ups(points: Iterable[Point], everything: Iterable[Point], baseline: str) -> list[SpeedUp]:
    """Return those of all points that have one; where either ran but once there is none."""
    pairs = beside_baseline(points, everything, baseline)
    return [
        SpeedUp(point, _ratio(point, theirs))
        for point, theirs in pairs
        if _gives_speed_up(point, theirs)
    ]


def single_notes(
    points: Iterable[Point], everything: Iterable[Point], baseline: str
) -> tuple[str, ...]:
    """Return a note for each source whose points have no speed-up because of a single run."""
    pairs = beside_baseline(points, everything, baseline)
    names = dict.fromkeys(
        point.source.name for point, theirs in pairs if not _gives_speed_up(point, theirs)
    )
    return tuple(f"{name}: what was timed in a single run has no speed-up." for name in names)


def beside_baseline(
    points: Iterable[Point], everything: Iterable[Point], baseline: str
) -> Iterator[tuple[Point, Point]]:
    """Yield each point whose machine ran the baseline on the same work, and that baseline."""
    against = {
        (point.source.key, work(point.cell), point.cell.cache): point
        for point in everything
        if point.ms and point.cell.implementation == baseline
    }
    for point in points:
        place = point.source.key, work(point.cell)
        theirs = against.get((*place, point.cell.cache), against.get((*place, None)))
        if point.ms and theirs:
            yield point, theirs


def _gives_speed_up(point: Point, theirs: Point) -> bool:
    """Of what was published nobody knows how often it ran."""
    ours, others = point.measurement, theirs.measurement
    return ours is None or others is None or gives_speed_up(ours.kernel, others.kernel)


def _ratio(point: Point, theirs: Point) -> Spread:
    """How often `point` runs while `theirs` runs once; what was published has no interval."""
    if point.measurement and theirs.measurement and point is not theirs:
        found = _compared(point.measurement.kernel, theirs.measurement.kernel)
        return Spread(found.ratio, found.low, found.high)
    assert point.ms is not None
    assert theirs.ms is not None
    return Spread(*[theirs.ms.middle / point.ms.middle] * 3)


@lru_cache(maxsize=1 << 14)
def _compared(a: Timing, b: Timing) -> Comparison:
    """Once a pair: charts are drawn again and again."""
    return compare(a, b)


def work(cell: Cell) -> tuple[object, ...]:
    """What is worked out, by whomever: all dimensions but who does it and how."""
    return tuple(
        chart_dimensions.of(cell, name)
        for name in chart_dimensions.NAMES
        if name not in ("implementations", "caches", "blocks")
    )


def _place(key: str) -> int:
    return KEYS.index(key) if key in KEYS else len(KEYS)


def why_not_one_implementation(data: Data) -> str | None:
    """A speed-up needs two implementations, one of which is the baseline."""
    return why_not_several(data, "implementations")
