"""Kernel time against image size, both logarithmic: a power law is a straight line."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import time_lines
from workbench.charts.kinds.common import why_not_several

TITLE = "Time by image size"
TIP = "Kernel time against image size, both axes logarithmic, with quartiles"
READING = (
    "Upwards: kernel time, to the right larger pictures; both axes are logarithmic, so that time "
    "in proportion to the pixels is a straight line, and a constant factor is a constant distance "
    "between two lines. Where a line begins level the device was not busy yet. The sentence below "
    "says from which size on the GPU pays off. Bars at the points are quartiles."
)
ORDER = 10


def made_for(plan: Plan) -> bool:
    return len(plan.sizes) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "sizes")


def figure(data: Data, title: str) -> Figure:
    return time_lines.figure(data, title, "sizes")
