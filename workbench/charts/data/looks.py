"""The number of each series' look, from which come its colour and its marker."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.charts.data.figure import LOOKS
from workbench.charts.data.slices import Data, Slice
from workbench.model.names import place_of

Looks = Mapping[str, int]


def color_and_marker(look: int) -> tuple[int, int]:
    """Return the numbers of both; up to LOOKS² of them no two looks have both in common."""
    return look % LOOKS, (look + look // LOOKS) % LOOKS


def looks_of(shown: Slice) -> Looks:
    """Return a look for each series of a chart, by its key.

    Up to LOOKS series in sight have one each, and keep it from chart to chart of the same sessions
    if nobody else has it. Of more, series of one implementation share its look. A published one
    has that of what was measured of its implementation.
    """
    preferred = _preferred(shown.data)
    looks = dict(preferred)
    hidden = shown.data.choices.hidden
    own = [p for p in shown.points if p.key in preferred and (p.ms or p.is_wrong)]
    here = {point.key for point in own} - hidden
    if len(here) <= LOOKS:
        looks |= _each_its_own([key for key in preferred if key in here], preferred)
    by_implementation = {shown.data.series[key]: looks[key] for key in reversed([*preferred])}
    taken = {look % LOOKS for look in looks.values()}
    free = iter([each for each in range(LOOKS) if each not in taken])
    for point in shown.points:
        name = point.cell.implementation
        if point.key not in looks:
            if name not in by_implementation:
                by_implementation[name] = next(free, place_of(name))
            looks[point.key] = by_implementation[name]
    return looks


def _preferred(data: Data) -> dict[str, int]:
    """Return the look of each planned series, whatever one chart shows of them."""
    if len(data.series) <= LOOKS:
        return {key: number for number, key in enumerate(data.series)}
    names = sorted(set(data.series.values()), key=lambda name: (place_of(name), name))
    return {key: names.index(name) for key, name in data.series.items()}


def _each_its_own(keys: list[str], preferred: Mapping[str, int]) -> dict[str, int]:
    """Return a look of its own for each of at most LOOKS keys, the preferred one if it is free."""
    looks: dict[str, int] = {}
    for key in keys:
        if (look := preferred[key] % LOOKS) not in looks.values():
            looks[key] = look
    for key in keys:
        if key not in looks:
            looks[key] = next(n for n in range(LOOKS) if n not in looks.values())
    return looks
