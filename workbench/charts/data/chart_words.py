"""The words around every chart: what is fixed, what is missing and why, who measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kernels import filters
from kernels.core.errors import KernelError
from kernels.sweeps.cell import Cell
from workbench.base import numbers
from workbench.base.disturbed_words import star, why_starred
from workbench.charts.data import chart_dimensions
from workbench.charts.data.points import Point, Source
from workbench.charts.data.slices import Slice, is_left_out
from workbench.model.names import implementation_title

MAX_PLACES = 3
MAX_NOTES = 6
HIDDEN = "Hidden:"


def subtitle(shown: Slice) -> str:
    """Say what is held fixed, and below it the machines: a time means nothing without them."""
    cells = [p.cell for p in shown.points if p.source.standing != "published"]
    cells = cells or [p.cell for p in shown.points]
    return "\n".join(filter(None, (held_fixed(cells, shown.own), _machines(shown))))


def whose(shown: Slice) -> str:
    """Return which letter is which session: "A: NVIDIA H200; B: Xeon"; "" where there is one."""
    sources = dict.fromkeys(p.source for p in shown.points)
    letters = ((shown.data.letter(source), source.name) for source in sources)
    return "; ".join(f"{letter}: {name}" for letter, name in sorted(letters) if letter)


def is_recorded(shown: Slice) -> bool:
    """Return whether all that is shown came with the program, published numbers aside."""
    own = {p.source.standing for p in shown.points} - {"published"}
    return own == {"recorded"}


def grey(shown: Slice) -> str:
    """Return whose the grey numbers are: "Grey: published, GTX 1080"; "" without any."""
    names = [p.source.gpu for p in shown.points if p.source.standing == "published"]
    short = dict.fromkeys(name.partition(",")[0].partition(" (")[0] for name in names)
    return f"Grey: published, {list_of(list(short))}" if short else ""


def _machines(shown: Slice) -> str:
    """Return the machines, each with its letter where there are several."""
    own = (p.source for p in shown.points if p.source.standing != "published")
    return "; ".join(dict.fromkeys(_machine(s, shown.data.letter(s)) for s in dict.fromkeys(own)))


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
    if len(there) == _all_places(shown, names):
        there, more = [], 0
    if more > 0:
        there[MAX_PLACES:] = [f"{more} more"]
    at = f" at {list_of(there)}" if there else ""
    reason = group[0].objection or ""
    if len({point.objection for point in group}) > 1:
        reason = f"{reason.removesuffix('.')} (the figures differ)."
    return f"{who}{at}: {reason}"


def _all_places(shown: Slice, names: Sequence[str]) -> int:
    return len({chart_dimensions.where(p.cell, names) for p in shown.points})
