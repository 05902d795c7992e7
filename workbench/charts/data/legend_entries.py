"""The legend: which series have a line in it, how each looks, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.charts.data.figure import LOOKS, LegendLine, SeriesStyle
from workbench.charts.data.points import Data, Point, Slice
from workbench.model.names import implementation_title, kind_of, place_of

PUBLISHED = "Published"
PUBLISHED_MARKERS = (3, 2, 1, 0)  # of publications over bars, whose places tell implementations
STANDINGS = ("live", "recorded", "published")  # in the legend's order
Entries = Mapping[str, LegendLine]


def entries_of(shown: Slice) -> Entries:
    """The legend by key: a line for each series, and then one for each publication.

    Series are sorted by session, then in the order of the ladder.
    """
    data = shown.data
    first: dict[str, Point] = {}
    for point in shown.points:
        first.setdefault(legend_key(point), point)

    def rank(point: Point) -> tuple[int, int, int]:
        source, key = point.source, point.cell.implementation
        return STANDINGS.index(source.standing), data.sources.index(source), place_of(key)

    found = {}
    for point in sorted(first.values(), key=rank):
        key, style, label = legend_key(point), style_of(point, data), series_label(point, data)
        if point.is_published:  # its lines have their implementations' markers
            style = replace(style, marker=PUBLISHED_MARKERS[style.session % 4], dash="solid")
        name, group = label, ""
        if len(data.own_sources) > 1:
            name, letter = series_name(point, data), data.letter(point.source)
            group = f"{letter}: {point.source.name}" if letter else PUBLISHED
        marks = key in data.choices.hidden, key in data.choices.pinned
        found[key] = LegendLine(key, name, group, label, style, *marks)
    return found


def legend_key(point: Point) -> str:
    """The key of a point's line in the legend: its series', or its publication's."""
    return point.source.key if point.is_published else point.key


def style_of(point: Point, data: Data) -> SeriesStyle:
    """The style of a series, unlike those of other sessions and publications."""
    source, pinned = point.source, data.choices.pinned
    if point.is_published:
        number = alike = [each for each in data.sources if each.is_published].index(source)
    else:
        number = data.own_sources.index(source)
        alike = sum(each.standing == source.standing for each in data.own_sources[:number])
    style = replace(
        _style(data.look_of(point), point.cell.implementation),
        standing=source.standing,
        session=number,
        is_half=alike % 2 == 1,
        is_faint=source.standing == "recorded"
        and any(each.standing == "live" for each in data.own_sources),
        is_pale=bool(pinned) and legend_key(point) not in pinned,
    )
    return replace(style, dash="dot") if point.cell.cache == "warm" else style


def style_of_implementation(key: str) -> SeriesStyle:
    """The style of an implementation that stands beside any others."""
    return _style(place_of(key), key)


def _style(look: int, implementation: str) -> SeriesStyle:
    """The style of a look: up to LOOKS² of them no two have both colour and marker in common."""
    color, marker = look % LOOKS, (look + look // LOOKS) % LOOKS
    return SeriesStyle(color, marker, dash="dash" if kind_of(implementation) == "cpu" else "solid")


# -- names


def series_label(point: Point, data: Data) -> str:
    """The full name: "Shared-memory tile, warm L2 · NVIDIA H200 (recorded)"."""
    name = series_name(point, data)
    if point.is_published:
        return f"{PUBLISHED}: {name}"
    return f"{name} · {point.source.name}" if len(data.own_sources) > 1 else name


def series_name(point: Point, data: Data) -> str:
    """The name without the machine: "OpenCV (8 threads)"."""
    if point.is_published:
        return point.source.name
    name = with_threads(point, data)
    if point.cell.cache is not None and len(data.values("caches")) > 1:
        name += f", {point.cell.cache} L2"
    return name


def with_threads(point: Point, data: Data) -> str:
    """An implementation's title, and on the CPU its number of threads."""
    title = implementation_title(point.cell.implementation)
    threads = data.threads.get((point.source, point.cell.implementation), 0)
    if point.on_gpu or not threads:
        return title
    return f"{title} ({threads} thread{'s' if threads > 1 else ''})"


def end_name(point: Point, data: Data) -> str:
    """The name at the end of a line, as short as it may be: "B · OpenCV (8 threads)"."""
    if point.is_published:
        device = point.source.short_name.replace("GeForce ", "")
        return f"{implementation_title(point.cell.implementation)}, {device}"
    name, letter = series_name(point, data), data.letter(point.source)
    return f"{letter} · {name}" if letter else name
