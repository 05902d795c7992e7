"""The places of legend entries: in rows, those of each machine after its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.charts.data.figure import LegendLine


class LegendPlace(NamedTuple):
    """The place of an entry, or of a machine's name before its entries, in pixels."""

    row: int
    x: float
    wide: float


class Rows(NamedTuple):
    """The places of everything in a legend.

    headings  the name of each machine and its place, where there are several
    entries   one place each
    total     how many rows there are
    """

    headings: list[tuple[str, LegendPlace]]
    entries: list[LegendPlace]
    total: int


def rows_of(
    entries: Sequence[LegendLine],
    wide_px: float,
    entry_px: Callable[[LegendLine], float],
    heading_px: Callable[[str], float],
) -> Rows:
    """Place as many entries per row as fit; each machine begins a new row."""
    headings: list[tuple[str, LegendPlace]] = []
    places: list[LegendPlace] = []
    row, x, group = 0, 0.0, ""
    for entry in entries:
        if entry.group != group:
            row += 1 if x > 0 else 0
            group, wide = entry.group, min(heading_px(entry.group), wide_px)
            headings.append((group, LegendPlace(row, 0.0, wide)))
            x = wide
        wide = min(entry_px(entry), wide_px)
        if x > 0 and x + wide > wide_px:
            row, x = row + 1, 0.0
        places.append(LegendPlace(row, x, wide))
        x += wide
    return Rows(headings, places, row + 1 if entries else 0)
