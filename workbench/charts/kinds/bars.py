"""Charts of bars: time by a dimension of names, by block shape, and the ladder with transfers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from kernels.core.timing import EQUAL, how_equal
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import (
    apart,
    best_and_worst,
    best_of,
    by_source,
    details,
    ends,
    hidden_points,
    how_long,
    list_of,
    time_of,
)
from workbench.charts.data.figure import Axis, Bar, Bars, Figure, Group, LegendLine
from workbench.charts.data.legend_entries import (
    end_name,
    entries_of,
    entry_of,
    lettered,
    series_label,
    series_name,
)
from workbench.charts.data.points import Data, Point, Slice, Spread, spread
from workbench.charts.kinds.chart_kind import (
    SERIES,
    ChartKind,
    expected,
    is_log,
    made,
    sentence_like,
    varies,
    visible,
    why_not_several,
)
from workbench.model.names import place_of

CAPTION = "Time: median, quartiles as a whisker; outlined: a series' fastest and its equals"
OWN_BLOCK = "own block"  # of implementations that have one, and leave no choice
# Why a CPU has no place by a dimension.
NO_PLACE = {"blocks": "no blocks on a CPU", "devices": "on the CPU"}
MAX_BARS = 12  # of block shapes; more are easier to read on a map


def _figure(
    data: Data, title: str, *, name: str, say: Callable[[Slice], str], is_upright: bool = False
) -> Figure:
    """Return time by `name`; of each series the fastest, and those equal to it, are outlined."""
    shown = data.slice(name, *SERIES)
    without = [p for p in shown.measured if not _has_place(p, name)]
    having = tuple(p for p in shown.points if _has_place(p, name))
    shown = replace(shown, points=having)
    points = visible(shown)
    # Of each series the best; none where all are equal, or where there is only one.
    tops = [(group, best_of(group)) for group in _by_series(points)]
    best = {id(point) for group, top in tops if len(top) < len(group) for point in top}
    entries = entries_of(shown)
    slots = _slots(points, entries)
    groups = []
    for value in (*data.values(name), None):
        mine = [p for p in points if chart_dimensions.of(p.cell, name) == value]
        mine.sort(key=lambda p: [e.key for e in entries].index(entry_of(p, entries).key))
        bars = tuple(
            replace(bar_of(p, shown, entries, is_best=id(p) in best), slot=slots[p.key])
            for p in mine
        )
        if bars:
            label = OWN_BLOCK if value is None else chart_dimensions.in_words(name, value)
            groups.append(Group(label, bars))
    log = is_log(shown, [ms for _, ms in expected(shown)])
    axis = Axis(CAPTION, numbers.duration, log)
    body = Bars(axis, tuple(groups), is_upright)
    left_out = hidden_points(without, NO_PLACE.get(name, ""))
    return made(shown, title, body, by_source(shown, say), notes=left_out)


def _has_place(point: Point, name: str) -> bool:
    """Tell whether a point belongs on a chart by `name`: on some only GPU code does."""
    return chart_dimensions.of(point.cell, name) is not None or point.on_gpu


def _slots(points: Sequence[Point], entries: Sequence[LegendLine]) -> dict[str, int]:
    """Return the place of each series; published ones take that of their implementation."""
    order = [entry.key for entry in entries]
    points = sorted(points, key=lambda p: order.index(entry_of(p, entries).key))
    places: dict[str, int] = {}  # of series that stand alone, and of implementations
    slots = {}
    for point in points:
        name = point.cell.implementation
        is_published = point.source.standing == "published"
        slot = places.get(name if is_published else point.key, len(set(places.values())))
        places.setdefault(point.key, slot)
        places.setdefault(name, slot)
        slots[point.key] = slot
    return slots


def _by_series(points: Sequence[Point]) -> list[list[Point]]:
    """Return the measured points of each series, without published ones."""
    found: dict[str, list[Point]] = {}
    for point in points:
        if point.ms and point.source.standing != "published":
            found.setdefault(point.key, []).append(point)
    return list(found.values())


def bar_of(
    point: Point, shown: Slice, entries: Sequence[LegendLine], *, is_best: bool = False
) -> Bar:
    """Return a point as a bar; without a valid time, a word or two stand in its place."""
    entry = entry_of(point, entries)
    text = details(point, series_label(point, shown.data))
    cell = None if point.source.standing == "published" else point.cell
    if point.ms is None:
        words = "✗ wrong" if point.is_wrong else "refused"
        return Bar(entry, None, 0.0, 0.0, words, text, cell)
    said = time_of(point)
    return Bar(entry, *point.ms, said, text, cell, is_best)


# -- sentences: whether a dimension of names matters at all, and which shapes are best


def _say_of_names(shown: Slice, name: str, what: str) -> str:
    """Say how much longer the slowest value takes; `what` is "the kind of picture"."""
    groups = [g for g in _by_series(shown.points) if len(g) > 1]
    same = [g for g in groups if len(best_of(g)) == len(g)]
    how = how_equal(max(map(apart, same), default=1.0))  # in words that hold for all groups
    if groups and len(same) == len(groups):
        return f"{what[0].upper()}{what[1:]} makes no difference: all are {how}."
    told = [_say_worst(group, name, shown) for group in groups if group not in same]
    if same:
        names = list_of([series_name(group[0], shown.data) for group in same])
        told.append(f"For {names} it makes no difference: all are {how}.")
    return " ".join(told)


def _say_worst(group: list[Point], name: str, shown: Slice) -> str:
    times = {id(p): p.ms.middle for p in group if p.ms}
    slow = max(group, key=lambda p: times[id(p)])
    fast = min(group, key=lambda p: times[id(p)])
    slower, faster = (chart_dimensions.where(point.cell, [name]) for point in (slow, fast))
    longer = how_long(times[id(slow)] / times[id(fast)], f"with {faster}")
    return f"{series_name(slow, shown.data)}: with {slower} it {longer}."


def _say_of_shapes(shown: Slice) -> str:
    """Say the best and the worst block shapes of each implementation."""
    told = [(group[0], best_and_worst(group, "blocks")) for group in _by_series(shown.points)]
    return " ".join(f"{series_name(first, shown.data)}: {said}." for first, said in told if said)


# -- the tables


def _by_names(
    name: str, order: int, title: str, by: str, what: str, bar: str, reading: str
) -> ChartKind:
    """Return the chart of time by a dimension of names.

    by, what, bar  the dimension in the tip, in the sentence, and what a bar stands for
    """
    return ChartKind(
        f"by_{name}",
        title,
        f"Time by {by}, with quartiles",
        f"A bar is the median time {bar}, its whisker the quartiles. {reading}",
        order,
        partial(why_not_several, name=name),
        partial(_figure, name=name, say=partial(_say_of_names, name=name, what=what)),
        varies(name),
    )


ON_CPU = "Ladder on the CPU"  # nothing is transferred


def _why_no_ladder(data: Data) -> str | None:
    if len(data.values("implementations")) > 1:
        return None
    return "Only one implementation is measured."


def _ladder_figure(data: Data, title: str) -> Figure:
    shown = data.slice(*SERIES)
    points, entries = sorted(visible(shown), key=_step), entries_of(shown)
    groups = tuple(Group(_label(point, shown), _bars(point, shown, entries)) for point in points)
    whole = [each.middle for point in points for each in _end_to_end(point).values()]
    is_here = bool(shown.planned_here)
    log = is_log(shown, [*(ms for _, ms in expected(shown)), *([] if is_here else whole)])
    scale = ", logarithmic" if log else ""
    axis = Axis(f"Time{scale}: median, quartiles as a whisker", numbers.duration, log)
    if not any(point.on_gpu and point.measurement for point in points):
        title = ON_CPU
    return made(shown, title, Bars(axis, groups), by_source(shown, _say_steps))


def _step(point: Point) -> tuple[int, int]:
    standing = ("live", "recorded", "published").index(point.source.standing)
    key = point.cell.implementation
    return place_of(key), standing


def _label(point: Point, shown: Slice) -> str:
    if point.source.standing != "published":
        return lettered(point, shown.data)
    return f"{end_name(point, shown.data)}, published"


def _bars(point: Point, shown: Slice, entries: Sequence[LegendLine]) -> tuple[Bar, ...]:
    """Return the bar of the time, and below it those of the time with transfers."""
    bars = [bar_of(point, shown, entries)]
    label, entry = series_label(point, shown.data), entry_of(point, entries)
    for memory, whole in _end_to_end(point).items():
        said = "with transfers" if memory == "ordinary" else "with pinned memory"
        text = "\n".join(
            (
                f"{label}, from and to {memory} memory: {numbers.duration(whole.middle)}",
                _parts(point, memory),
                details(point, "without transfers"),
            )
        )
        words = f"{numbers.duration(whole.middle)} {said}"
        bars.append(Bar(entry, *whole, words, text, point.cell, is_part=True))
    return tuple(bars)


def _transfers(point: Point) -> dict[str, tuple[Spread, Spread]]:
    """Return the times of upload and download, by kind of memory; none if not known."""
    found = point.measurement.transfers if point.measurement else None
    if found is None or point.ms is None:
        return {}
    return {
        "ordinary": (spread(found.pageable_up), spread(found.pageable_down)),
        "pinned": (spread(found.pinned_up), spread(found.pinned_down)),
    }


def _end_to_end(point: Point) -> dict[str, Spread]:
    """Return the times of upload, filtering and download together, by kind of memory, if known."""
    return {
        memory: Spread(*map(sum, zip(up, point.ms or (), down, strict=True)))
        for memory, (up, down) in _transfers(point).items()
    }


def _parts(point: Point, memory: str) -> str:
    """Return upload, filter time and download in words."""
    assert point.ms is not None
    up, down = _transfers(point)[memory]
    return (
        f"upload {numbers.duration(up.middle)}, filter time {numbers.duration(point.ms.middle)}, "
        f"download {numbers.duration(down.middle)}"
    )


def _say_steps(shown: Slice) -> str:
    """Say the factor of each large step."""
    cpu = [p for p in shown.measured if not p.on_gpu]
    gpu = [p for p in shown.measured if p.on_gpu]
    steps = " ".join(filter(None, (_cpu_step(cpu, shown), _gpu_step(cpu, gpu, shown))))
    # Of one kind of device alone, the quickest and the slowest.
    return steps or sentence_like(ends([*cpu, *gpu], lambda point: _name(point, shown)))


def _cpu_step(cpu: list[Point], shown: Slice) -> str:
    first = next((p for p in cpu if p.cell.implementation == "sequential"), None)
    best = _quickest(cpu)
    if first is None or best is None or best is first or not first.ms or not best.ms:
        return ""
    factor = numbers.times_as_fast(first.ms.middle / best.ms.middle)
    return f"{_name(best, shown)} is {factor} {_name(first, shown)}."


def _gpu_step(cpu: list[Point], gpu: list[Point], shown: Slice) -> str:
    against, best = _quickest(cpu), _quickest(gpu)
    if against is None or best is None or not against.ms or not best.ms:
        return ""
    cpu_ms = against.ms.middle
    kernel = numbers.times_as_fast(cpu_ms / best.ms.middle)
    said = f"The GPU's {_name(best, shown)} is {kernel} {_name(against, shown)}"
    wholes = _end_to_end(best)
    if not wholes:
        return f"{said}, excluding transfers."
    ordinary, pinned = (cpu_ms / whole.middle for whole in wholes.values())
    verdict = "" if max(ordinary, pinned) > 1 else ": the CPU is faster end to end"
    return (
        f"{said}; with transfers from ordinary memory {numbers.speed_up(ordinary)}, "
        f"from pinned memory {numbers.speed_up(pinned)}{verdict}."
    )


def _quickest(points: Iterable[Point]) -> Point | None:
    timed = [point for point in points if point.ms]
    return min(timed, key=lambda p: p.ms.middle if p.ms else 0.0, default=None)


def _name(point: Point, shown: Slice) -> str:
    return series_name(point, shown.data)


KINDS = (
    ChartKind(
        "block_shapes",
        "Block shapes",
        "Time by block shape; the fastest, and those equal to it, are outlined",
        "A bar is the median time with that block shape, its whisker the quartiles: shorter "
        f"is better. Bars that are outlined are the fastest and those {EQUAL} to it: the order "
        "among them means nothing. Where a few shapes stand out as slow, compare their widths "
        "first: neighbouring threads should read neighbouring samples.",
        6,
        partial(why_not_several, name="blocks"),
        partial(_figure, name="blocks", say=_say_of_shapes, is_upright=True),
        lambda plan: 1 < len(plan.blocks) <= MAX_BARS and len(plan.sizes) * len(plan.ksizes) == 1,
    ),
    _by_names(
        *("devices", 18, "Devices", "number of GPUs", "the number of GPUs"),
        "with so many GPUs, which share the rows of the picture",
        "Half the rows take half the time, but for what stays: the launch, and the rows that are "
        "copied between the GPUs. The smaller the picture, the more of the time that is; a small "
        "one is done no sooner, or later. Transfers to the GPUs and back are not in it.",
    ),
    _by_names(
        *("pictures", 20, "Picture kinds", "kind of picture", "the kind of picture"),
        "on that kind of picture",
        "The sums are the same whatever the samples are, so that bars should be of one height: "
        "that is what this chart is there to show. Where they differ, look at the quartiles, at "
        "power (numbers of many ones take more of it) and at what the CPU's arithmetic does with "
        "very small numbers.",
    ),
    _by_names(
        *("filters", 22, "Filters", "filter", "the filter", "of that filter"),
        "Where an implementation takes weights as they come, filters of one size take one time, "
        "whatever they are called. Where it takes separable weights apart, those of low rank are "
        "quicker; Edges and Gradient are more than one sum.",
    ),
    _by_names(
        *("channels", 24, "Channels", "number of channels", "the number of channels"),
        "with so many channels",
        "Twice the channels are twice the samples: times that grow by less had something fixed in "
        "them, such as a launch, and times that grow by more read memory less well. Alpha is "
        "copied and not filtered.",
    ),
    _by_names(
        *("pixel_types", 26, "Pixel types", "pixel type", "the pixel type"),
        "with samples stored in that type",
        "Sums are computed in float32 whatever the type is, so that a rung that waits for memory "
        "takes a time in proportion to the bytes of a sample, and one that waits for arithmetic "
        "does not.",
    ),
    _by_names(
        *("borders", 28, "Borders", "border rule", "the border", "with that border rule"),
        "All rules do the same sums, and differ in what is read beyond the edge; on a large "
        "picture the edge is a small part, so that bars of one height are what to expect. A rule "
        "that stands out costs something in the middle as well: a test for every sample, or a "
        "division.",
    ),
    ChartKind(
        "ladder",
        "Ladder including transfers",
        "Sequential, parallel, OpenCV, the GPU's kernel, and the GPU with up- and download",
        "A bar is a median time, its whisker the quartiles, from the plainest implementation "
        "down. Below a rung on the GPU the paler bars add up- and download, from ordinary and "
        "from pinned memory: what a program pays that has its picture in the computer's memory. "
        "Read two steps: from one CPU thread to the best the CPU can do, and from there to the "
        "GPU with its transfers. Only the second is what a GPU gains.",
        50,
        _why_no_ladder,
        _ladder_figure,
        lambda plan: (
            len(plan.implementations) > 1 and not set(plan.varied) - {"implementations", "channels"}
        ),
    ),
)
