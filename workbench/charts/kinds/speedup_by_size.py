"""How many times as fast as a baseline, against image size."""

from __future__ import annotations

from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.slices import Data
from workbench.charts.kinds import speedup_lines
from workbench.charts.kinds.common import why_not_one_implementation, why_not_several

TITLE = "Speed-up by image size"
TIP = "How many times as fast as a baseline, against image size"
READING = (
    "Upwards: how many times as fast as the baseline, to the right larger pictures. The line at 1 "
    "is the baseline itself. Lines that rise and then stay level are the usual picture: small ones "
    "do not fill a GPU. Where one falls again, caches have become too small for the picture. "
    "Transfers are not in it."
)
ORDER = 30


def made_for(plan: Plan) -> bool:  # noqa: ARG001  times come first
    return False


def why_not(data: Data) -> str | None:
    return why_not_several(data, "sizes") or why_not_one_implementation(data)


def figure(data: Data, title: str) -> Figure:
    return speedup_lines.figure(data, title, "sizes")
