"""Heat maps over two dimensions: one implementation on one machine at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import details
from workbench.charts.data.figure import Tile
from workbench.charts.data.legend_entries import label_of
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data, Slice


def why_not_both(data: Data, column: str, row: str) -> str | None:
    """A map needs two values each way."""
    for name in (column, row):
        values = data.values(name)
        if len(values) < 2:
            label = chart_dimensions.label(name).lower()
            return f"A map needs several values of the {label}; there is one."
    return None


def tiles_of(
    shown: Slice,
    place: Callable[[Point], tuple[int, int]],
    value: Callable[[Point], float | None],
    words: Callable[[Point], tuple[str, ...]],
    best: Sequence[Point] = (),
) -> tuple[Tile, ...]:
    """A tile for each point; one that is no speed has a word in its place."""
    chosen = {id(point) for point in best}
    tiles = []
    for point in shown.points:
        column, row = place(point)
        found = value(point)
        text = details(point, label_of(point, shown.data))
        cell = None if point.source.standing == "published" else point.cell
        if found is not None:
            is_best = id(point) in chosen
            tiles.append(Tile(column, row, found, words(point), text, cell, is_best))
        elif point.objection:
            said, verdict = ("✗", "bad") if point.is_wrong else ("–", "missing")
            tiles.append(Tile(column, row, None, (said,), text, cell, verdict=verdict))  # type: ignore[arg-type]
    return tuple(tiles)


def places(data: Data, column: str, row: str) -> Callable[[Point], tuple[int, int]]:
    """Where a point stands: the places of its two values."""
    columns, rows = _numbers(data.values(column)), _numbers(data.values(row))
    return lambda p: (
        columns[chart_dimensions.of(p.cell, column)],
        rows[chart_dimensions.of(p.cell, row)],
    )


def names(data: Data, name: str) -> tuple[str, ...]:
    return tuple(chart_dimensions.in_words(name, value) for value in data.values(name))


def _numbers(values: Sequence[Any]) -> dict[Any, int]:
    return {value: number for number, value in enumerate(values)}
