"""The largest error of each answer, against the float64 reference, in a table.

Rows are filters and sizes, columns implementations.
"""

from __future__ import annotations

import math

from kernels.core.verdict import Check
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import details
from workbench.charts.data.figure import Figure, Grid, Tile
from workbench.charts.data.legend_entries import series_label
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.chart_kind import ChartKind
from workbench.charts.kinds.common import made
from workbench.model.names import implementation_title

ROWS = ("filters", "ksizes")


def _why_not(data: Data) -> str | None:
    if any(point.measurement or point.objection for point in data.points):
        return None
    return "Nothing was measured here that could be checked."


def _figure(data: Data, title: str) -> Figure:
    data = data.own
    shown = data.slice(*ROWS, "implementations")
    points = shown.points
    tolerance = _tolerance(data)
    rows = list(dict.fromkeys(_row(point) for point in points))
    columns = [key for key in data.values("implementations") if any(_is(p, key) for p in points)]
    tiles = tuple(
        _tile(p, shown, columns.index(p.cell.implementation), rows.index(_row(p)), tolerance)
        for p in points
    )
    body = Grid(tuple(implementation_title(key) for key in columns), tuple(rows), "", "", tiles)
    within = f", tolerance {_short(tolerance)}" if tolerance is not None else ""
    return made(shown, f"{title}: largest error{within}", body, _say(shown, tolerance))


def passed(check: Check | None, tolerance: float | None) -> bool:
    """Return whether an answer is within its rounding bound and within the plan's tolerance."""
    if check is None or not check.ok:
        return False
    return tolerance is None or check.max_error <= tolerance


def _is(point: Point, key: str) -> bool:
    return point.cell.implementation == key


def _row(point: Point) -> str:
    return chart_dimensions.where(point.cell, ROWS)


def _tolerance(data: Data) -> float | None:
    given = [s.plan.tolerance for s in data.sessions if s.plan.tolerance is not None]
    return min(given, default=None)


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


def _say(shown: Slice, tolerance: float | None) -> str:
    checked = [p for p in shown.points if p.measurement and p.measurement.check]
    if not checked:
        return ""

    def error(point: Point) -> float:
        return point.measurement.check.max_error if _has_check(point) else 0.0  # type: ignore[union-attr]

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


def _has_check(point: Point) -> bool:
    return point.measurement is not None and point.measurement.check is not None


KINDS = (
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
        _why_not,
        _figure,
        lambda plan: plan.tolerance is not None,
        about_answers=True,
    ),
)
