"""The roofline: operations per second over operations per byte, under the ceilings of the device.

A model beside the measurement: bytes and operations are computed, the ceilings were measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.rungs.work import Work
from kernels.sweeps.record import Record
from kernels.sweeps.roofline import Roof, roof_of
from workbench.base import numbers
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import details, list_of
from workbench.charts.data.figure import Axis, Dot, Figure, Guide, Plot, Series
from workbench.charts.data.legend_entries import entries_of, entry_of, series_label, series_name
from workbench.charts.data.points import Data, Point, Slice
from workbench.charts.kinds.chart_kind import SERIES, ChartKind, made, visible
from workbench.model.names import implementation_title

NO_PLACE = "Operations are not described, so that there is no place for it here"
ROOM = 2.0  # factor by which the roof reaches beyond the outermost points

Roofs = dict[int, Roof]  # by the point's id


def _why_not(data: Data) -> str | None:
    machines = [s.machine for s in data.sessions if s.machine.gpu]
    if not machines:
        return "No GPU was measured, and the roof is a GPU's."
    if not any(machine.ceilings for machine in machines):
        return f"The ceilings of {machines[0].name} were not measured."
    points = [point for point in data.points if point.ms and point.on_gpu]
    if not points:
        return "No time on a GPU is measured yet."
    if not any(_has_place(roof) for roof in map(_roof, points) if roof):
        return f"{NO_PLACE}: {list_of(_titles(points))}."
    return None


def _figure(data: Data, title: str) -> Figure:
    everything = data.slice("ksizes", *SERIES)
    points = tuple(
        p for p in everything.points if p.on_gpu and p.ms and p.source.standing != "published"
    )
    shown = Slice(data, points, everything.options, everything.own)
    found = ((id(point), _roof(point)) for point in points)
    roofs = {key: roof for key, roof in found if roof is not None and _has_place(roof)}
    seen = [p for p in visible(shown) if id(p) in roofs]
    placeless = [p for p in points if p.ms and p.measurement and id(p) not in roofs]
    series = _series(seen, shown, roofs)
    x = Axis("FLOP per byte: operations for each byte that must be moved", _intensity, True)
    y = Axis("Model: operations per second", flops, True)
    body = Plot(x, y, series, _guides(seen, roofs))
    return made(
        shown, title, body, _say(seen, roofs, data), notes=_exceptions(seen, roofs, placeless)
    )


def flops(tflop_s: float) -> str:
    """Return operations per second in words: "65.6 TFLOP/s", "980 GFLOP/s"."""
    if tflop_s < 0.9995:
        return f"{numbers.three_digits(tflop_s * 1e3)}{numbers.GAP}GFLOP/s"
    return f"{numbers.three_digits(tflop_s)}{numbers.GAP}TFLOP/s"


def _intensity(value: float) -> str:
    return f"{numbers.three_digits(value)}{numbers.GAP}FLOP/B"


def _roof(point: Point) -> Roof | None:
    machine = point.source.machine
    if machine is None or point.measurement is None:
        return None
    roof = roof_of(Record(point.cell, point.measurement), machine)
    return roof if isinstance(roof, Roof) else None


def _has_place(roof: Roof) -> bool:
    """Tell whether operations are known: not of libraries, nor of rungs without a description."""
    return bool(roof.intensity and roof.achieved_tflop_s)


def _series(points: Sequence[Point], shown: Slice, roofs: Roofs) -> tuple[Series, ...]:
    entries = entries_of(shown)
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.key, []).append(point)
    return tuple(
        Series(
            entry_of(line[0], entries),
            tuple(_dot(p, roofs[id(p)], shown) for p in sorted(line, key=lambda p: p.cell.ksize)),
        )
        for line in found.values()
    )


def _dot(point: Point, roof: Roof, shown: Slice) -> Dot:
    assert roof.intensity is not None
    assert roof.achieved_tflop_s is not None
    assert point.ms is not None
    y, middle = roof.achieved_tflop_s, point.ms.middle
    said = (details(point, series_label(point, shown.data)), roof.sentence, _asked_for(roof.work))
    low, high = y * middle / point.ms.high, y * middle / point.ms.low
    return Dot(roof.intensity, y, low, high, "\n".join(said), point.cell)


def _asked_for(work: Work) -> str:
    """Say what a rung's threads load per sample, and how much of that repeatedly."""
    assert work.flops is not None
    operations = f"{numbers.three_digits(work.flops / work.samples)} operations"
    if work.loads_a_sample is None:
        return f"Model: for each sample {operations}; loads are not described."
    again = f"{100 * (work.halo_share or 0):.0f}{numbers.GAP}% of them again"
    return (
        f"Model: for each sample {numbers.three_digits(work.loads_a_sample)} loads of the picture, "
        f"{again}, and {operations}."
    )


def _guides(points: Sequence[Point], roofs: Roofs) -> tuple[Guide, ...]:
    """Return a slope and a flat line for each machine, named where there are several."""
    xs = [roofs[id(p)].intensity or 1.0 for p in points]
    guides: list[Guide] = []
    sources = dict.fromkeys(point.source for point in points)
    for source in sources:
        whose = f"{source.name}: " if len(sources) > 1 else ""
        roof = next(roofs[id(p)] for p in points if p.source == source)
        ridge = 1e3 * roof.tflop_s / roof.copy_gb_s
        first, last = min(*xs, ridge) / ROOM, max(*xs, ridge) * ROOM
        slope = ((first, roof.copy_gb_s * first / 1e3), (ridge, roof.tflop_s))
        flat = ((ridge, roof.tflop_s), (last, roof.tflop_s))
        copy = f"{whose}copy {numbers.byte_rate(roof.copy_gb_s)}"
        guides.append(Guide(slope, copy, is_at_start=True))
        guides.append(Guide(flat, f"{whose}arithmetic {flops(roof.tflop_s)}"))
    return tuple(guides)


def _say(points: Sequence[Point], roofs: Roofs, data: Data) -> str:
    """Say which series comes nearest to the roof, in the model's own words."""
    if not points:
        return ""
    best = max(points, key=lambda point: roofs[id(point)].share)
    who = series_name(best, data)
    return f"{who} at {chart_dimensions.in_words('ksizes', best.cell.ksize)} comes nearest. " + (
        roofs[id(best)].sentence
    )


def _exceptions(
    points: Sequence[Point], roofs: Roofs, placeless: Sequence[Point]
) -> tuple[str, ...]:
    """Name what the roof says little or nothing about: of L2, of tensor cores, without a place."""
    resident = [p for p in points if roofs[id(p)].is_l2_resident]
    tensor = [p for p in points if roofs[id(p)].compute_ms is None]
    told = (
        ("Fits into the L2 cache, which is quicker than the roof", resident),
        ("Multiplies on tensor cores, whose own ceiling was not measured", tensor),
        (NO_PLACE, placeless),
    )
    return tuple(f"{what}: {list_of(_titles(those))}." for what, those in told if those)


def _titles(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(implementation_title(point.cell.implementation) for point in points))


KINDS = (
    ChartKind(
        "roofline",
        "Roofline (model)",
        "Operations per second over operations per byte, under the ceilings measured on the device",
        "To the right there are more operations per byte, upwards more of them per second, "
        "both logarithmic. The slope is what memory delivers, the flat line what arithmetic "
        "does, both measured on this device; a point can only lie below. Below the slope it is "
        "memory that limits, below the flat line arithmetic; far below either it is something "
        "else: waiting, instructions that are no sums, too little work. Operations and bytes are "
        "a model, worked out and not counted by the device.",
        60,
        _why_not,
        _figure,
    ),
)
