"""The words of every chart: what is fixed, missing or fastest, computed from its points."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kernels import filters
from kernels.core.errors import KernelError
from kernels.core.timing import groups_of_equals, how_equal
from kernels.sweeps.plan import Cell
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.charts.data import chart_dimensions
from workbench.charts.data.legend_entries import series_name
from workbench.charts.data.points import Point, Slice, Source, is_left_out
from workbench.model.names import implementation_title

MAX_PLACES = 3
MAX_NOTES = 6
HIDDEN = "Hidden:"


def subtitle(shown: Slice) -> str:
    """Say what is held fixed, and below it the machines: a time means nothing without them."""
    cells = [p.cell for p in shown.points if p.source.standing != "published"]
    cells = cells or [p.cell for p in shown.points]
    own = dict.fromkeys(p.source for p in shown.points if p.source.standing != "published")
    machines = "; ".join(dict.fromkeys(_machine(s, shown.data.letter(s)) for s in own))
    return "\n".join(filter(None, (held_fixed(cells, shown.own), machines)))


def whose(shown: Slice) -> str:
    """List the letters of several sessions: "A: NVIDIA H200; B: Xeon"; "" for one."""
    sources = dict.fromkeys(p.source for p in shown.points)
    letters = ((shown.data.letter(source), source.name) for source in sources)
    return "; ".join(f"{letter}: {name}" for letter, name in sorted(letters) if letter)


def is_recorded(shown: Slice) -> bool:
    """Tell whether all that is shown came with the program, published numbers aside."""
    own = {p.source.standing for p in shown.points} - {"published"}
    return own == {"recorded"}


def grey(shown: Slice) -> str:
    """Return whose the grey numbers are: "Grey: published, GTX 1080"; "" without any."""
    names = [p.source.gpu for p in shown.points if p.source.standing == "published"]
    short = dict.fromkeys(name.partition(",")[0].partition(" (")[0] for name in names)
    return f"Grey: published, {list_of(list(short))}" if short else ""


def _machine(source: Source, letter: str) -> str:
    """Return "A: NVIDIA H200 + Xeon, 16 cores, recorded"; without a letter all but it."""
    name = " + ".join(filter(None, (source.gpu, source.cpu)))
    said = ", ".join(filter(None, (name, source.origin, source.which if letter else "")))
    return f"{letter}: {said}" if letter else said


def held_fixed(cells: Sequence[Cell], own: Iterable[str]) -> str:
    """Say what all cells share: "Gaussian blur 5×5, border clamp, 1 channel float32, cold L2"."""
    same = {
        name: values[0]
        for name in chart_dimensions.NAMES
        if name not in own and len(values := _values(cells, name)) == 1
    }

    def said(name: str) -> str:
        return chart_dimensions.in_words(name, same[name]) if name in same else ""

    channels = " ".join(filter(None, (said("channels"), said("pixel_types"))))
    parts = (
        " ".join(filter(None, (said("filters"), said("ksizes")))),
        _parameters(cells),
        said("sizes"),
        said("pictures"),
        channels,
        said("counts") if same.get("counts", 1) != 1 else "",
        f"border {same['borders']}" if "borders" in same else "",
        f"blocks {said('blocks')}" if "blocks" in same else "",
        said("caches"),
        said("devices") if same.get("devices", 1) not in (None, 1) else "",
    )
    return ", ".join(part for part in parts if part)


def notes(shown: Slice) -> tuple[str, ...]:
    """Say what is not in a chart, and where grey numbers come from.

    In this order: wrong answers, refusals, what the choices leave out, publications.
    """
    wrong = [p for p in shown.points if p.is_wrong]
    refused = [p for p in shown.points if p.objection and not p.is_wrong]
    told = [f"✗ {each}" for each in _grouped(wrong, shown)] + _grouped(refused, shown)
    left = len(told) - MAX_NOTES
    if left > 0:
        told[MAX_NOTES:] = [f"{left} more reason{'s' if left > 1 else ''} of this kind."]
    return (*told, *_not_in_sight(shown), *_published_notes(shown))


def _not_in_sight(shown: Slice) -> list[str]:
    """Say how many measurements are hidden by choosing one value of a dimension."""
    own = [point for point in shown.data.points if point.source.standing != "published"]
    left: set[int] = set()
    choices = []
    for option in shown.options:
        if others := [id(point) for point in own if is_left_out(point, option)]:
            left.update(others)
            choices.append(dict(option.values)[option.chosen])
    count = f"{len(left):,} of {len(own):,} measurements"
    return [f"{HIDDEN} {count} (only {list_of(choices)} shown)."] if left else []


def hidden_points(points: Sequence[Point], why: str) -> tuple[str, ...]:
    """Say how many measurements have no place in a chart, whose they are, and why."""
    if not points:
        return ()
    names = dict.fromkeys(implementation_title(point.cell.implementation) for point in points)
    count = f"{len(points):,} measurement{'s' if len(points) > 1 else ''}"
    return (f"{HIDDEN} {count} of {list_of([*names])} ({why}).",)


def list_of(names: Sequence[str]) -> str:
    """Return names as a list in words: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def time_of(point: Point) -> str:
    """Return the median of a point that has a time, with a star where something disturbed it."""
    assert point.ms is not None
    mark = star(point.measurement.disturbances if point.measurement else ())
    return f"{numbers.duration(point.ms.middle)}{mark}"


