"""The legend: which series have a line in it, how each looks, its name and its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from workbench.charts.data.figure import LOOKS, LegendLine, SeriesStyle
from workbench.charts.data.points import Data, Point, Slice, Source
from workbench.model.names import implementation_title, kind_of, place_of

PUBLISHED = "Published"
PUBLISHED_MARKERS = (3, 2, 1, 0)  # of publications over bars, whose places tell implementations


def entries_of(shown: Slice) -> tuple[LegendLine, ...]:
    """Return the legend: a line for each series, and then one for each publication.

    Series are sorted by session, then in the order of the ladder.
    """
    first: dict[str, Point] = {}
    for point in shown.points:
        first.setdefault(_legend_key(point), point)
    sources, looks = shown.data.sources, looks_of(shown)
    order = sorted(first.values(), key=lambda point: _rank(point, sources))
    return tuple(_entry(point, shown, looks) for point in order)


def entry_of(point: Point, entries: Iterable[LegendLine]) -> LegendLine:
    """Return a point's line in the legend."""
    key = _legend_key(point)
    return next(entry for entry in entries if entry.key == key)


def entry_with_marker(
    point: Point, entries: Iterable[LegendLine], data: Data, looks: Looks
) -> LegendLine:
    """Return that line; on lines, a publication has the markers of its implementations."""
    entry = entry_of(point, entries)
    if point.source.standing != "published":
        return entry
    return replace(entry, style=style_of(point, data, looks))


def style_of(point: Point, data: Data, looks: Looks) -> SeriesStyle:
    """Return the style of a series; a published one has the marker of its implementation."""
    style = _style(looks[point.key], point.cell.implementation)
    pinned = data.choices.pinned
    is_pale = bool(pinned) and _legend_key(point) not in pinned
    standing = point.source.standing
    is_faint = standing == "recorded" and any(s.standing == "live" for s in data.own_sources)
    style = replace(style, standing=standing, is_faint=is_faint, is_pale=is_pale)
    style = _of_its_session(style, point.source, data)
    return replace(style, dash="dot") if point.cell.cache == "warm" else style


def style_of_implementation(key: str) -> SeriesStyle:
    """Return the style of an implementation that stands beside any others."""
    return _style(place_of(key), key)


def _style(look: int, implementation: str) -> SeriesStyle:
    """Return the style of a look: GPU solid, CPU dashed."""
    dash: Literal["dash", "solid"] = "dash" if kind_of(implementation) == "cpu" else "solid"
    return SeriesStyle(*color_and_marker(look), dash=dash)


def _of_its_session(style: SeriesStyle, source: Source, data: Data) -> SeriesStyle:
    """Return a style unlike those of the other sessions, or of the other publications."""
    if source.standing == "published":
        others = [each for each in data.sources if each.standing == "published"]
        at = others.index(source)
        return replace(style, session=at, is_half=at % 2 == 1)
    number = data.own_sources.index(source)
    alike = sum(each.standing == source.standing for each in data.own_sources[:number])
    return replace(style, session=number, is_half=alike % 2 == 1)


def series_label(point: Point, data: Data) -> str:
    """Return the full name: "Shared-memory tile, warm L2 · NVIDIA H200 (recorded)"."""
    name = series_name(point, data)
    if point.source.standing == "published":
        return f"{PUBLISHED}: {name}"
    if len(data.own_sources) > 1:
        return f"{name} · {_whose(point, data)}"
    return name


def end_name(point: Point, data: Data) -> str:
    """Return the name at the end of a line, as short as it may be."""
    title = implementation_title(point.cell.implementation)
    if point.source.standing == "published":
        device = point.source.machine_of(point.cell.implementation).partition(",")[0]
        device = device.partition(" (")[0].replace("GeForce ", "")
        return f"{title}, {device}"
    return lettered(point, data)


def lettered(point: Point, data: Data) -> str:
    """Return the name with its session's letter, where there are several: "B · OpenCV"."""
    name, letter = series_name(point, data), data.letter(point.source)
    return f"{letter} · {name}" if letter else name


def _whose(point: Point, data: Data) -> str:
    """Return the GPU or CPU that ran it, or the whole machine if another session shares that."""
    key = point.cell.implementation
    part = point.source.machine_of(key)
    same = [each for each in data.own_sources if each.machine_of(key) == part]
    return part if len(same) == 1 else point.source.name


def series_name(point: Point, data: Data) -> str:
    """Return the name without the machine: "OpenCV (8 threads)"."""
    if point.source.standing == "published":
        return point.source.name
    name = with_threads(point, data)
    if point.cell.cache is not None and len(data.values("caches")) > 1:
        name += f", {point.cell.cache} L2"
    return name


def with_threads(point: Point, data: Data) -> str:
    """Return an implementation's title, and on the CPU how many threads it had."""
    title = implementation_title(point.cell.implementation)
    if point.on_gpu:
        return title
    threads = data.threads.get((point.source, point.cell.implementation), 0)
    return f"{title} ({threads} thread{'s' if threads > 1 else ''})" if threads else title


