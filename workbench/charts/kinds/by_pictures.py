"""Kernel time by kind of picture, one bar each."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import names_bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Picture kinds"
TIP = "Kernel time by kind of picture, with quartiles"
READING = (
    "A bar is the median kernel time on that kind of picture, its whisker the quartiles. The sums "
    "are the same whatever the samples are, so that bars should be of one height: that is what "
    "this chart is there to show. Where they differ, look at the quartiles, at power (numbers of "
    "many ones take more of it) and at what the CPU's arithmetic does with very small numbers."
)
ORDER = 20


def made_for(plan: Plan) -> bool:
    return len(plan.pictures) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "pictures")


def figure(data: Data, title: str) -> Figure:
    return names_bars.figure(data, title, "pictures", "the kind of picture")
