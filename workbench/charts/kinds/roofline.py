"""The roofline: operations per second over operations per byte, under the ceilings of the device.

A model beside the measurement: bytes and operations are computed, the ceilings were measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernels.rungs.work import Work
from kernels.sweeps.record import Record
from kernels.sweeps.roofline import Roof, roof_of
from workbench.base import numbers
from workbench.charts.data.chart_words import list_of, tip_of, titles_of
from workbench.charts.data.figure import Axis, Dot, Figure, Guide, Plot, Series
from workbench.charts.data.points import Data, Point, entries_of, legend_key, series_name, timed
from workbench.charts.kinds import SERIES, ChartKind, made, visible
from workbench.model import cell_words

NO_PLACE = "Operations are not described, so that there is no place for it here"
UNIT = f"{numbers.GAP}FLOP/B"
ROOM = 2.0  # factor by which the roof reaches beyond the outermost points


def _why_not(data: Data) -> str | None:
    machines = [s.machine for s in data.sessions if s.machine.gpu]
    if not machines:
        return "No GPU was measured, and the roof is a GPU's."
    if not any(machine.ceilings for machine in machines):
        return f"The ceilings of {machines[0].name} were not measured."
    points = [point for point in timed(data.points) if point.on_gpu]
    if not points:
        return "No time on a GPU is measured yet."
    if not any(map(_roof, points)):
        return f"{NO_PLACE}: {list_of(titles_of(points))}."
    return None


def _roof(point: Point) -> Roof | None:
    """The roof over a point; None of libraries, and of rungs without a description."""
    machine = point.source.machine
    if machine is None or point.measurement is None:
        return None
    return roof_of(Record(point.cell, point.measurement), machine)


def _figure(data: Data, title: str) -> Figure:
    everything = data.slice("ksizes", *SERIES)
    shown = everything.of(p for p in everything.measured if p.on_gpu)
    roofs = {id(point): _roof(point) for point in shown.points}
    placed: dict[str, list[tuple[Point, Roof]]] = {}
    for point in visible(shown):
        if roof := roofs[id(point)]:
            placed.setdefault(point.key, []).append((point, roof))
    entries = entries_of(shown)
    series = tuple(
        Series(
            entries[legend_key(line[0][0])],
            tuple(_dot(*each, data) for each in sorted(line, key=lambda pair: pair[0].cell.ksize)),
        )
        for line in placed.values()
    )
    seen = [pair for line in placed.values() for pair in line]
    placeless = [p for p in shown.points if not roofs[id(p)]]
    x = Axis("FLOP per byte that must be moved", lambda x: f"{numbers.three_digits(x)}{UNIT}", True)
    y = Axis("Model: operations per second", _flops, True)
    body = Plot(x, y, series, _guides(seen))
    return made(shown, title, body, _say(seen, data), notes=_exceptions(seen, placeless))


def _flops(tflop_s: float) -> str:
    """Format operations per second: "65.6 TFLOP/s", "980 GFLOP/s"."""
    if tflop_s < 0.9995:
        return f"{numbers.three_digits(tflop_s * 1e3)}{numbers.GAP}GFLOP/s"
    return f"{numbers.three_digits(tflop_s)}{numbers.GAP}TFLOP/s"


def _dot(point: Point, roof: Roof, data: Data) -> Dot:
    assert point.ms is not None
    x, y = roof.intensity, roof.achieved_tflop_s
    said = (tip_of(point, data), roof.sentence, _work_in_words(roof.work))
    low, high = (y * point.ms.middle / ms for ms in (point.ms.high, point.ms.low))
    return Dot(x, y, low, high, "\n".join(said), point.cell)


def _work_in_words(work: Work) -> str:
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


def _guides(seen: Sequence[tuple[Point, Roof]]) -> tuple[Guide, ...]:
    """A slope and a flat line for each machine, named where there are several."""
    xs = [roof.intensity for _, roof in seen]
    by_source = {point.source: roof for point, roof in reversed(seen)}
    guides: list[Guide] = []
    for source in dict.fromkeys(point.source for point, _ in seen):
        roof, whose = by_source[source], f"{source.name}: " if len(by_source) > 1 else ""
        ridge = 1e3 * roof.tflop_s / roof.copy_gb_s
        first, last = min(*xs, ridge) / ROOM, max(*xs, ridge) * ROOM
        slope = ((first, roof.copy_gb_s * first / 1e3), (ridge, roof.tflop_s))
        flat = ((ridge, roof.tflop_s), (last, roof.tflop_s))
        copy = f"{whose}copy {numbers.byte_rate(roof.copy_gb_s)}"
        guides.append(Guide(slope, copy, is_at_start=True))
        guides.append(Guide(flat, f"{whose}arithmetic {_flops(roof.tflop_s)}"))
    return tuple(guides)


def _say(seen: Sequence[tuple[Point, Roof]], data: Data) -> str:
    """Say which series comes nearest to the roof, in the model's own words."""
    if not seen:
        return ""
    best, roof = max(seen, key=lambda pair: pair[1].share)
    size = cell_words.in_words("ksizes", best.cell.ksize)
    return f"{series_name(best, data)} at {size} comes nearest. {roof.sentence}"


def _exceptions(seen: Iterable[tuple[Point, Roof]], placeless: Sequence[Point]) -> tuple[str, ...]:
    """Name what the roof says little or nothing about: of L2, of tensor cores, without a place."""
    resident = [point for point, roof in seen if roof.is_l2_resident]
    tensor = [point for point, roof in seen if roof.compute_ms is None]
    told = (
        ("Fits into the L2 cache, which is quicker than the roof", resident),
        ("Multiplies on tensor cores, whose own ceiling was not measured", tensor),
        (NO_PLACE, placeless),
    )
    return tuple(f"{what}: {list_of(titles_of(those))}." for what, those in told if those)


KINDS = {"roofline": ChartKind(_why_not, _figure)}
