"""Tables: heat maps over two dimensions, and the largest error of every answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from kernels.core.timing import EQUAL
from kernels.core.verdict import Check
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import (
    best_and_worst,
    best_of,
    details,
    hidden_points,
    time_of,
)
from workbench.charts.data.figure import Axis, Figure, Grid, Tile
from workbench.charts.data.legend_entries import series_label
from workbench.charts.data.points import Data, Point, Slice
from workbench.charts.kinds.bars import MAX_BARS
from workbench.charts.kinds.chart_kind import ChartKind, made, sentence_like
from workbench.charts.kinds.lines import LABELS, rate_of
from workbench.model.names import implementation_title

NO_BLOCKS = "no choice of blocks"
SIZES = ("sizes", "ksizes")  # across and down


def why_not_both(data: Data) -> str | None:
    """Explain a missing map of image size by kernel size, which needs two values of each."""
    for name in SIZES:
        if len(data.values(name)) < 2:
            label = chart_dimensions.label(name).lower()
            return f"A map needs several values of the {label}; there is one."
    return None


def sizes_grid(
    shown: Slice,
    value: Callable[[Point], float | None],
    words: Callable[[Point], tuple[str, ...]],
    label: str,
    in_words: Callable[[float], str],
) -> Grid:
    """Return a map of image size by kernel size on which more is better.

    value, words     the number of a point, and the lines in its tile
    label, in_words  what the colours stand for, and how the ends of their scale are written
    """
    across, down = (shown.data.values(name) for name in SIZES)

    def place(point: Point) -> tuple[int, int]:
        column, row = (chart_dimensions.of(point.cell, name) for name in SIZES)
        return across.index(column), down.index(row)

    return Grid(
        tuple(chart_dimensions.in_words("sizes", each) for each in across),
        tuple(chart_dimensions.in_words("ksizes", each) for each in down),
        LABELS["sizes"],
        LABELS["ksizes"],
        _tiles(shown, place, value, words),
        Axis(label, in_words, True),
        more_is_better=True,
    )


def subject_of(shown: Slice) -> str:
    """Return the implementation that the map shows; "" if there is none."""
    return next((series_label(point, shown.data) for point in shown.points), "")


def _tiles(
    shown: Slice,
    place: Callable[[Point], tuple[int, int]],
    value: Callable[[Point], float | None],
    words: Callable[[Point], tuple[str, ...]],
    best: Sequence[Point] = (),
) -> tuple[Tile, ...]:
    """Return a tile for each point; one without a valid time has a mark instead."""
    chosen = {id(point) for point in best}
    tiles = []
    for point in shown.points:
        found, (column, row) = value(point), place(point)
        text = details(point, series_label(point, shown.data))
        cell = None if point.source.standing == "published" else point.cell
        if found is not None:
            is_best = id(point) in chosen
            tiles.append(Tile(column, row, found, words(point), text, cell, is_best))
        elif point.is_wrong:
            tiles.append(Tile(column, row, None, ("✗",), text, cell, verdict="bad"))
        elif point.objection:
            tiles.append(Tile(column, row, None, ("–",), text, cell, verdict="missing"))
    return tuple(tiles)


# -- throughput


def _throughput(data: Data, title: str) -> Figure:
    shown = data.slice(*SIZES)
    label = "Pixels per second; below it the time"
    body = sizes_grid(shown, _rate, _rate_words, label, numbers.pixel_rate)
    return made(shown, f"{title}, {subject_of(shown)}", body, _say_rates(shown))


def _rate(point: Point) -> float | None:
    rate = rate_of(point)
    return rate.middle if rate else None


def _rate_words(point: Point) -> tuple[str, ...]:
    assert point.ms is not None
    rate = point.cell.megapixels / (point.ms.middle / 1e3)
    return numbers.pixel_rate(rate), time_of(point)


def _say_rates(shown: Slice) -> str:
    rates = [(rate, point) for point in shown.measured if (rate := _rate(point))]
    if len(rates) < 2:
        return ""
    (most, best), (least, worst) = (end(rates, key=lambda pair: pair[0]) for end in (max, min))
    where, there = (chart_dimensions.where(point.cell, SIZES) for point in (best, worst))
    return (
        f"Most pixels per second at {where}, {numbers.pixel_rate(most)}; "
        f"fewest at {there}, {numbers.pixel_rate(least)}."
    )


# -- block shapes


def _why_no_block_map(data: Data) -> str | None:
    if min(map(len, _sides(data))) < 2:
        return "A map needs block shapes of several widths and heights."
    return None


def _block_map(data: Data, title: str) -> Figure:
    shown = data.slice("blocks", "implementations")
    having = tuple(point for point in shown.points if point.cell.block_xy)
    others = [p for p in shown.points if p.ms and not p.cell.block_xy]
    shown = data.narrowed(replace(shown, points=having), "implementations")
    wide, high = _sides(data)

    def place(point: Point) -> tuple[int, int]:
        assert point.cell.block_xy is not None
        x, y = point.cell.block_xy
        return wide.index(x), high.index(y)

    best = best_of(shown.measured)
    body = Grid(
        tuple(map(str, wide)),
        tuple(map(str, high)),
        "Block width, threads",
        "Block height, threads",
        _tiles(shown, place, lambda p: p.ms.middle if p.ms else None, _block_words, best),
        Axis("Time, median; below it the occupancy", numbers.duration, True),
    )
    names = dict.fromkeys(implementation_title(p.cell.implementation) for p in shown.points)
    who = ", ".join(names) or "nothing with a choice of blocks"
    said = sentence_like(best_and_worst(shown.measured, "blocks"))
    left_out = hidden_points([p for p in others if p.source.standing != "published"], NO_BLOCKS)
    return made(shown, f"{title}: {who}", body, said, notes=left_out)


def _block_words(point: Point) -> tuple[str, ...]:
    assert point.ms is not None
    time = time_of(point)
    occupancy = point.measurement.occupancy if point.measurement else None
    return (time, numbers.percent(occupancy.share)) if occupancy else (time,)


def _sides(data: Data) -> tuple[list[int], list[int]]:
    """Return the widths and the heights of the blocks."""
    blocks = data.values("blocks")
    return sorted({x for x, _ in blocks}), sorted({y for _, y in blocks})


ROWS = ("filters", "ksizes")


def _why_no_errors(data: Data) -> str | None:
    if any(point.measurement or point.objection for point in data.points):
        return None
    return "Nothing was measured here that could be checked."


def _errors(data: Data, title: str) -> Figure:
    data = data.own
    shown = data.slice(*ROWS, "implementations")
    points = shown.points
    given = [s.plan.tolerance for s in data.sessions if s.plan.tolerance is not None]
    tolerance = min(given, default=None)
    rows = list(dict.fromkeys(_row(point) for point in points))
    ran = {point.cell.implementation for point in points}
    columns = [key for key in data.values("implementations") if key in ran]
    tiles = tuple(
        _tile(p, shown, columns.index(p.cell.implementation), rows.index(_row(p)), tolerance)
        for p in points
    )
    body = Grid(tuple(implementation_title(key) for key in columns), tuple(rows), "", "", tiles)
    within = f", tolerance {_short(tolerance)}" if tolerance is not None else ""
    return made(shown, f"{title}: largest error{within}", body, _say_errors(shown, tolerance))


def passed(check: Check | None, tolerance: float | None) -> bool:
    """Tell whether an output is within its rounding bound and within the plan's tolerance."""
    if check is None or not check.ok:
        return False
    return tolerance is None or check.max_error <= tolerance


