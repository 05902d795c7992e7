"""Kernel time by filter, one bar each."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import names_bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Filters"
TIP = "Kernel time by filter, with quartiles"
READING = (
    "A bar is the median kernel time of that filter, its whisker the quartiles. Where an "
    "implementation takes weights as they come, filters of one size take one time, whatever they "
    "are called. Where it takes separable weights apart, those of low rank are quicker; Edges and "
    "Gradient are more than one sum."
)
ORDER = 22


def made_for(plan: Plan) -> bool:
    return len(plan.filters) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "filters")


def figure(data: Data, title: str) -> Figure:
    return names_bars.figure(data, title, "filters", "the filter")
