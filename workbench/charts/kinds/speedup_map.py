"""How many times as fast as a baseline, over image size and kernel size."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Axis, Figure, Grid
from workbench.charts.data.legend_entries import label_of
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data
from workbench.charts.kinds.common import (
    SpeedUp,
    baseline_option,
    made,
    single_notes,
    speed_ups,
    why_not_one_implementation,
)
from workbench.charts.kinds.maps import names, places, tiles_of, why_not_both

TITLE = "Speed-up: image × kernel size"
TIP = "How many times as fast as a baseline, over image size and kernel size"
READING = (
    "A tile is how many times as fast as the baseline, with pictures growing to the right and "
    "kernels downwards. Below 1 the baseline wins: look for the corner where it does, which is "
    "usually the one of small pictures and small kernels. Transfers are not in it."
)
ORDER = 34


def made_for(plan: Plan) -> bool:  # noqa: ARG001  lines compare implementations, a map shows one
    return False


def why_not(data: Data) -> str | None:
    return why_not_both(data, "sizes", "ksizes") or why_not_one_implementation(data)


def figure(data: Data, title: str) -> Figure:
    everything = data.slice("sizes", "ksizes", "implementations")
    option = baseline_option(everything)
    baseline = option.chosen if option else ""
    against = dict(option.values)[baseline] if option else "nothing measured yet"
    shown = data.narrowed(everything, "implementations")
    found = speed_ups(shown.points, everything.points, baseline)
    ratios = {id(each.point): each.ratio for each in found}

    def words(point: Point) -> tuple[str, ...]:
        middle, low, high = ratios[id(point)]
        interval = (f"{numbers.ratio(low)} to {numbers.ratio(high)}",) if low < high else ()
        return (numbers.ratio(middle), *interval)

    def value(point: Point) -> float | None:
        return ratios[id(point)].middle if id(point) in ratios else None

    tiles = tiles_of(shown, places(data, "sizes", "ksizes"), value, words)
    body = Grid(
        names(data, "sizes"),
        names(data, "ksizes"),
        "Image size in pixels",
        "Kernel size",
        tiles,
        Axis(f"Speed-up: times as fast as {against}", numbers.ratio, True),
        more_is_better=True,
    )
    who = next((label_of(point, data) for point in shown.points), "")
    heading = f"Speed-up of {who} over {against}" if who else title
    options = (option,) if option else ()
    notes = single_notes(shown.points, everything.points, baseline)
    return made(shown, heading, body, _say(found, against), options=options, notes=notes)


def _say(found: list[SpeedUp], against: str) -> str:
    if len(found) < 2:
        return ""
    most = max(found, key=lambda each: each.ratio.middle)
    least = min(found, key=lambda each: each.ratio.middle)
    where, there = (
        chart_dimensions.where(e.point.cell, ("sizes", "ksizes")) for e in (most, least)
    )
    slower = sum(each.ratio.middle < 1 for each in found)
    rest = f" In {slower} of {len(found)} cases {against} is faster." if slower else ""
    return (
        f"From {numbers.ratio(least.ratio.middle)} at {there} "
        f"to {numbers.ratio(most.ratio.middle)} at {where}.{rest}"
    )