def _row(point: Point) -> str:
    return chart_dimensions.where(point.cell, ROWS)


def _tile(point: Point, shown: Slice, column: int, row: int, tolerance: float | None) -> Tile:
    text = details(point, series_label(point, shown.data))
    check = point.measurement.check if point.measurement else None
    if check is None:
        return Tile(column, row, None, ("–",), text, point.cell, verdict="missing")
    if passed(check, tolerance):
        words, verdict = (f"✓ {_short(check.max_error)}",), "good"
    else:
        words, verdict = (f"✗ {_short(check.max_error)}",), "bad"
    return Tile(column, row, None, words, text, point.cell, verdict=verdict)  # type: ignore[arg-type]


def _short(error: float) -> str:
    """Return an error in few digits: "2.4e-7", "0" where there is none, whole numbers as such."""
    if error == 0 or not math.isfinite(error):
        return f"{error:g}"
    if 0.01 <= error < 1e5:
        return f"{error:.2g}" if error < 100 else f"{error:.0f}"
    mantissa, exponent = f"{error:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _say_errors(shown: Slice, tolerance: float | None) -> str:
    checked = [p for p in shown.points if p.measurement and p.measurement.check]
    if not checked:
        return ""

    def error(point: Point) -> float:
        check = point.measurement.check if point.measurement else None
        return check.max_error if check else 0.0

    wrong = [p for p in checked if p.measurement and not passed(p.measurement.check, tolerance)]
    worst = max(checked, key=error)
    where = chart_dimensions.where(worst.cell, ROWS)
    most = (
        f"the largest error is {_short(error(worst))}, of "
        f"{implementation_title(worst.cell.implementation)} with {where}"
    )
    within = f"within {_short(tolerance)}" if tolerance is not None else "within their bounds"
    if not wrong:
        count = f"All {len(checked)} answers are" if len(checked) > 1 else "The answer is"
        if error(worst) == 0:
            most = "none differs from the reference's"
        return f"{count} right {within}; {most}."
    return f"{len(wrong)} of {len(checked)} answers are not {within}; {most}."


KINDS = (
    ChartKind(
        "block_map",
        "Block width × height",
        "Time over the block's shape, with occupancy; the fastest and its equals are outlined",
        "Each tile is a block of so many threads across and down: above its median time, "
        "below it its occupancy, the share of the warps a multiprocessor can hold that such blocks "
        "fill. Lighter is quicker; the scale stands beside the map. What is outlined is the "
        f"fastest and all that are {EQUAL} to it: choose any of those. Look for rows and columns: "
        "rows of fewer than 32 threads break up what a warp reads, and very large blocks leave few "
        "of them to a multiprocessor. High occupancy alone makes nothing fast.",
        5,
        _why_no_block_map,
        _block_map,
        lambda plan: len(plan.blocks) > MAX_BARS and len(plan.sizes) * len(plan.ksizes) == 1,
    ),
    ChartKind(
        "throughput_map",
        "Throughput: image × kernel size",
        "Megapixels per second over image size and kernel size, with the time",
        "A tile is megapixels per second, and below that the time, with pictures growing to "
        "the right and kernels downwards. Down a column the work grows with K², or with K where "
        "two passes are made: how quickly the numbers fall tells which. Along a row they should "
        "rise and then stay.",
        42,
        why_not_both,
        _throughput,
    ),
    ChartKind(
        "correctness",
        "Correctness",
        "The largest error of every answer against the reference, and whether that is allowed",
        "A tile is the largest error of an answer against the float64 reference, in the picture's "
        "own units, over every pixel that was checked. A tick says that it is within the bound "
        "that float32 sums allow; ✗ that it is wrong, and a wrong answer has no speed in any "
        "other chart. Zeros are exact. Whole numbers may differ by one where the exact value "
        "lies close to a half.",
        70,
        _why_no_errors,
        _errors,
        lambda plan: plan.tolerance is not None,
        about_answers=True,
    ),
)
