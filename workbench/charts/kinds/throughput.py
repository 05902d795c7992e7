"""Megapixels a second against image size: flat where a device is busy, falling where it idles."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Axis, Figure, Plot
from workbench.charts.data.legend_entries import name_of
from workbench.charts.data.points import Point, Spread
from workbench.charts.data.sentences import by_source
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds import lines
from workbench.charts.kinds.common import is_log, made, why_not_several

TITLE = "Throughput by image size"
TIP = "Megapixels a second against image size, with quartiles"
READING = (
    "Upwards: megapixels filtered in a second of kernel time, to the right larger pictures. A "
    "level line says that the device is busy and time is in proportion to the pixels; where it "
    "rises, small pictures leave part of it idle; where it falls, what fitted into a cache does so "
    "no longer. Compare heights on the level part alone."
)
ORDER = 40


def made_for(plan: Plan) -> bool:  # noqa: ARG001  times come first
    return False


def why_not(data: Data) -> str | None:
    return why_not_several(data, "sizes")


def figure(data: Data, title: str) -> Figure:
    shown = lines.slice_along(data, "sizes")
    series = lines.series_of(shown, "sizes", rate_of)
    log = is_log(shown, lines.ends(series))
    y = Axis("Pixels a second: median, quartiles as a bar", numbers.pixel_rate, log)
    body = Plot(lines.x_axis(shown, "sizes"), y, series)
    return made(shown, title, body, by_source(shown, _most))


def rate_of(point: Point) -> Spread | None:
    """In megapixels a second."""
    if point.ms is None:
        return None
    pixels = point.cell.megapixels * 1e3
    return Spread(pixels / point.ms.middle, pixels / point.ms.high, pixels / point.ms.low)


def _most(shown: Slice) -> str:
    rates = {p: rate for p in shown.measured if (rate := rate_of(p))}
    if not rates:
        return ""
    best = max(rates, key=lambda point: rates[point].middle)
    who = name_of(best, shown.data)
    where = chart_dimensions.in_words("sizes", chart_dimensions.of(best.cell, "sizes"))
    return f"{who} filters the most, {numbers.pixel_rate(rates[best].middle)} at {where}."
