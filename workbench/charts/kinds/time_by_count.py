"""Kernel time against the number of pictures filtered one after another."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import time_lines
from workbench.charts.kinds.common import why_not_several

TITLE = "Time by number of pictures"
TIP = "Kernel time of so many pictures one after another, with quartiles"
READING = (
    "Upwards: the kernel time of so many pictures, one after another; both axes are logarithmic. A "
    "straight line that climbs one decade for each decade to the right costs the same for every "
    "picture. Where it begins level, something is paid once whatever the number, such as a launch, "
    "and many pictures share it."
)
ORDER = 14


def made_for(plan: Plan) -> bool:
    return len(plan.counts) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "counts")


def figure(data: Data, title: str) -> Figure:
    return time_lines.figure(data, title, "counts")
