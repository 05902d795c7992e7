"""Sentences on what a chart shows, computed from its points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kernels.core.comparison import groups_of_equals, how_equal
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import list_of
from workbench.charts.data.legend_entries import series_name
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data, Slice

NEAR = 1.25  # whoever takes longer than so many times the best is not compared with it
MAX_EQUALS = 4
SHOWN_AS_PERCENT = 2.0
WORDS = {
    "sizes": ("size", "sizes"),
    "ksizes": ("kernel size", "kernel sizes"),
    "counts": ("number of pictures", "numbers of pictures"),
}

Row = dict[str, Point]  # by series


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the values asked for that a sentence can compare.

    name       the dimension
    rows       its values that were measured by everyone who can, in order
    total      how many values there are
    is_so_far  whether points are still missing
    """

    name: str
    rows: dict[Any, Row]
    total: int
    is_so_far: bool

    @property
    def is_everything(self) -> bool:
        """Return whether all values can be compared."""
        return len(self.rows) == self.total

    @property
    def in_words(self) -> str:
        """Return such as "kernel sizes measured so far by all"."""
        so_far = " so far" if self.is_so_far else ""
        return f"{_word(self.name, len(self.rows))} measured{so_far} by all"


def by_source(shown: Slice, say: Callable[[Slice], str]) -> str:
    """Return what `say` says about the visible points of each machine.

    Their letters stand before it if there are several: those of whom the same is true together.
    """
    sources = dict.fromkeys(point.source for point in shown.in_sight)
    own = [source for source in sources if source.standing != "published"]
    said: dict[str, list[str]] = {}
    for source in own:
        points = tuple(point for point in shown.in_sight if point.source == source)
        text = say(Slice(shown.data, points, shown.options, shown.own))
        if text:
            said.setdefault(text, []).append(shown.data.letter(source) or source.name)
    many = len(own) > 1
    return " ".join(f"{list_of(who)}: {text}" if many else text for text, who in said.items())


def scope_of(shown: Slice, name: str) -> Scope:
    """Return the values that can be compared; those refused at a value do not count there."""
    able = {point.key for point in shown.measured}
    rows: dict[Any, Row] = {}
    for point in shown.measured:
        rows.setdefault(chart_dimensions.of(point.cell, name), {})[point.key] = point
    refused: dict[Any, set[str]] = {}
    for point in shown.points:
        if point.objection:
            refused.setdefault(chart_dimensions.of(point.cell, name), set()).add(point.key)
    whole = {
        value: row for value, row in rows.items() if able - refused.get(value, set()) <= set(row)
    }
    order = [value for value in shown.data.values(name) if value in whole]
    wanted = {chart_dimensions.of(point.cell, name) for point in shown.points}
    total = len(shown.data.values(name)) if shown.data.is_so_far else len(wanted)
    return Scope(name, {v: whole[v] for v in order}, total, shown.data.is_so_far)


def fastest(shown: Slice, name: str) -> str:
    """Say which series are fastest where along a dimension; equal ones are named together."""
    scope = scope_of(shown, name)
    best = {value: best_of(row.values()) for value, row in scope.rows.items() if len(row) > 1}
    winners = [(_names_of(points, shown.data), value) for value, points in best.items()]
    if not winners:
        return ""
    if len({names for names, _ in winners}) == 1:
        each = "the one" if len(winners) == 1 else f"each of the {len(winners)}"
        where = f"every {_word(name)}" if scope.is_everything else f"{each} {scope.in_words}"
        if scope.total == 1:
            where = chart_dimensions.in_words(name, winners[0][1])
        return f"{_subject(winners[0][0], how_equal(_apart(best.values())))} fastest at {where}."
    stretches = []
    for names, group in groupby(winners, key=lambda pair: pair[0]):
        values = [value for _, value in group]
        said = [chart_dimensions.in_words(name, value) for value in values]
        where = f"at {said[0]}" if len(said) == 1 else f"from {said[0]} to {said[-1]}"
        how = how_equal(_apart(best[value] for value in values))
        equal = f" ({how})" if len(names) > 1 else ""
        stretches.append(f"{list_of(names)}{equal} {where}")
    among = "" if scope.is_everything else f" at the {len(winners)} {scope.in_words}"
    return f"Fastest{among}: {'; '.join(stretches)}."


def pays_off(shown: Slice, name: str) -> str:
    """Say from which value on the best GPU kernel beats the best CPU, with transfers if known."""
    kernel = _crossing(shown, name, lambda point: point.ms.middle if point.ms else None)
    if not any(p.measurement and p.measurement.transfers for p in shown.measured):
        return kernel and f"{kernel}, excluding transfers."
    whole = _crossing(shown, name, lambda p: p.measurement.end_to_end_ms if p.measurement else None)
    if whole and whole == kernel:
        return f"{whole}, with or without transfers."
    parts = (
        whole and f"{whole}, including transfers from and to ordinary memory.",
        kernel and f"{kernel}, excluding them.",
    )
    return " ".join(filter(None, parts))


