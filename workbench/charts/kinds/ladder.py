"""The ladder with transfers: from one CPU thread to the GPU, including the way there and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.base import numbers
from workbench.charts.data.chart_words import details
from workbench.charts.data.figure import Axis, Bar, Bars, Figure, Group, LegendLine
from workbench.charts.data.legend_entries import (
    end_name,
    entries_of,
    entry_of,
    lettered,
    series_label,
    series_name,
)
from workbench.charts.data.points import Point, Spread, spread
from workbench.charts.data.sentences import by_source, ends
from workbench.charts.data.slices import Data, Slice
from workbench.charts.kinds.bars import bar_of
from workbench.charts.kinds.chart_kind import ChartKind
from workbench.charts.kinds.common import SERIES, expected, is_log, made, sentence_like, visible
from workbench.model.names import place_of

ON_CPU = "Ladder on the CPU"  # nothing is transferred


def _why_not(data: Data) -> str | None:
    if len(data.values("implementations")) > 1:
        return None
    return "Only one implementation is measured."


def _figure(data: Data, title: str) -> Figure:
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
    return made(shown, title, Bars(axis, groups), by_source(shown, _say))


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


def _say(shown: Slice) -> str:
    """Say the factor of each large step."""
    cpu = [p for p in shown.measured if not p.on_gpu]
    gpu = [p for p in shown.measured if p.on_gpu]
    steps = " ".join(filter(None, (_cpu_step(cpu, shown), _gpu_step(cpu, gpu, shown))))
    return steps or _of_one_kind([*cpu, *gpu], shown)


def _of_one_kind(points: list[Point], shown: Slice) -> str:
    """Say which is the quickest, and which the slowest."""
    return sentence_like(ends(points, lambda point: _name(point, shown)))


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
        "ladder",
        "Ladder including transfers",
        "Sequential, parallel, OpenCV, the GPU's kernel, and the GPU with up- and download",
        "A bar is a median time, its whisker the quartiles, from the plainest implementation "
        "down. Below a rung on the GPU the paler bars add up- and download, from ordinary and "
        "from pinned memory: what a program pays that has its picture in the computer's memory. "
        "Read two steps: from one CPU thread to the best the CPU can do, and from there to the "
        "GPU with its transfers. Only the second is what a GPU gains.",
        50,
        _why_not,
        _figure,
        lambda plan: (
            len(plan.implementations) > 1 and not set(plan.varied) - {"implementations", "channels"}
        ),
    ),
)
