"""Kernel time by a dimension of names, such as kinds of picture: whether it matters at all."""

from __future__ import annotations

from kernels.core.comparison import how_equal
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import list_of
from workbench.charts.data.figure import Figure
from workbench.charts.data.legend_entries import name_of
from workbench.charts.data.points import Point
from workbench.charts.data.sentences import apart, best_of, by_source, how_long
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds import bars


def figure(data: Data, title: str, name: str, what: str) -> Figure:
    """what  "the kind of picture", for the sentence"""

    def say(shown: Slice) -> str:
        return by_source(shown, lambda own: _say(own, name, what))

    return bars.figure(data, title, name, say, is_upright=False)


def _say(shown: Slice, name: str, what: str) -> str:
    groups = [g for g in bars.by_series(shown.points) if len(g) > 1]
    same = [g for g in groups if len(best_of(g)) == len(g)]
    if groups and len(same) == len(groups):
        return f"{what[0].upper()}{what[1:]} makes no difference: all are {_how(same)}."
    told = [_worst(group, name, shown) for group in groups if group not in same]
    if same:
        names = list_of([name_of(group[0], shown.data) for group in same])
        told.append(f"For {names} it makes no difference: all are {_how(same)}.")
    return " ".join(told)


def _how(groups: list[list[Point]]) -> str:
    """How those of one group are equal, in words that hold for all groups."""
    return how_equal(max(map(apart, groups)))


def _worst(group: list[Point], name: str, shown: Slice) -> str:
    times = {id(p): p.ms.middle for p in group if p.ms}
    slow = max(group, key=lambda p: times[id(p)])
    fast = min(group, key=lambda p: times[id(p)])
    slower, faster = (
        chart_dimensions.in_words(name, chart_dimensions.of(point.cell, name))
        for point in (slow, fast)
    )
    longer = how_long(times[id(slow)] / times[id(fast)], f"with {faster}")
    return f"{name_of(slow, shown.data)}: with {slower} it takes {longer}."
