"""Kernel time by block shape, one bar each; the fastest and its equals are all marked."""

from __future__ import annotations

from kernels.core.comparison import EQUAL
from kernels.sweeps.plan import Plan
from workbench.charts.data.figure import Figure
from workbench.charts.data.legend_entries import name_of
from workbench.charts.data.sentences import best_and_worst, by_source
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds import bars
from workbench.charts.kinds.common import why_not_several

TITLE = "Block shapes"
TIP = "Kernel time by block shape; the fastest, and those equal to it, are outlined"
READING = (
    "A bar is the median kernel time with that block shape, its whisker the quartiles: shorter is "
    f"better. Bars that are outlined are the fastest and those {EQUAL} to it: the order among them "
    "means nothing. Where a few shapes stand out as slow, compare their widths first: "
    "neighbouring threads should read neighbouring samples."
)
ORDER = 6
MAX_BARS = 12  # more shapes are easier to read on a map


def made_for(plan: Plan) -> bool:
    return 1 < len(plan.blocks) <= MAX_BARS and len(plan.sizes) * len(plan.ksizes) == 1


def why_not(data: Data) -> str | None:
    return why_not_several(data, "blocks")


def figure(data: Data, title: str) -> Figure:
    return bars.figure(data, title, "blocks", lambda s: by_source(s, _say), is_upright=True)


def _say(shown: Slice) -> str:
    """For each implementation its best shapes and its worst."""
    told = []
    for group in bars.by_series(shown.points):
        if said := best_and_worst(group, "blocks"):
            told.append(f"{name_of(group[0], shown.data)}: {said}.")
    return " ".join(told)
