"""The words of every chart, computed from its points: the fixed, the missing, the fastest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from kernels.core.timing import groups_of_equals, how_equal
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.charts.data.points import Data, Point, Slice, series_label, series_name, timed
from workbench.model import cell_words
from workbench.model.names import implementation_title

MAX_PLACES, MAX_NOTES, MAX_EQUALS = 3, 6, 4
HIDDEN = "Hidden:"
NEAR = 1.25  # times the best: slower points are not compared with it
SHOWN_AS_PERCENT = 2.0
WORDS = {"sizes": "size", "ksizes": "kernel size", "counts": "number of pictures"}


# -- below the title


def subtitle(shown: Slice) -> str:
    """Name all that is held fixed, and the machines: a time means nothing without them."""
    own = [p for p in shown.points if not p.is_published]
    fixed = cell_words.held_fixed([p.cell for p in own or shown.points], shown.own)
    machines: list[str] = []  # "A: NVIDIA H200 + Xeon, 16 cores, recorded"
    for source in dict.fromkeys(p.source for p in own):
        letter, name = shown.data.letter(source), " + ".join(filter(None, (source.gpu, source.cpu)))
        said = ", ".join(filter(None, (name, source.origin, source.which if letter else "")))
        machines.append(f"{letter}: {said}" if letter else said)
    return "\n".join(filter(None, (fixed, "; ".join(dict.fromkeys(machines)))))


def list_of(names: Iterable[str]) -> str:
    """Join names in words: "a", "a and b", "a, b and c"."""
    *first, last = (*names,) or ("",)
    return " and ".join(filter(None, (", ".join(first), last)))


# -- notes


def notes(shown: Slice) -> tuple[str, ...]:
    """Name all that is not in a chart, and the source of grey numbers."""
    wrong = [p for p in shown.points if p.is_wrong]
    refused = [p for p in shown.points if p.objection and not p.is_wrong]
    told = [f"✗ {each}" for each in _grouped(wrong, shown)] + _grouped(refused, shown)
    if (left := len(told) - MAX_NOTES) > 0:
        told[MAX_NOTES:] = [f"Other reasons of this kind: {left}."]
    return (*told, *_not_in_sight(shown), *_published_notes(shown))


def _grouped(points: Iterable[Point], shown: Slice) -> list[str]:
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(re.sub(r"[\d.,²×]+", "#", point.objection or ""), []).append(point)
    return [_reason(group, shown) for group in groups.values()]


def _reason(group: Sequence[Point], shown: Slice) -> str:
    who = list_of(titles_of(group))
    if len(shown.data.own_sources) > 1:
        who += f" on {list_of(dict.fromkeys(point.source.name for point in group))}"
    names = [name for name in shown.own if name not in ("implementations", "caches", "machines")]
    there, every = (
        [*dict.fromkeys(cell_words.where(point.cell, names) for point in points)]
        for points in (group, shown.points)
    )
    if len(there) < len(every):
        who += f" at {_shortened(there, MAX_PLACES)}"
    reason = group[0].objection or ""
    if len({point.objection for point in group}) > 1:
        reason = f"{reason.removesuffix('.')} (the figures differ)."
    return f"{who}: {reason}"


def _not_in_sight(shown: Slice) -> list[str]:
    own = [point for point in shown.data.points if not point.is_published]
    left, choices = set[int](), list[str]()
    for option in shown.options:
        if others := [id(point) for point in own if point.is_left_out(option)]:
            left.update(others)
            choices.append(dict(option.values)[option.chosen])
    count = f"{len(left):,} of {len(own):,} measurements"
    return [f"{HIDDEN} {count} (only {list_of(choices)} shown)."] if left else []


def _published_notes(shown: Slice) -> list[str]:
    tables: dict[tuple[str, str], list[str]] = {}
    for source in dict.fromkeys(p.source for p in shown.points if p.is_published):
        place = f"table {source.table} ({source.gpu.partition(',')[0]})"
        tables.setdefault((source.publication, source.note), []).append(place)
    return [
        f"Grey, as published: {publication}, {list_of(places)}. {note}"
        for (publication, note), places in tables.items()
    ]


def hidden_points(points: Sequence[Point], why: str) -> tuple[str, ...]:
    """Name the implementations that have no place in a chart, and why."""
    return (f"{HIDDEN} {list_of(titles_of(points))} ({why}).",) if points else ()


def titles_of(points: Iterable[Point]) -> list[str]:
    """The titles of these points' implementations, each once."""
    return [*dict.fromkeys(implementation_title(point.cell.implementation) for point in points)]


