"""Charts of lines along a dimension of numbers: time, and throughput."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import by_source, details, fastest, pays_off
from workbench.charts.data.figure import Axis, Dot, Figure, LegendLine, Plot, Series
from workbench.charts.data.legend_entries import (
    end_name,
    entries_of,
    entry_with_marker,
    looks_of,
    series_label,
    series_name,
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

LARGE_RANGE = 8  # of kernel sizes; from here on they stand by their logarithm
LABELS = {
    "sizes": "Image size in pixels",
    "ksizes": "Kernel size",
    "counts": "Pictures one after another",
}


def slice_along(data: Data, name: str) -> Slice:
    """Return the slice that lines along the dimension `name` show."""
    return data.slice(name, *SERIES)


def x_axis(shown: Slice, name: str) -> Axis:
    """Return an axis with ticks where something is, or will be, measured."""
    values = {chart_dimensions.of(point.cell, name) for point in shown.points}
    if shown.data.is_so_far:
        values.update(shown.data.values(name))
    places = sorted((place(value), chart_dimensions.in_words(name, value)) for value in values)
    low, high = places[0][0], places[-1][0]
    log = name != "ksizes" or high / low >= LARGE_RANGE
    return Axis(LABELS[name], str, log, tuple(places), (low, high))


def place(value: object) -> float:
    """Return a value's place along x: for picture sizes, the number of pixels."""
    return float(value[0] * value[1] if isinstance(value, tuple) else value)  # type: ignore[arg-type]


def series_of(
    shown: Slice,
    name: str,
    spread_of: Callable[[Point], Spread | None],
    more: Callable[[Point], str] = lambda _: "",
) -> tuple[Series, ...]:
    """Return the series that are not hidden; pinned ones come last and so are on top.

    spread_of  the height of a point; None: it has none
    more       what is said about a point beside its details
    """
    data, entries, looks = shown.data, entries_of(shown), looks_of(shown)
    found: dict[str, list[Dot]] = {}
    owner: dict[str, LegendLine] = {}
    names: dict[str, str] = {}
    for point in visible(shown):
        dot = _dot(point, name, shown, spread_of(point), more)
        if dot:
            found.setdefault(point.key, []).append(dot)
            owner.setdefault(point.key, entry_with_marker(point, entries, data, looks))
            names.setdefault(point.key, end_name(point, data))
    series = [
        Series(owner[key], tuple(sorted(dots, key=lambda dot: dot.x)), name=names[key])
        for key, dots in found.items()
    ]

    def place_of(each: Series) -> tuple[bool, bool]:
        return each.entry.is_pinned, each.entry.style.standing != "published"

    return tuple(sorted(series, key=place_of))


def heights(series: Iterable[Series]) -> list[float]:
    """Return all heights, to tell whether an axis should be logarithmic."""
    return [dot.y for each in series for dot in each.dots if not dot.is_wrong]


def _dot(
    point: Point, name: str, shown: Slice, spread: Spread | None, more: Callable[[Point], str]
) -> Dot | None:
    x = place(chart_dimensions.of(point.cell, name))
    label = series_label(point, shown.data)
    if point.is_wrong:
        return Dot(x, 0.0, 0.0, 0.0, details(point, label), point.cell, is_wrong=True)
    if spread is None:
        return None
    text = "\n".join(filter(None, (details(point, label), more(point))))
    cell = None if point.source.standing == "published" else point.cell
    return Dot(x, *spread, text, cell)


def _times(data: Data, title: str, *, name: str) -> Figure:
    """Return time against `name`, with who is fastest and from where the GPU pays off."""
    shown = slice_along(data, name)
    series = series_of(shown, name, lambda point: point.ms)
    log = is_log(shown, [ms for _, ms in expected(shown)], always=name != "ksizes")
    y = Axis("Time: median, quartiles as a bar", numbers.duration, log)
    said = by_source(shown, lambda own: f"{fastest(own, name)} {pays_off(own, name)}".strip())
    return made(shown, title, Plot(x_axis(shown, name), y, series), said)


def _throughput(data: Data, title: str) -> Figure:
    """Return megapixels per second against image size."""
    shown = slice_along(data, "sizes")
    series = series_of(shown, "sizes", rate_of)
    log = is_log(shown, [cell.megapixels / ms for cell, ms in expected(shown)])
    y = Axis("Pixels per second: median, quartiles as a bar", numbers.pixel_rate, log)
    body = Plot(x_axis(shown, "sizes"), y, series)
    return made(shown, title, body, by_source(shown, _say_most))


def rate_of(point: Point) -> Spread | None:
    """Return a point's rate in megapixels per second; None without a time."""
    if point.ms is None:
        return None
    pixels = point.cell.megapixels * 1e3
    return Spread(pixels / point.ms.middle, pixels / point.ms.high, pixels / point.ms.low)


def _say_most(shown: Slice) -> str:
    rates = {p: rate for p in shown.measured if (rate := rate_of(p))}
    if not rates:
        return ""
    best = max(rates, key=lambda point: rates[point].middle)
    most, where = (
        numbers.pixel_rate(rates[best].middle),
        chart_dimensions.where(best.cell, ["sizes"]),
    )
    return f"{series_name(best, shown.data)} filters the most, {most} at {where}."


KINDS = (
    ChartKind(
        "time_by_size",
        "Time by image size",
        "Time against image size, both axes logarithmic, with quartiles",
        "Upwards: time, to the right larger pictures; both axes are logarithmic, so that "
        "time in proportion to the pixels is a straight line, and a constant factor is a constant "
        "distance between two lines. Where a line begins level the device was not busy yet. The "
        "sentence below says from which size on the GPU pays off. Bars at the points are "
        "quartiles.",
        10,
        partial(why_not_several, name="sizes"),
        partial(_times, name="sizes"),
        varies("sizes"),
    ),
    ChartKind(
        "time_by_kernel",
        "Time by kernel size",
        "Time against the size of the filter's kernel, with quartiles",
        "Upwards: time, to the right the size K of the kernel. What adds up every product "
        "grows with K², so that twice the size takes four times as long; what filters rows and "
        "then columns grows with K alone. A step between two sizes is a limit that was reached: "
        "registers, shared memory, or another way chosen. Bars at the points are quartiles.",
        12,
        partial(why_not_several, name="ksizes"),
        partial(_times, name="ksizes"),
        lambda plan: len(plan.ksizes) > 1 and len(plan.sizes) == 1,
    ),
    ChartKind(
        "time_by_count",
        "Time by number of pictures",
        "Time of so many pictures one after another, with quartiles",
        "Upwards: the time of so many pictures, one after another; both axes are "
        "logarithmic. A straight line that climbs one decade for each decade to the right costs "
        "the same for every picture. Where it begins level, something is paid once whatever the "
        "number, such as a launch, and many pictures share it.",
        14,
        partial(why_not_several, name="counts"),
        partial(_times, name="counts"),
        varies("counts"),
    ),
    ChartKind(
        "throughput",
        "Throughput by image size",
        "Megapixels per second against image size, with quartiles",
        "Upwards: megapixels filtered per second, transfers excluded; to the right larger "
        "pictures. A level line says that the device is busy and time is in proportion to the "
        "pixels; where it rises, small pictures leave part of it idle; where it falls, what fitted "
        "into a cache does so no longer. Compare heights on the level part alone.",
        40,
        partial(why_not_several, name="sizes"),
        _throughput,
    ),
)
