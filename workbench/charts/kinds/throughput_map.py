"""Megapixels a second over image size and kernel size."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Axis, Figure, Grid
from workbench.charts.data.legend_entries import label_of
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.common import made
from workbench.charts.kinds.maps import names, places, tiles_of, why_not_both
from workbench.charts.kinds.throughput import rate_of

TITLE = "Throughput: image × kernel size"
TIP = "Megapixels a second over image size and kernel size, with the kernel's time"
READING = (
    "A tile is megapixels a second, and below that the kernel time, with pictures growing to the "
    "right and kernels downwards. Down a column the work grows with K², or with K where two passes "
    "are made: how quickly the numbers fall tells which. Along a row they should rise and then "
    "stay."
)
ORDER = 42


def made_for(plan: Plan) -> bool:  # noqa: ARG001  lines compare implementations, a map shows one
    return False


def why_not(data: Data) -> str | None:
    return why_not_both(data, "sizes", "ksizes")


def figure(data: Data, title: str) -> Figure:
    shown = data.slice("sizes", "ksizes")
    tiles = tiles_of(shown, places(data, "sizes", "ksizes"), _value, _words)
    body = Grid(
        names(data, "sizes"),
        names(data, "ksizes"),
        "Image size in pixels",
        "Kernel size",
        tiles,
        Axis("Pixels a second; below it the kernel's time", numbers.pixel_rate, True),
        more_is_better=True,
    )
    who = next((label_of(point, data) for point in shown.points), "")
    return made(shown, f"{title}, {who}", body, _say(shown))


def _value(point: Point) -> float | None:
    rate = rate_of(point)
    return rate.middle if rate else None


def _words(point: Point) -> tuple[str, ...]:
    assert point.ms is not None
    rate = point.cell.megapixels / (point.ms.middle / 1e3)
    return numbers.pixel_rate(rate), numbers.duration(point.ms.middle)


def _say(shown: Slice) -> str:
    rates = {id(p): rate.middle for p in shown.measured if (rate := rate_of(p))}
    if len(rates) < 2:
        return ""
    most = max(shown.measured, key=lambda p: rates[id(p)])
    least = min(shown.measured, key=lambda p: rates[id(p)])
    where, there = (chart_dimensions.where(p.cell, ("sizes", "ksizes")) for p in (most, least))
    return (
        f"Most pixels a second at {where}, {numbers.pixel_rate(rates[id(most)])}; "
        f"fewest at {there}, {numbers.pixel_rate(rates[id(least)])}."
    )