# -- one point


def time_of(point: Point) -> str:
    """The median of a point that has a time, with a star where something disturbed it."""
    return f"{numbers.duration(point.median_ms)}{star_of(point)}"


def star_of(*points: Point) -> str:
    """A star where something disturbed one of their times."""
    found = (each.measurement for each in points if each.measurement)
    return star([why for each in found for why in each.disturbances])


def tip_of(point: Point, data: Data) -> str:
    """The lines shown for a point under the pointer; the first begins with its name."""
    cell, found = point.cell, point.measurement
    what = cell_words.where(cell, (*cell_words.WORK, "blocks"))
    what = ", ".join(filter(None, (cell.size_in_words, what, cell.devices_in_words)))
    if point.is_published:
        title, machine = point.published_name, point.source.name
        whose = machine if point.on_gpu else f"CPU beside {machine}"
        return f"{title}: {numbers.duration(point.median_ms)}\n{whose} (published)\n{what}"
    name = series_label(point, data)
    lines = [name, what, cell_words.where(cell, ("pictures", "channels", "pixel_types"))]
    if point.ms is None or found is None:
        return "\n".join([*lines, f"{'✗ ' if point.is_wrong else ''}{point.objection}"])
    lines[0] = f"{name}: {time_of(point)}"
    samples, rounds = len(found.kernel.samples_ms), len(found.kernel.rounds)
    lines += [
        f"quartiles {numbers.duration_range(point.ms.low, point.ms.high, point.ms.middle)}, "
        f"n = {samples}{f' in {rounds} rounds' if rounds > 1 else ''}",
        f"{numbers.pixel_rate(1e3 * cell.megapixels / point.ms.middle)}, "
        f"{numbers.byte_rate(found.effective_gb_s)}",
    ]
    if found.occupancy:
        lines.append(f"occupancy {numbers.percent(found.occupancy.share)}: {found.occupancy.limit}")
    if found.end_to_end_ms:
        lines.append(f"with transfers {numbers.duration(found.end_to_end_ms)}")
    if found.disturbances:
        lines.append(why_starred(found.disturbances))
    return "\n".join([*lines, str(found.check)])


# -- the sentence


def by_source(shown: Slice, say: Callable[[Slice], str]) -> str:
    """Join the sentences of `say` on the visible points of each machine, after their letters."""
    own = dict.fromkeys(point.source for point in shown.in_sight if not point.is_published)
    said: dict[str, list[str]] = {}
    for source in own:
        if text := say(shown.of(point for point in shown.in_sight if point.source == source)):
            said.setdefault(text, []).append(shown.data.letter(source) or source.name)
    many = len(own) > 1
    return " ".join(f"{list_of(who)}: {text}" if many else text for text, who in said.items())


def compared(shown: Slice, name: str) -> dict[Any, list[Point]]:
    """The points at each value that all series measured, in order; refused ones do not count."""
    able = {point.key for point in shown.measured}
    found: dict[Any, dict[str, Point]] = {}
    refused: dict[Any, set[str]] = {}
    for point in shown.points:
        if point.objection:
            refused.setdefault(point.value(name), set()).add(point.key)
        elif not point.is_published:
            found.setdefault(point.value(name), {})[point.key] = point
    return {
        value: [*found[value].values()]
        for value in shown.data.values(name)
        if value in found and able - refused.get(value, set()) <= {*found[value]}
    }


