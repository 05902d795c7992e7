"""Lines along a dimension of numbers: one a series, a dot with its quartiles a measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import details
from workbench.charts.data.figure import Axis, Dot, Entry, Series
from workbench.charts.data.legend_entries import entries_of, entry_with_marker, label_of
from workbench.charts.data.points import Point, Spread
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.common import SERIES, visible

LARGE_RANGE = 8  # of kernel sizes; from here on they stand by their logarithm
LABELS = {
    "sizes": "Image size in pixels",
    "ksizes": "Kernel size",
    "counts": "Pictures one after another",
}


def slice_along(data: Data, name: str) -> Slice:
    """What lines along a dimension show."""
    return data.slice(name, *SERIES)


def x_axis(shown: Slice, name: str) -> Axis:
    """Ticks where something is, or will be, measured."""
    values = {chart_dimensions.of(point.cell, name) for point in shown.points}
    if shown.data.is_so_far:
        values.update(shown.data.values(name))
    places = sorted((place(value), chart_dimensions.in_words(name, value)) for value in values)
    low, high = places[0][0], places[-1][0]
    log = name != "ksizes" or high / low >= LARGE_RANGE
    return Axis(LABELS[name], str, log, tuple(places), (low, high))


def place(value: object) -> float:
    """Where a value stands: picture sizes by their pixels."""
    return float(value[0] * value[1] if isinstance(value, tuple) else value)  # type: ignore[arg-type]


def series_of(
    shown: Slice,
    name: str,
    spread_of: Callable[[Point], Spread | None],
    more: Callable[[Point], str] = lambda _: "",
) -> tuple[Series, ...]:
    """Of what is not hidden; what is pinned comes last and so lies on top.

    spread_of  the height of a point; None: it has none
    more       what a point says beside its details
    """
    data, entries = shown.data, entries_of(shown)
    found: dict[str, list[Dot]] = {}
    owner: dict[str, Entry] = {}
    for point in visible(shown):
        dot = _dot(point, name, shown, spread_of(point), more)
        if dot:
            found.setdefault(point.key, []).append(dot)
            owner.setdefault(point.key, entry_with_marker(point, entries, data))
    series = [
        Series(owner[key], tuple(sorted(dots, key=lambda dot: dot.x)))
        for key, dots in found.items()
    ]
    return tuple(sorted(series, key=lambda each: (each.entry.is_pinned, not _is_published(each))))


def ends(series: Iterable[Series]) -> list[float]:
    """All heights, to tell whether an axis should be logarithmic."""
    return [dot.y for each in series for dot in each.dots if not dot.is_wrong]


def _dot(
    point: Point, name: str, shown: Slice, spread: Spread | None, more: Callable[[Point], str]
) -> Dot | None:
    x = place(chart_dimensions.of(point.cell, name))
    label = label_of(point, shown.data)
    if point.is_wrong:
        return Dot(x, 0.0, 0.0, 0.0, details(point, label), point.cell, is_wrong=True)
    if spread is None:
        return None
    text = "\n".join(filter(None, (details(point, label), more(point))))
    cell = None if point.source.standing == "published" else point.cell
    return Dot(x, *spread, text, cell)


def _is_published(series: Series) -> bool:
    return series.entry.look.standing == "published"
