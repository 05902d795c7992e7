"""Charts of lines along a dimension of numbers: time, throughput and speed-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import by_source, details, fastest, pays_off
from workbench.charts.data.figure import Axis, Dot, Figure, Guide, LegendLine, Plot, Series
from workbench.charts.data.legend_entries import (
    end_name,
    entries_of,
    entry_of,
    looks_of,
    series_label,
    series_name,
    style_of,
)
from workbench.charts.data.points import Data, Point, Slice, Spread
from workbench.charts.kinds.chart_kind import (
    SERIES,
    ChartKind,
    expected,
    is_log,
    made,
    varies,
    visible,
    why_not_several,
)
from workbench.charts.kinds.speed_ups import Against, rate_of

LARGE_RANGE = 8  # of kernel sizes; from here on they stand by their logarithm
LABELS = {
    "sizes": "Image size in pixels",
    "ksizes": "Kernel size",
    "counts": "Pictures one after another",
}


def place(value: object) -> float:
    """A value's place along x: for picture sizes, the number of pixels."""
    return float(value[0] * value[1] if isinstance(value, tuple) else value)  # type: ignore[arg-type]


def _x_axis(shown: Slice, name: str) -> tuple[Axis, tuple[float, float]]:
    """An axis with ticks where something is, or will be, measured; and its ends."""
    values = {point.value(name) for point in shown.points}
    if shown.data.is_so_far:
        values.update(shown.data.values(name))
    places = sorted((place(value), chart_dimensions.in_words(name, value)) for value in values)
    ends = low, high = places[0][0], places[-1][0]
    log = name != "ksizes" or high / low >= LARGE_RANGE
    return Axis(LABELS[name], str, log, tuple(places), ends), ends


def _series(
    shown: Slice,
    name: str,
    spread_of: Callable[[Point], Spread | None],
    more: Callable[[Point], str] = lambda _: "",
) -> tuple[Series, ...]:
    """The series that are not hidden; pinned ones come last and so are on top.

    spread_of  the height of a point; None: it has none
    more       a line of a point's tooltip beside its details
    """
    data, entries, looks = shown.data, entries_of(shown), looks_of(shown)
    found: dict[str, list[Dot]] = {}
    first: dict[str, Point] = {}
    for point in visible(shown):
        x, text = place(point.value(name)), details(point, series_label(point, data))
        if point.is_wrong:
            dot = Dot(x, 0.0, 0.0, 0.0, text, point.cell, is_wrong=True)
        elif spread := spread_of(point):
            text = "\n".join(filter(None, (text, more(point))))
            dot = Dot(x, *spread, text, point.target)
        else:
            continue
        first.setdefault(point.key, point)
        found.setdefault(point.key, []).append(dot)

    def entry(point: Point) -> LegendLine:
        found = entry_of(point, entries)  # of a publication, with its implementation's marker
        return replace(found, style=style_of(point, data, looks)) if point.is_published else found

    series = [
        Series(
            entry(first[key]),
            tuple(sorted(dots, key=lambda d: d.x)),
            name=end_name(first[key], data),
        )
        for key, dots in found.items()
    ]
    return tuple(
        sorted(series, key=lambda s: (s.entry.is_pinned, s.entry.style.standing != "published"))
    )


def _times(data: Data, title: str, *, name: str) -> Figure:
    """Time against `name`, with who is fastest and from where the GPU pays off."""
    shown = data.slice(name, *SERIES)
    log = is_log(shown, [ms for _, ms in expected(shown)], always=name != "ksizes")
    y = Axis("Time: median, quartiles as a bar", numbers.duration, log)
    body = Plot(_x_axis(shown, name)[0], y, _series(shown, name, lambda point: point.ms))
    said = by_source(shown, lambda own: f"{fastest(own, name)} {pays_off(own, name)}".strip())
    return made(shown, title, body, said)


def _throughput(data: Data, title: str) -> Figure:
    """Megapixels per second against image size."""
    shown = data.slice("sizes", *SERIES)
    log = is_log(shown, [cell.megapixels / ms for cell, ms in expected(shown)])
    y = Axis("Pixels per second: median, quartiles as a bar", numbers.pixel_rate, log)
    body = Plot(_x_axis(shown, "sizes")[0], y, _series(shown, "sizes", rate_of))
    return made(shown, title, body, by_source(shown, _say_most))


def _say_most(shown: Slice) -> str:
    rates = {p: rate.middle for p in shown.measured if (rate := rate_of(p))}
    if not rates:
        return ""
    best = max(rates, key=lambda point: rates[point])
    where = chart_dimensions.where(best.cell, ["sizes"])
    most = numbers.pixel_rate(rates[best])
    return f"{series_name(best, shown.data)} filters the most, {most} at {where}."


def _speed_ups(data: Data, title: str, *, name: str) -> Figure:
    """Speed-up against `name`; the baseline is named with its threads."""
    shown = data.slice(name, *SERIES)
    against = Against(shown, shown)
    series = _series(shown, name, against.of, against.beside)
    heights = [dot.y for each in series for dot in each.dots if not dot.is_wrong]
    label = f"Speed-up: times as fast as {against.name}; the line: equally fast"
    y = Axis(label, numbers.ratio, is_log(shown, [*heights, 1.0]), ends=(1.0, 1.0))
    x, (low, high) = _x_axis(shown, name)
    return made(
        shown,
        f"{title}, against {against.name}",
        Plot(x, y, series, (Guide(((low, 1.0), (high, 1.0))),)),
        by_source(shown, lambda own: _say_best(own, against, name)),
        options=against.option,
        notes=(*_missing(shown, against), *against.notes),
    )


def _say_best(shown: Slice, against: Against, name: str) -> str:
    """Say the best speed-up, and the one at the other end of that line."""
    rated = [(p, ratio.middle) for p in shown.points if (ratio := against.of(p))]
    if len(rated) < 2:
        return ""
    best, most = max(rated, key=lambda pair: pair[1])
    if most < 1.05:
        return f"Nothing is faster than {against.name}."
    line = [pair for pair in rated if pair[0].key == best.key]
    line.sort(key=lambda pair: place(pair[0].value(name)))
    other, less = line[0] if line[-1][0] is best else line[-1]
    where, there = (chart_dimensions.where(point.cell, [name]) for point in (best, other))
    rest = "" if other is best else f"; at {there} {numbers.speed_up(less)}"
    who = series_name(best, shown.data)
    return f"At best {who} is {numbers.ratio(most)} as fast as {against.name}, at {where}{rest}."


def _missing(shown: Slice, against: Against) -> tuple[str, ...]:
    """Name the sources without speed-ups, whose machine did not run the baseline."""
    having = {id(point) for point, _ in against.pairs}
    names = dict.fromkeys(p.source.name for p in shown.points if p.ms and id(p) not in having)
    return tuple(f"{each}: {against.name} was not measured on the same work." for each in names)


KINDS = {
    **{
        f"time_by_{key}": ChartKind(
            partial(why_not_several, names=(name,)), partial(_times, name=name), fits
        )
        for key, name, fits in (
            ("size", "sizes", varies("sizes")),
            ("kernel", "ksizes", lambda plan: len(plan.ksizes) > 1 and len(plan.sizes) == 1),
            ("count", "counts", varies("counts")),
        )
    },
    **{
        f"speedup_by_{key}": ChartKind(
            partial(why_not_several, names=(name, "implementations")),
            partial(_speed_ups, name=name),
        )
        for key, name in (("size", "sizes"), ("kernel", "ksizes"))
    },
    "throughput": ChartKind(partial(why_not_several, names=("sizes",)), _throughput),
}