def fastest(shown: Slice, name: str) -> str:
    """Say which series are fastest where along a dimension; equal ones are named together."""
    rows = {value: row for value, row in compared(shown, name).items() if len(row) > 1}
    best = {value: best_of(row) for value, row in rows.items()}
    who = {v: sorted(series_name(p, shown.data) for p in points) for v, points in best.items()}
    said = []
    for names, group in groupby(who, key=lambda value: who[value]):
        values = [*group]
        first, last = (cell_words.in_words(name, values[at]) for at in (0, -1))
        where = f"at {first}" if first == last else f"from {first} to {last}"
        how = how_equal(max(apart(best[value]) for value in values))
        said.append(f"{_shortened(names)}{f' ({how})' if len(names) > 1 else ''} {where}")
    return f"Fastest: {'; '.join(said)}." if said else ""


def pays_off(shown: Slice, name: str) -> str:
    """Say from which value on the best GPU kernel beats the best CPU, with transfers if known."""
    has_transfers = any(p.measurement and p.measurement.transfers for p in shown.measured)
    way = "including" if has_transfers else "excluding"
    is_ahead: dict[Any, bool] = {}
    for value, row in compared(shown, name).items():
        on_cpu = [p.median_ms for p in row if not p.on_gpu]
        runs = ((p.median_ms, p.measurement) for p in row if p.on_gpu)
        on_gpu = [run.end_to_end_ms if has_transfers and run else ms for ms, run in runs]
        if on_cpu and (known := [ms for ms in on_gpu if ms is not None]):
            is_ahead[value] = min(known) < min(on_cpu)
    if not is_ahead:
        return ""
    values = list(is_ahead)
    if not is_ahead[values[-1]]:
        word = WORDS.get(name, cell_words.label(name).lower())
        return f"The CPU is at least as fast as the GPU at the largest {word}, {way} transfers."
    # One after the last value at which the GPU is behind.
    first = max((at for at, value in enumerate(values) if not is_ahead[value]), default=-1) + 1
    where = f"from {cell_words.in_words(name, values[first])} on"
    return f"The GPU pays off {where}, {way} transfers."


def best_and_worst(group: Sequence[Point], name: str) -> str:
    """Say "fastest: 32×8 and 64×4 (equal within 1 %); 8×1 takes 3.2× as long"."""
    points = timed(group)
    if len(points) < 2:
        return ""
    best, worst = best_of(points), max(points, key=lambda point: point.median_ms)
    how = how_equal(apart(best))
    if len(best) == len(points):
        return f"all are {how}"
    *names, slowest = (cell_words.in_words(name, p.value(name)) for p in (*best, worst))
    those = _shortened(names) + (f" ({how})" if len(best) > 1 else "")
    return f"fastest: {those}; {slowest} {how_long(apart(points))}{star_of(best[0], worst)}"


def how_long(factor: float) -> str:
    """Put a ratio of times into words: "takes 3.2× as long", "is 4 % slower"."""
    if factor < SHOWN_AS_PERCENT:
        return f"is {(factor - 1) * 100:.2g}{numbers.GAP}% slower"
    return f"takes {numbers.ratio(factor)} as long"


def best_of(group: Iterable[Point]) -> tuple[Point, ...]:
    """The fastest and those equal to it by `comparison.groups_of_equals`, fastest first."""
    points = timed(group)
    least = min((point.median_ms for point in points), default=0.0)
    near = {
        index: point.measurement.kernel
        for index, point in enumerate(points)
        if point.measurement and point.median_ms <= NEAR * least
    }
    return tuple(points[index] for index in groups_of_equals(near)[0]) if near else ()


def apart(points: Iterable[Point]) -> float:
    """The ratio of the slowest to the fastest time of these points; 1 for none."""
    times = [point.median_ms for point in timed(points)]
    return max(times) / min(times) if times else 1.0


def sentence_like(said: str) -> str:
    """Write a clause with a capital and a full stop, if it has none; "" stays empty."""
    return f"{said[:1].upper()}{said[1:].removesuffix('.')}." if said else ""


def _shortened(names: Sequence[str], most: int = MAX_EQUALS) -> str:
    more = len(names) - most
    return list_of([*names[:most], f"{more} more"] if more > 0 else names)
