"""How many times as fast as a baseline, along a dimension: what the charts of it have in common."""

from __future__ import annotations

from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Axis, Figure, Guide, Plot
from workbench.charts.data.legend_entries import name_of
from workbench.charts.data.points import Point
from workbench.charts.data.sentences import by_source
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds import lines
from workbench.charts.kinds.common import (
    SpeedUp,
    baseline_option,
    beside_baseline,
    is_log,
    made,
    single_notes,
    speed_ups,
)


def figure(data: Data, title: str, name: str) -> Figure:
    """Speed-up against `name`; the baseline is named with its threads."""
    shown = lines.slice_along(data, name)
    option = baseline_option(shown)
    baseline = option.chosen if option else ""
    against = dict(option.values)[baseline] if option else "nothing measured yet"
    found = speed_ups(shown.points, shown.points, baseline)
    ratios = {id(each.point): each for each in found}
    series = lines.series_of(
        shown,
        name,
        lambda point: ratios[id(point)].ratio if id(point) in ratios else None,
        lambda point: f"{ratios[id(point)].in_words} as fast as {against}",
    )
    x = lines.x_axis(shown, name)
    log = is_log(shown, [*lines.ends(series), 1.0])
    y = Axis(
        f"Speed-up: times as fast as {against}; the line: equally fast",
        numbers.ratio,
        log,
        ends=(1.0, 1.0),
    )
    assert x.ends is not None
    even = Guide(((x.ends[0], 1.0), (x.ends[1], 1.0)), "")
    return made(
        shown,
        f"{title}, against {against}",
        Plot(x, y, series, (even,)),
        by_source(shown, lambda own: _best(own, found, name, against)),
        options=(option,) if option else (),
        notes=(
            *_missing(shown, baseline, against),
            *single_notes(shown.points, shown.points, baseline),
        ),
    )


def _best(shown: Slice, found: list[SpeedUp], name: str, against: str) -> str:
    """The most there is, and what it is at the other end."""
    mine = {id(point) for point in shown.points}
    own = [each for each in found if id(each.point) in mine]
    if len(own) < 2:
        return ""
    best = max(own, key=lambda each: each.ratio.middle)
    least, most = _at_ends(own, best.point, name)
    who = name_of(best.point, shown.data)
    where = chart_dimensions.in_words(name, chart_dimensions.of(best.point.cell, name))
    ratio = numbers.ratio(best.ratio.middle)
    if best.ratio.middle < 1.05:
        return f"Nothing is faster than {against}."
    other = least if most is best else most
    rest = ""
    if other is not best and other is not None:
        place = chart_dimensions.in_words(name, chart_dimensions.of(other.point.cell, name))
        rest = f"; at {place} {numbers.ratio(other.ratio.middle)}"
    return f"At best {who} is {ratio} as fast as {against}, at {where}{rest}."


def _at_ends(own: list[SpeedUp], best: Point, name: str) -> tuple[SpeedUp | None, SpeedUp | None]:
    line = [each for each in own if each.point.key == best.key]
    line.sort(key=lambda each: lines.place(chart_dimensions.of(each.point.cell, name)))
    return line[0], line[-1]


def _missing(shown: Slice, baseline: str, against: str) -> tuple[str, ...]:
    """Who has no speed-up because its machine did not run the baseline."""
    found = {id(point) for point, _ in beside_baseline(shown.points, shown.points, baseline)}
    left = [p for p in shown.points if p.ms and id(p) not in found]
    names = dict.fromkeys(p.source.name for p in left)
    return tuple(f"{name}: {against} was not measured on the same work." for name in names)
