"""Time by a dimension of names and by block shape, and the ladder with transfers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kernels.sweeps.step_words import AND
from workbench.base import numbers
from workbench.charts.data import chart_words
from workbench.charts.data.figure import Axis, Bar, Bars, Dot, Figure, Group, Plot, Series
from workbench.charts.data.points import (
    STANDINGS,
    Data,
    Entries,
    Point,
    Slice,
    Spread,
    end_name,
    entries_of,
    legend_key,
    series_name,
    spread,
    timed,
)
from workbench.charts.kinds import SERIES, ChartKind, is_log, made, several, varies, visible
from workbench.model import cell_words
from workbench.model.names import place_of

SHAPES = "Block width × height"
STACKED = "Median time of each step alone; outlined: the list as a whole"
OWN_BLOCK = "own block"  # of implementations that have one, and leave no choice
# Why a CPU has no place by a dimension.
NO_PLACE = {"blocks": "no blocks on a CPU", "devices": "on the CPU"}
MAX_SHAPES = 12  # more are easier to read on a map
GROUP_SHARE = 0.7  # of the room of a block shape, taken by its series
Columns = Mapping[str, Sequence[Point]]
BY_NAMES = ("devices", "pictures", "lists", "filters", "channels", "pixel_types", "borders")


def _figure(data: Data, title: str, *, name: str) -> Figure:
    """Time by `name`; of each series the fastest, and those equal to it, are outlined."""
    everything = data.slice(name, *SERIES)
    own = name == "blocks"  # which a rung may have of its own
    able = (p for p in everything.points if p.value(name) is not None or (own and p.on_gpu))
    shown = everything.of(able)
    entries = entries_of(shown)
    order = {key: number for number, key in enumerate(entries)}
    points = sorted(visible(shown), key=lambda point: order[legend_key(point)])
    best: set[int] = set()
    for group in _by_series(points):  # outlined: none where all are equal, or there is only one
        top = chart_words.best_of(group)
        best |= {id(point) for point in top if len(top) < len(group)}
    columns: dict[str, list[Point]] = {}
    for value in (*data.values(name), None):
        if those := [point for point in points if point.value(name) == value]:
            label = OWN_BLOCK if value is None else cell_words.in_words(name, value)
            columns[label] = those
    log = is_log(shown, [point.median_ms for point in timed(shown.points)])
    axis = Axis("Median time and quartiles; outlined: fastest and equals", numbers.duration, log)
    body: Bars | Plot
    if name == "blocks":
        body = _dots_by_shape(columns, shown, entries, best, axis)
    else:
        groups = []
        for label, those in columns.items():
            bars = (replace(bar_of(p, shown, entries), is_best=id(p) in best) for p in those)
            groups.append(Group(label, tuple(bars)))
        body = Bars(axis, tuple(groups))
    without = [p for p in everything.measured if p.value(name) is None and not p.on_gpu]
    left_out = chart_words.hidden_points(without, NO_PLACE.get(name, ""))
    said = chart_words.by_source(shown, partial(_say, name=name))
    return made(shown, title, body, said, notes=left_out)


def _dots_by_shape(
    columns: Columns, shown: Slice, entries: Entries, best: Collection[int], y: Axis
) -> Plot:
    """A column of dots for each block shape; published ones stand over their implementation's."""
    slots: dict[str, int] = {}
    for point in (point for those in columns.values() for point in those):
        name = point.cell.implementation
        slot = slots.setdefault(name if point.is_published else point.key, len({*slots.values()}))
        slots.setdefault(name, slot)
    count = len({*slots.values()})
    found: dict[str, list[Dot]] = {}
    for number, those in enumerate(columns.values()):
        for point in those:
            slot = slots[point.cell.implementation if point.is_published else point.key]
            x = number + GROUP_SHARE * (slot - (count - 1) / 2) / count
            text, spread = chart_words.tip_of(point, shown.data), point.ms or (0.0, 0.0, 0.0)
            if point.ms or point.is_wrong:
                dot = Dot(x, *spread, text, point.target, point.is_wrong, id(point) in best)
                found.setdefault(legend_key(point), []).append(dot)
    series = (Series(entries[key], tuple(dots), joined=False) for key, dots in found.items())
    ticks = tuple((float(number), label) for number, label in enumerate(columns))
    ends = -0.5, len(ticks) - 0.5
    return Plot(Axis(SHAPES, str, ticks=ticks, ends=ends, turns=True), y, tuple(series))


