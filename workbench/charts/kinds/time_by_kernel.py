"""Kernel time against kernel size: K² for what adds up every product, K where passes are two."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import time_lines
from workbench.charts.kinds.common import why_not_several

TITLE = "Time by kernel size"
TIP = "Kernel time against the size of the filter's kernel, with quartiles"
READING = (
    "Upwards: kernel time, to the right the size K of the kernel. What adds up every product grows "
    "with K², so that twice the size takes four times as long; what filters rows and then columns "
    "grows with K alone. A step between two sizes is a limit that was reached: registers, shared "
    "memory, or another way chosen. Bars at the points are quartiles."
)
ORDER = 12


def made_for(plan: Plan) -> bool:
    return len(plan.ksizes) > 1 and len(plan.sizes) == 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "ksizes")


def figure(data: Data, title: str) -> Figure:
    return time_lines.figure(data, title, "ksizes")