def best_and_worst(group: Sequence[Point], name: str) -> str:
    """Say "32×8 and 64×4 are fastest and equal within 1 %; 8×1 takes 3.2× as long"."""
    return ends(group, lambda p: chart_dimensions.in_words(name, chart_dimensions.of(p.cell, name)))


def ends(group: Sequence[Point], called: Callable[[Point], str]) -> str:
    """Say which points are fastest and which is slowest, in the words of `called`."""
    times = {p: p.ms.middle for p in group if p.ms}
    if len(times) < 2:
        return ""
    best = best_of(list(times))
    worst = max(times, key=lambda point: times[point])
    if len(best) == len(times):
        all_of_them = "both" if len(best) == 2 else f"all {len(best)}"
        return f"{all_of_them} are {how_equal(apart(best))}"
    longer = how_long(times[worst] / min(times.values()))
    names = _shortened([called(p) for p in best])
    is_fastest = f"are fastest and {how_equal(apart(best))}" if len(best) > 1 else "is fastest"
    return f"{names} {is_fastest}; {called(worst)} {longer}"


def how_long(factor: float, than: str = "") -> str:
    """Return how much longer something takes: "takes 3.2× as long", "is 4 % slower"."""
    if factor < SHOWN_AS_PERCENT:
        percent = f"{(factor - 1) * 100:.2g}"
        return f"is {percent}{numbers.GAP}% slower{than and f' than {than}'}"
    return f"takes {numbers.ratio(factor)} as long{than and f' as {than}'}"


def best_of(group: Iterable[Point]) -> tuple[Point, ...]:
    """Return the fastest and those equal to it by `comparison.groups_of_equals`, fastest first."""
    points = [point for point in group if point.ms]
    if not points:
        return ()
    least = min(point.ms.middle for point in points if point.ms)
    near = {
        index: point.measurement.kernel
        for index, point in enumerate(points)
        if point.ms and point.measurement and point.ms.middle <= NEAR * least
    }
    return tuple(points[index] for index in groups_of_equals(near)[0]) if near else ()


def apart(points: Iterable[Point]) -> float:
    """Return the ratio of the slowest to the fastest time of these points; 1 for none."""
    times = [point.ms.middle for point in points if point.ms]
    return max(times) / min(times) if times else 1.0


def _apart(groups: Iterable[Iterable[Point]]) -> float:
    """Return the largest such ratio within any group."""
    return max(map(apart, groups))


def _names_of(points: Iterable[Point], data: Data) -> tuple[str, ...]:
    return tuple(sorted(series_name(point, data) for point in points))


def _subject(names: Sequence[str], how: str) -> str:
    return f"{_shortened(names)} {f'are {how} and' if len(names) > 1 else 'is'}"


def _shortened(names: Sequence[str]) -> str:
    more = len(names) - MAX_EQUALS
    return list_of([*names[:MAX_EQUALS], f"{more} more"] if more > 0 else names)


def _crossing(shown: Slice, name: str, gpu_ms: Callable[[Point], float | None]) -> str:
    scope = scope_of(shown, name)
    gpu, cpu = {}, {}
    for value, row in scope.rows.items():
        on_gpu = [ms for p in row.values() if p.on_gpu and (ms := gpu_ms(p)) is not None]
        on_cpu = [p.ms.middle for p in row.values() if not p.on_gpu and p.ms]
        if on_gpu and on_cpu:
            gpu[value], cpu[value] = min(on_gpu), min(on_cpu)
    both = list(gpu)
    behind = [index for index, value in enumerate(both) if gpu[value] >= cpu[value]]
    if not both:
        return ""
    if not behind:
        where = f"at every {_word(name)}" if scope.is_everything else "at all of them"
        return f"The GPU beats the CPU {where}" if len(both) > 1 else "The GPU beats the CPU"
    if behind[-1] == len(both) - 1:
        return f"The CPU is at least as fast as the GPU at the largest {_word(name)} measured"
    first = both[behind[-1] + 1]
    said = chart_dimensions.in_words(name, first)
    if name == "sizes":
        said += f" ({numbers.megapixels(first[0] * first[1] / 1e6)})"
    return f"The GPU pays off from {said} on"


def _word(name: str, count: int = 1) -> str:
    one, many = WORDS.get(name, (chart_dimensions.label(name).lower(), "values"))
    return one if count == 1 else many
