"""Kernel time by pixel type, one bar each."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import names_bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Pixel types"
TIP = "Kernel time by pixel type, with quartiles"
READING = (
    "A bar is the median kernel time with samples stored in that type, its whisker the quartiles. "
    "Sums are made in float32 whatever the type is, so that a rung that waits for memory takes a "
    "time in proportion to the bytes of a sample, and one that waits for arithmetic does not."
)
ORDER = 26


def made_for(plan: Plan) -> bool:
    return len(plan.pixel_types) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "pixel_types")


def figure(data: Data, title: str) -> Figure:
    return names_bars.figure(data, title, "pixel_types", "the pixel type")
