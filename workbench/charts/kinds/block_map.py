"""Kernel time over block width and height; the fastest and its equals are outlined."""

from __future__ import annotations

from kernels.core.comparison import EQUAL
from kernels.sweeps.plan import Plan
from workbench.base import numbers
from workbench.charts.data.figure import Axis, Figure, Grid
from workbench.charts.data.points import Point
from workbench.charts.data.sentences import best_and_worst, best_of
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.block_shapes import MAX_BARS
from workbench.charts.kinds.common import made
from workbench.charts.kinds.maps import tiles_of
from workbench.model.names import title_of

TITLE = "Block width × height"
TIP = "Kernel time over the block's shape, with occupancy; the fastest and its equals are outlined"
READING = (
    "Each tile is a block of so many threads across and down: above its median kernel time, below "
    "it its occupancy, the share of the warps a multiprocessor can hold that such blocks fill. "
    "Lighter is quicker; the scale stands beside the map. What is outlined is the fastest and all "
    f"that are {EQUAL} to it: choose any of those. Look for rows and columns: rows of fewer "
    "than 32 threads break up what a warp reads, and very large blocks leave few of them to a "
    "multiprocessor. High occupancy alone makes nothing fast."
)
ORDER = 5


def made_for(plan: Plan) -> bool:
    return len(plan.blocks) > MAX_BARS and len(plan.sizes) * len(plan.ksizes) == 1


def why_not(data: Data) -> str | None:
    wide, high = _sides(data.values("blocks"))
    if len(wide) < 2 or len(high) < 2:
        return "A map needs block shapes of several widths and heights."
    return None


def figure(data: Data, title: str) -> Figure:
    shown = data.narrowed(_with_blocks(data.slice("blocks", "implementations")), "implementations")
    wide, high = _sides(data.values("blocks"))
    column, row = {x: i for i, x in enumerate(wide)}, {y: i for i, y in enumerate(high)}

    def place(point: Point) -> tuple[int, int]:
        assert point.cell.block_xy is not None
        x, y = point.cell.block_xy
        return column[x], row[y]

    best = best_of(shown.measured)
    tiles = tiles_of(shown, place, lambda p: p.ms.middle if p.ms else None, _words, best)
    body = Grid(
        tuple(map(str, wide)),
        tuple(map(str, high)),
        "Block width, threads",
        "Block height, threads",
        tiles,
        Axis("Kernel time, median; below it the occupancy", numbers.duration, True),
    )
    return made(shown, f"{title}: {_who(shown)}", body, _say(shown))


def _with_blocks(shown: Slice) -> Slice:
    """Without what has no choice of a block."""
    points = tuple(point for point in shown.points if point.cell.block_xy)
    return Slice(shown.data, points, shown.options, shown.own)


def _who(shown: Slice) -> str:
    names = dict.fromkeys(title_of(p.cell.implementation) for p in shown.points)
    return ", ".join(names) or "nothing with a choice of blocks"


def _say(shown: Slice) -> str:
    said = best_and_worst(shown.measured, "blocks")
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _words(point: Point) -> tuple[str, ...]:
    assert point.ms is not None
    time = numbers.duration(point.ms.middle)
    occupancy = point.measurement.occupancy if point.measurement else None
    return (time, f"{occupancy.share:.0%}") if occupancy else (time,)


def _sides(blocks: tuple[tuple[int, int], ...]) -> tuple[list[int], list[int]]:
    return sorted({x for x, _ in blocks}), sorted({y for _, y in blocks})
