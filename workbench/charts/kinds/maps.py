"""Heat maps over two dimensions: one implementation on one machine at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.charts import dimensions
from workbench.charts.figure import Tile
from workbench.charts.legend_entries import label_of
from workbench.charts.points import Point
from workbench.charts.slices import Data, Slice
from workbench.charts.words import details


def why_not_both(data: Data, column: str, row: str) -> str | None:
    """A map needs two values each way."""
    for name in (column, row):
        values = data.values(name)
        if len(values) < 2:
            label = dimensions.label(name).lower()
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
    return lambda p: (columns[dimensions.of(p.cell, column)], rows[dimensions.of(p.cell, row)])


def names(data: Data, name: str) -> tuple[str, ...]:
    return tuple(dimensions.in_words(name, value) for value in data.values(name))


def _numbers(values: Sequence[Any]) -> dict[Any, int]:
    return {value: number for number, value in enumerate(values)}
