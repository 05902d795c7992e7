"""Bars in groups along a dimension of names: one a series and value, with its quartiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import details
from workbench.charts.data.figure import Axis, Bar, Bars, Entry, Figure, Group
from workbench.charts.data.legend_entries import entries_of, entry_of, entry_with_marker, label_of
from workbench.charts.data.points import Point
from workbench.charts.data.sentences import best_of
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.common import SERIES, is_log, made, visible

CAPTION = "Kernel time: median, quartiles as a whisker; outlined: a series' fastest and its equals"


def figure(
    data: Data, title: str, name: str, say: Callable[[Slice], str], *, is_upright: bool
) -> Figure:
    """Time by `name`; of each series the fastest, and those equal to it, are outlined."""
    shown = data.slice(name, *SERIES)
    having = tuple(p for p in shown.points if chart_dimensions.of(p.cell, name) is not None)
    shown = replace(shown, points=having)
    points = visible(shown)
    best = {id(point) for group in by_series(points) for point in _outlined(group)}
    entries = entries_of(shown)
    slots = _slots(points, entries)
    groups = []
    for value in data.values(name):
        mine = [p for p in points if chart_dimensions.of(p.cell, name) == value]
        mine.sort(key=lambda p: [e.key for e in entries].index(entry_of(p, entries).key))
        bars = tuple(
            replace(bar_of(p, shown, is_best=id(p) in best), slot=slots[p.key]) for p in mine
        )
        if bars:
            groups.append(Group(chart_dimensions.in_words(name, value), bars))
    log = is_log(shown, [p.ms.middle for p in points if p.ms])
    axis = Axis(CAPTION, numbers.duration, log)
    return made(shown, title, Bars(axis, tuple(groups), is_upright), say(shown))


def _slots(points: Sequence[Point], entries: Sequence[Entry]) -> dict[str, int]:
    """A place for each series; what was published has that of its implementation."""
    order = [entry.key for entry in entries]
    points = sorted(points, key=lambda p: order.index(entry_of(p, entries).key))
    places: dict[str, int] = {}  # of series that stand alone, and of implementations
    slots = {}
    for point in points:
        name = point.cell.implementation
        is_published = point.source.standing == "published"
        slot = places.get(name if is_published else point.key, len(set(places.values())))
        places.setdefault(point.key, slot)
        places.setdefault(name, slot)
        slots[point.key] = slot
    return slots


def _outlined(group: Sequence[Point]) -> tuple[Point, ...]:
    """The best of a series; none where all are equal, or where there is but one."""
    best = best_of(group)
    return best if len(best) < len(group) else ()


def by_series(points: Sequence[Point]) -> list[list[Point]]:
    """What was measured, without what was published."""
    found: dict[str, list[Point]] = {}
    for point in points:
        if point.ms and point.source.standing != "published":
            found.setdefault(point.key, []).append(point)
    return list(found.values())


def bar_of(point: Point, shown: Slice, *, is_best: bool = False) -> Bar:
    """A point as a bar; without a speed it is a word or two in its place."""
    entry = entry_with_marker(point, entries_of(shown), shown.data)
    text = details(point, label_of(point, shown.data))
    cell = None if point.source.standing == "published" else point.cell
    if point.ms is None:
        words = "✗ wrong" if point.is_wrong else "refused"
        return Bar(entry, None, 0.0, 0.0, words, text, cell)
    said = numbers.duration(point.ms.middle)
    return Bar(entry, *point.ms, said, text, cell, is_best)
