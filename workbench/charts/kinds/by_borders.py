"""Kernel time by border rule, one bar each."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import names_bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Borders"
TIP = "Kernel time by border rule, with quartiles"
READING = (
    "A bar is the median kernel time with that border rule, its whisker the quartiles. All rules "
    "do the same sums, and differ in what is read beyond the edge; on a large picture the edge is "
    "a small part, so that bars of one height are what to expect. A rule that stands out costs "
    "something in the middle as well: a test for every sample, or a division."
)
ORDER = 28


def made_for(plan: Plan) -> bool:
    return len(plan.borders) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "borders")


def figure(data: Data, title: str) -> Figure:
    return names_bars.figure(data, title, "borders", "the border")
