"""How many times as fast as a baseline, against kernel size."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import speedup_lines
from workbench.charts.kinds.common import why_not_one_implementation, why_not_several

TITLE = "Speed-up by kernel size"
TIP = "How many times as fast as a baseline, against kernel size"
READING = (
    "Upwards: how many times as fast as the baseline, to the right larger kernels. The line at 1 "
    "is the baseline itself; below it nothing is gained. A line that rises says that the baseline "
    "slows down more quickly with the size; look at the baseline's own time before being "
    "impressed. Transfers are not in it."
)
ORDER = 32


def made_for(plan: Plan) -> bool:  # noqa: ARG001  times come first
    return False


def why_not(data: Data) -> str | None:
    return why_not_several(data, "ksizes") or why_not_one_implementation(data)


def figure(data: Data, title: str) -> Figure:
    return speedup_lines.figure(data, title, "ksizes")
