"""The honest ladder: from one CPU thread to the GPU with what it costs to get there and back."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.sweeps.plan import Plan
from workbench import numbers
from workbench.charts.figure import Axis, Bar, Bars, Figure, Group
from workbench.charts.kinds.bars import bar_of
from workbench.charts.kinds.making import SERIES, is_log, made, visible
from workbench.charts.legend_entries import entries_of, entry_of, label_of, name_of
from workbench.charts.names import KEYS, title_of
from workbench.charts.points import Point, spread
from workbench.charts.sentences import by_source
from workbench.charts.slices import Data, Slice
from workbench.charts.words import details

TITLE = "The honest ladder"
TIP = "Sequential, parallel, OpenCV, the GPU's kernel, and the GPU with up- and download"
ORDER = 3


def made_for(plan: Plan) -> bool:
    return len(plan.implementations) > 1 and not set(plan.varied) - {"implementations", "channels"}


def why_not(data: Data) -> str | None:
    if len(data.values("implementations")) > 1:
        return None
    return "Only one implementation is measured."


def figure(data: Data, title: str) -> Figure:
    shown = data.slice(*SERIES)
    points = sorted(visible(shown), key=_step)
    groups = tuple(Group(_label(point, shown), _bars(point, shown)) for point in points)
    values = [bar.value for group in groups for bar in group.bars if bar.value]
    log = is_log(shown, values)
    scale = "; logarithmic: each line is ten times the one before" if log else ""
    axis = Axis(f"Time: median, quartiles as a whisker{scale}", numbers.duration, log)
    return made(shown, title, Bars(axis, groups), by_source(shown, _say))


def _step(point: Point) -> tuple[int, int]:
    standing = ("live", "recorded", "published").index(point.source.standing)
    key = point.cell.implementation
    return KEYS.index(key) if key in KEYS else len(KEYS), standing


def _label(point: Point, shown: Slice) -> str:
    if point.source.standing != "published":
        return label_of(point, shown.data)
    return f"{title_of(point.cell.implementation)} · {point.source.gpu} (published)"


def _bars(point: Point, shown: Slice) -> tuple[Bar, ...]:
    """The kernel, and below it the kernel with its transfers."""
    kernel = bar_of(point, shown)
    found = point.measurement
    if point.ms is None or found is None or found.transfers is None:
        return (kernel,)
    bars = [kernel]
    for memory, said, up, down in (
        ("ordinary", "with transfers", found.transfers.pageable_up, found.transfers.pageable_down),
        ("pinned", "with pinned memory", found.transfers.pinned_up, found.transfers.pinned_down),
    ):
        parts = (spread(up), point.ms, spread(down))
        middle, low, high = (sum(column) for column in zip(*parts, strict=True))
        text = (
            f"{label_of(point, shown.data)}, {memory} memory: {numbers.duration(middle)}\n"
            f"upload {numbers.duration(parts[0].middle)}, "
            f"kernel {numbers.duration(parts[1].middle)}, "
            f"download {numbers.duration(parts[2].middle)}\n"
        ) + details(point, "kernel alone")
        entry = entry_of(point, entries_of(shown))
        words = f"{numbers.duration(middle)} {said}"
        bars.append(Bar(entry, middle, low, high, words, text, point.cell, is_part=True))
    return tuple(bars)


def _say(shown: Slice) -> str:
    """How far each large step goes."""
    cpu = [p for p in shown.measured if not p.on_gpu]
    gpu = [p for p in shown.measured if p.on_gpu]
    return " ".join(filter(None, (_cpu_step(cpu, shown), _gpu_step(cpu, gpu, shown))))


def _cpu_step(cpu: list[Point], shown: Slice) -> str:
    first = next((p for p in cpu if p.cell.implementation == "sequential"), None)
    best = _quickest(cpu)
    if first is None or best is None or best is first or not first.ms or not best.ms:
        return ""
    factor = numbers.ratio(first.ms.middle / best.ms.middle)
    return f"{_name(best, shown)} is {factor} as fast as {_name(first, shown)}."


def _gpu_step(cpu: list[Point], gpu: list[Point], shown: Slice) -> str:
    against, best = _quickest(cpu), _quickest(gpu)
    if against is None or best is None or not against.ms or not best.ms:
        return ""
    cpu_ms = against.ms.middle
    kernel = numbers.ratio(cpu_ms / best.ms.middle)
    said = f"The GPU's {_name(best, shown)} is {kernel} as fast as {_name(against, shown)}"
    ends = [p.measurement.end_to_end_ms for p in gpu if p.measurement]
    whole = min((ms for ms in ends if ms is not None), default=None)
    if whole is None:
        return f"{said}, transfers left out."
    with_transfers = numbers.ratio(cpu_ms / whole)
    verdict = "" if whole < cpu_ms else ": the CPU is faster end to end"
    return f"{said}, and {with_transfers} with transfers{verdict}."


def _quickest(points: Iterable[Point]) -> Point | None:
    timed = [point for point in points if point.ms]
    return min(timed, key=lambda p: p.ms.middle if p.ms else 0.0, default=None)


def _name(point: Point, shown: Slice) -> str:
    return name_of(point, shown.data)