def _entry(point: Point, shown: Slice, looks: Looks) -> LegendLine:
    choices, key = shown.data.choices, _legend_key(point)
    style = style_of(point, shown.data, looks)
    if point.source.standing == "published":
        marker = PUBLISHED_MARKERS[style.session % len(PUBLISHED_MARKERS)]
        style = replace(style, marker=marker, dash="solid")
    name = label = series_label(point, shown.data)
    if point.source.standing == "published" and not _has_gpu(point.source, shown):
        name = label = f"{PUBLISHED}: {point.source.machine_of(point.cell.implementation)}"
    group = ""
    if len(shown.data.own_sources) > 1:
        name = series_name(point, shown.data)
        group = PUBLISHED if point.source.standing == "published" else point.source.name
        if letter := shown.data.letter(point.source):
            group = f"{letter}: {group}"
    return LegendLine(key, name, group, label, style, key in choices.hidden, key in choices.pinned)


def _has_gpu(source: Source, shown: Slice) -> bool:
    return any(point.on_gpu for point in shown.points if point.source == source)


def _legend_key(point: Point) -> str:
    return point.source.key if point.source.standing == "published" else point.key


def _rank(point: Point, sources: Sequence[Source]) -> tuple[int, int, int]:
    standing = ("live", "recorded", "published").index(point.source.standing)
    return standing, sources.index(point.source), place_of(point.cell.implementation)


Looks = Mapping[str, int]


def color_and_marker(look: int) -> tuple[int, int]:
    """Return the numbers of both; up to LOOKS² of them no two looks have both in common."""
    return look % LOOKS, (look + look // LOOKS) % LOOKS


def looks_of(shown: Slice) -> Looks:
    """Return a look for each series of a chart, by its key.

    Up to LOOKS series in sight have one each, and keep it from chart to chart of the same sessions
    if nobody else has it. Of more, series of one implementation share its look. A published one
    has that of what was measured of its implementation.
    """
    preferred = _preferred(shown.data)
    looks = dict(preferred)
    hidden = shown.data.choices.hidden
    own = [p for p in shown.points if p.key in preferred and (p.ms or p.is_wrong)]
    here = {point.key for point in own} - hidden
    if len(here) <= LOOKS:
        looks |= _each_its_own([key for key in preferred if key in here], preferred)
    by_implementation = {shown.data.series[key]: looks[key] for key in reversed([*preferred])}
    taken = {look % LOOKS for look in looks.values()}
    free = iter([each for each in range(LOOKS) if each not in taken])
    for point in shown.points:
        name = point.cell.implementation
        if point.key not in looks:
            if name not in by_implementation:
                by_implementation[name] = next(free, place_of(name))
            looks[point.key] = by_implementation[name]
    return looks


def _preferred(data: Data) -> dict[str, int]:
    """Return the look of each planned series, whatever one chart shows of them."""
    if len(data.series) <= LOOKS:
        return {key: number for number, key in enumerate(data.series)}
    names = sorted(set(data.series.values()), key=lambda name: (place_of(name), name))
    return {key: names.index(name) for key, name in data.series.items()}


def _each_its_own(keys: list[str], preferred: Mapping[str, int]) -> dict[str, int]:
    """Return a look of its own for each of at most LOOKS keys, the preferred one if it is free."""
    looks: dict[str, int] = {}
    for key in keys:
        if (look := preferred[key] % LOOKS) not in looks.values():
            looks[key] = look
    for key in keys:
        if key not in looks:
            looks[key] = next(n for n in range(LOOKS) if n not in looks.values())
    return looks


class LegendPlace(NamedTuple):
    """The place of an entry, or of a machine's name before its entries, in pixels."""

    row: int
    x: float
    wide: float


class Rows(NamedTuple):
    """The places of everything in a legend.

    headings  the name of each machine and its place, where there are several
    entries   one place each
    total     how many rows there are
    """

    headings: list[tuple[str, LegendPlace]]
    entries: list[LegendPlace]
    total: int


def rows_of(
    entries: Sequence[LegendLine],
    wide_px: float,
    entry_px: Callable[[LegendLine], float],
    heading_px: Callable[[str], float],
) -> Rows:
    """Place as many entries per row as fit; each machine begins a new row."""
    headings: list[tuple[str, LegendPlace]] = []
    places: list[LegendPlace] = []
    row, x, group = 0, 0.0, ""
    for entry in entries:
        if entry.group != group:
            row += 1 if x > 0 else 0
            group, wide = entry.group, min(heading_px(entry.group), wide_px)
            headings.append((group, LegendPlace(row, 0.0, wide)))
            x = wide
        wide = min(entry_px(entry), wide_px)
        if x > 0 and x + wide > wide_px:
            row, x = row + 1, 0.0
        places.append(LegendPlace(row, x, wide))
        x += wide
    return Rows(headings, places, row + 1 if entries else 0)