def _by_series(points: Iterable[Point]) -> list[list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in timed(points):
        if not point.is_published:
            found.setdefault(point.key, []).append(point)
    return list(found.values())


def bar_of(point: Point, shown: Slice, entries: Entries) -> Bar:
    """A point as a bar; without a valid time, a word or two stand in its place."""
    entry, text = entries[legend_key(point)], chart_words.tip_of(point, shown.data)
    if point.ms is None:
        words = "✗ wrong" if point.is_wrong else "refused"
        return Bar(entry, None, 0.0, 0.0, words, text, point.target)
    return Bar(entry, *point.ms, chart_words.time_of(point), text, point.target)


def _say(shown: Slice, *, name: str) -> str:
    told = []
    for group in _by_series(shown.points):
        if said := chart_words.best_and_worst(group, name):
            told.append(f"{series_name(group[0], shown.data)}, {said}.")
    return " ".join(told)


# -- lists of steps


def _why_no_steps(data: Data) -> str | None:
    found = any(point.measurement and point.measurement.steps for point in data.points)
    return None if found else "No list of steps is measured."


def _stacked(data: Data, title: str) -> Figure:
    everything = data.slice("lists", *SERIES)
    shown = everything.of(point for point in everything.points if point.cell.list)
    entries, groups = entries_of(shown), list[Group]()
    points = sorted(visible(shown), key=lambda point: [*entries].index(legend_key(point)))
    for value in data.values("lists"):
        those = [point for point in points if point.cell.list == value]
        if bars := tuple(_with_pieces(bar_of(p, shown, entries), p) for p in those):
            groups.append(Group(cell_words.in_words("lists", value), bars))
    body = Bars(Axis(STACKED, numbers.duration), tuple(groups))
    return made(shown, title, body, chart_words.by_source(shown, _say_differences))


def _with_pieces(bar: Bar, point: Point) -> Bar:
    if bar.value is None or point.measurement is None:
        return bar
    steps = zip(point.cell.list.split(AND), point.measurement.steps, strict=False)
    named = [(f"{word} {numbers.duration(e.median_ms)}", e.median_ms) for word, e in steps]
    lines = [bar.text, *(f"step {name}" for name, _ in named), _difference(point)]
    return replace(bar, pieces=tuple(named), text="\n".join(filter(None, lines)))


def _more_ms(point: Point) -> float:
    """What a list takes more, timed in one go on a GPU, than the sum of its steps; else 0."""
    found = point.measurement if point.ms and point.on_gpu else None
    if found is None or not found.steps or found.is_sum:
        return 0.0
    return point.median_ms - sum(each.median_ms for each in found.steps)


def _difference(point: Point) -> str:
    more_ms = _more_ms(point)
    said = f"{numbers.duration(abs(more_ms))} {'more' if more_ms > 0 else 'less'}"
    return f"as a whole {said} than its steps one by one" if more_ms else ""


def _say_differences(shown: Slice) -> str:
    most = max(shown.measured, key=lambda point: abs(_more_ms(point)), default=None)
    if most is None or not _more_ms(most):
        return ""
    name = f"{series_name(most, shown.data)}, {cell_words.list_title(most.cell.list)}"
    return f"Largest difference: {name}, {_difference(most)}."


# -- the ladder


def _ladder(data: Data, title: str) -> Figure:
    shown = data.slice(*SERIES)
    entries = entries_of(shown)
    points = sorted(visible(shown), key=lambda p: STANDINGS.index(p.source.standing))
    points.sort(key=lambda point: place_of(point.cell.implementation))
    groups = []
    for point in points:
        name = f"{end_name(point, data)}{', published' if point.is_published else ''}"
        bars = bar_of(point, shown, entries), *_bars_with_transfers(point, shown, entries)
        groups.append(Group(name, bars))
    wholes = [whole.middle for point in points for *_, whole in _moved(point).values()]
    log = is_log(shown, [*(point.median_ms for point in timed(shown.points)), *wholes])
    axis = Axis("Time: median, quartiles as a line", numbers.duration, log)
    is_moved = any(point.on_gpu and point.measurement for point in points)
    title = f"{title} {'including transfers' if is_moved else 'on the CPU'}"
    return made(shown, title, Bars(axis, tuple(groups)), chart_words.by_source(shown, _say_steps))


def _bars_with_transfers(point: Point, shown: Slice, entries: Entries) -> Iterable[Bar]:
    for memory, (up, down, whole) in _moved(point).items():
        up_ms, down_ms, time = (numbers.duration(each.middle) for each in (up, down, whole))
        text = (
            f"From and to {memory} memory: {time}, upload {up_ms}, download {down_ms}\n"
            f"{chart_words.tip_of(point, shown.data)}"
        )
        words = f"{time} {'with transfers' if memory == 'ordinary' else 'with pinned memory'}"
        yield Bar(entries[legend_key(point)], *whole, words, text, point.cell, is_part=True)


def _moved(point: Point) -> Mapping[str, tuple[Spread, Spread, Spread]]:
    """The times of upload, download and both with the filter time, by kind of memory, if known."""
    found = point.measurement.transfers if point.measurement else None
    if found is None or point.ms is None:
        return {}
    ways = {
        "ordinary": (spread(found.pageable_up), spread(found.pageable_down)),
        "pinned": (spread(found.pinned_up), spread(found.pinned_down)),
    }
    return {
        memory: (up, down, Spread(*map(sum, zip(up, point.ms, down, strict=True))))
        for memory, (up, down) in ways.items()
    }


def _say_steps(shown: Slice) -> str:
    cpu, gpu = (
        sorted((p for p in shown.measured if p.on_gpu == on_gpu), key=lambda p: p.median_ms)
        for on_gpu in (False, True)
    )
    if not cpu or not gpu:
        said = chart_words.best_and_worst([*cpu, *gpu], "implementations")
        return chart_words.sentence_like(said)
    cpu_ms = cpu[0].median_ms
    names = [series_name(each[0], shown.data) for each in (gpu, cpu)]
    mark = chart_words.star_of(gpu[0], cpu[0])
    factor = f"{numbers.times_as_fast(cpu_ms / gpu[0].median_ms)}{mark}"
    ways = [
        f"from {way} memory {numbers.speed_up(cpu_ms / whole.middle)}{mark}"
        for way, (*_, whole) in _moved(gpu[0]).items()
    ]
    moved = f"; with transfers {', '.join(ways)}" if ways else ", excluding transfers"
    return f"The GPU's {names[0]} is {factor} {names[1]}{moved}."


KINDS = {
    "block_shapes": ChartKind(
        several("blocks"),
        partial(_figure, name="blocks"),
        lambda plan: 1 < len(plan.blocks) <= MAX_SHAPES and len(plan.sizes) * len(plan.ksizes) == 1,
    ),
    **{
        f"by_{name}": ChartKind(several(name), partial(_figure, name=name), varies(name))
        for name in BY_NAMES
    },
    "steps_stacked": ChartKind(_why_no_steps, _stacked, lambda plan: any(plan.lists)),
    "ladder": ChartKind(
        several("implementations"),
        _ladder,
        lambda p: len(p.implementations) > 1 and {*p.varied} <= {"implementations", "channels"},
    ),
}
