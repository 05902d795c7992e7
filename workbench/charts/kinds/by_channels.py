"""Kernel time by number of channels, one bar each."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import names_bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Channels"
TIP = "Kernel time by number of channels, with quartiles"
READING = (
    "A bar is the median kernel time with so many channels, its whisker the quartiles. Twice the "
    "channels are twice the samples: times that grow by less had something fixed in them, such as "
    "a launch, and times that grow by more read memory less well. Alpha is copied and not "
    "filtered."
)
ORDER = 24


def made_for(plan: Plan) -> bool:
    return len(plan.channels) > 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "channels")


def figure(data: Data, title: str) -> Figure:
    return names_bars.figure(data, title, "channels", "the number of channels")