def details(point: Point, name: str) -> str:
    """Return the lines shown for a point under the pointer."""
    cell, found = point.cell, point.measurement
    what = chart_dimensions.where(cell, ("filters", "ksizes", "blocks"))
    what += f", {cell.devices_in_words}" if cell.devices_in_words else ""
    picture = chart_dimensions.where(cell, ("pictures", "channels", "pixel_types"))
    if point.source.standing == "published":
        assert point.ms is not None
        first = f"{implementation_title(cell.implementation)}: {numbers.duration(point.ms.middle)}"
        where = point.source.machine_of(cell.implementation)
        return f"{first}\n{where} (published)\n{cell.size_in_words}, {what}"
    lines = [name, f"{cell.size_in_words}, {what}", picture]
    if point.ms is None or found is None:
        return "\n".join(
            [*lines, f"✗ {point.objection}" if point.is_wrong else f"{point.objection}"]
        )
    rate = cell.megapixels / (point.ms.middle / 1e3)
    lines[0] = f"{name}: {time_of(point)}"
    samples = len(found.kernel.samples_ms)
    lines += [
        f"quartiles {numbers.duration_range(point.ms.low, point.ms.high, point.ms.middle)}, "
        f"{samples} sample{'s' if samples != 1 else ''}{_rounds(found.kernel.rounds)}",
        f"{numbers.pixel_rate(rate)}, {numbers.byte_rate(found.effective_gb_s)}",
    ]
    if found.occupancy:
        lines.append(f"occupancy {numbers.percent(found.occupancy.share)}: {found.occupancy.limit}")
    if found.end_to_end_ms:
        lines.append(f"with transfers {numbers.duration(found.end_to_end_ms)}")
    if found.disturbances:
        lines.append(why_starred(found.disturbances))
    return "\n".join([*lines, str(found.check)])


def _rounds(rounds: Sequence[int]) -> str:
    return f" in {len(rounds)} rounds" if len(rounds) > 1 else ""


def _published_notes(shown: Slice) -> list[str]:
    """Name each publication once, with its tables and GPUs."""
    tables: dict[tuple[str, str], list[str]] = {}
    for source in dict.fromkeys(p.source for p in shown.points if p.source.standing == "published"):
        place = f"table {source.table} ({source.gpu.partition(',')[0]})"
        tables.setdefault((source.publication, source.note), []).append(place)
    return [
        f"Grey, as published: {publication}, {list_of(places)}. {note}"
        for (publication, note), places in tables.items()
    ]


def _values(cells: Iterable[Cell], name: str) -> list[object]:
    met = dict.fromkeys(chart_dimensions.of(cell, name) for cell in cells)
    return [value for value in met if value is not None]


def _parameters(cells: Sequence[Cell]) -> str:
    sigmas = {cell.sigma for cell in cells}
    amounts = {cell.amount for cell in cells if _takes(cell.filter, "amount")}
    sigma = f"σ {sigmas.pop():g}" if len(sigmas) == 1 and None not in sigmas else ""
    amount = f"amount {amounts.pop():g}" if len(amounts) == 1 else ""
    return ", ".join(filter(None, (sigma, amount)))


def _takes(key: str, parameter: str) -> bool:
    try:
        return any(each.name == parameter for each in filters.get(key).parameters)
    except KernelError:
        return False


def _grouped(points: Iterable[Point], shown: Slice) -> list[str]:
    """Return a sentence for each reason; those that differ in their figures alone are one."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(re.sub(r"[\d.,²×]+", "#", point.objection or ""), []).append(point)
    return [_reason(group, shown) for group in groups.values()]


def _reason(group: Sequence[Point], shown: Slice) -> str:
    who = list_of(
        list(dict.fromkeys(implementation_title(point.cell.implementation) for point in group))
    )
    if len(shown.data.own_sources) > 1:
        who += f" on {list_of(list(dict.fromkeys(point.source.name for point in group)))}"
    names = [name for name in shown.own if name not in ("implementations", "caches", "machines")]
    places = list(dict.fromkeys(chart_dimensions.where(point.cell, names) for point in group))
    there = list(filter(None, places))
    more = len(there) - MAX_PLACES
    if len(there) == len({chart_dimensions.where(p.cell, names) for p in shown.points}):
        there, more = [], 0
    if more > 0:
        there[MAX_PLACES:] = [f"{more} more"]
    at = f" at {list_of(there)}" if there else ""
    reason = group[0].objection or ""
    if len({point.objection for point in group}) > 1:
        reason = f"{reason.removesuffix('.')} (the figures differ)."
    return f"{who}{at}: {reason}"


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
        """Tell whether all values can be compared."""
        return len(self.rows) == self.total

    @property
    def in_words(self) -> str:
        """Return such as "kernel sizes measured so far by all"."""
        so_far = " so far" if self.is_so_far else ""
        return f"{_word(self.name, len(self.rows))} measured{so_far} by all"


def by_source(shown: Slice, say: Callable[[Slice], str]) -> str:
    """Join what `say` returns of the visible points of each machine.

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
    winners = [
        (tuple(sorted(series_name(point, shown.data) for point in points)), value)
        for value, points in best.items()
    ]
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
    """Put a ratio of times into words: "takes 3.2× as long", "is 4 % slower"."""
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
