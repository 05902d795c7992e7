"""Charts of lines along numbers: time, throughput, speed-up over a baseline, and the roofline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from kernels.core.timing import compare, gives_speed_up
from kernels.rungs.rung import Work
from kernels.sweeps.record import Record
from kernels.sweeps.roofline import Roof, roof_of
from workbench.base import numbers
from workbench.charts.data import chart_words
from workbench.charts.data.figure import Axis, Dot, Figure, Guide, Option, Plot, Series
from workbench.charts.data.points import (
    WHAT,
    Data,
    Point,
    Slice,
    Spread,
    end_name,
    entries_of,
    legend_key,
    planned,
    series_name,
    style_of,
    timed,
    with_threads,
)
from workbench.charts.kinds import SERIES, ChartKind, is_log, made, several, varies, visible
from workbench.model import cell_words
from workbench.model.names import kind_of, place_of

LARGE_RANGE = 8  # of kernel sizes; from here on they stand by their logarithm
LABELS = {
    "sizes": "Image size in pixels",
    "ksizes": "Kernel size",
    "counts": "Pictures one after another",
}

Quantity = Callable[[Point], Spread | None]  # None: the point has none

# -- quantities beside the time


def rate_of(point: Point) -> Spread | None:
    """A point's rate in megapixels per second; None without a time."""
    if point.ms is None:
        return None
    pixels = point.cell.megapixels * 1e3
    return Spread(pixels / point.ms.middle, pixels / point.ms.high, pixels / point.ms.low)


def baseline_option(shown: Slice) -> Option | None:
    """The possible baselines: all that was measured, CPU implementations first."""
    found: dict[str, Point] = {}
    for point in timed(shown.measured or shown.points):
        found.setdefault(point.cell.implementation, point)
    if not found:
        return None
    order = sorted(found, key=lambda key: (kind_of(key) == "cuda", place_of(key)))
    chosen = shown.data.choices.baseline
    values = tuple((key, with_threads(found[key], shown.data)) for key in order)
    return Option("baseline", "Against", values, chosen if chosen in found else order[0])


class Against:
    """The speed-ups of some points over the chosen baseline, with their intervals.

    option  the possible baselines
    name    that of the baseline, with its threads
    notes   a sentence for each source with points that have no speed-up
    """

    def __init__(self, shown: Slice, everything: Slice) -> None:
        """Compare the points of `shown` with the baseline's, found among `everything`."""
        option = baseline_option(everything)
        self.option: tuple[Option, ...] = (option,) if option else ()
        self.name = dict(option.values)[option.chosen] if option else "nothing measured yet"
        key = option.chosen if option else ""
        theirs = [p for p in timed(everything.points) if p.cell.implementation == key]
        theirs.sort(key=lambda point: -point.cell.devices)
        by_work = {(*_work(point), point.cell.cache): point for point in theirs}
        self._found: dict[int, Spread] = {}
        self._stars: dict[int, str] = {}
        notes: dict[str, None] = {}
        for point in timed(shown.points):
            work, cache = _work(point), point.cell.cache
            other = by_work.get((*work, cache)) or by_work.get((*work, None))
            if other and (ratio := _ratio(point, other)):
                self._found[id(point)] = ratio
                self._stars[id(point)] = chart_words.star_of(point, other)
            else:
                why = f"{self.name} was not measured on the same work."
                why = "times taken in a single run have no speed-up." if other else why
                notes[f"{point.source.name}: {why}"] = None
        self.notes = tuple(notes)

    def of(self, point: Point) -> Spread | None:
        """The speed-up of a point; None without a baseline, or where either ran only once."""
        return self._found.get(id(point))

    def beside(self, point: Point) -> str:
        """Say "12.3× (11.9× to 12.6×) as fast as OpenCV", "2.4× slower (…) than OpenCV"."""
        ratio = self._found[id(point)]
        how = "than" if numbers.is_slower(ratio.middle) else "as fast as"
        return f"{numbers.speed_up_between(*ratio)}{self.star(point)} {how} {self.name}"

    def star(self, point: Point) -> str:
        """A star where the time of a point, or that of the baseline, was disturbed."""
        return self._stars[id(point)]


def _work(point: Point) -> tuple[object, ...]:
    return point.source.key, *map(point.value, WHAT)


def _ratio(point: Point, theirs: Point) -> Spread | None:
    """The speed-up of `point` over `theirs`; None of a single run.  Published ones pass."""
    ours, others = point.measurement, theirs.measurement
    if ours is None or others is None:
        return Spread(*[theirs.median_ms / point.median_ms] * 3)
    if not gives_speed_up(ours.kernel, others.kernel):
        return None
    if point is theirs:
        return Spread(1.0, 1.0, 1.0)
    found = _compared(ours.kernel, others.kernel)
    return Spread(found.ratio, *(found.interval or 2 * (found.ratio,)))


_compared = lru_cache(maxsize=1 << 14)(compare)  # charts are drawn again and again


# -- lines


def place(value: object) -> float:
    """A value's place along x: for picture sizes, the number of pixels."""
    return float(value[0] * value[1] if isinstance(value, tuple) else value)  # type: ignore[arg-type]


def _x_axis(shown: Slice, name: str) -> tuple[Axis, tuple[float, float]]:
    """An axis with ticks where something is, or will be, measured; and its ends."""
    values = {point.value(name) for point in shown.points}
    if any(len(s.records) < len(planned(s)) for s in shown.data.sessions):  # more will come
        values.update(shown.data.values(name))
    places = sorted((place(value), cell_words.in_words(name, value)) for value in values)
    ends = low, high = places[0][0], places[-1][0]
    log = name != "ksizes" or high / low >= LARGE_RANGE
    return Axis(LABELS[name], str, log, tuple(places), ends), ends


def _series(
    shown: Slice, name: str, spread_of: Quantity, more: Callable[[Point], str] = lambda _: ""
) -> tuple[Series, ...]:
    """The series that are not hidden; pinned ones come last and so are on top.

    spread_of  the height of a point; None: it has none
    more       a line of a point's tooltip beside its details
    """
    data, entries = shown.data, entries_of(shown)
    found: dict[str, list[Dot]] = {}
    first: dict[str, Point] = {}
    for point in visible(shown):
        x, text = place(point.value(name)), chart_words.tip_of(point, data)
        if point.is_wrong:
            dot = Dot(x, 0.0, 0.0, 0.0, text, point.cell, is_wrong=True)
        elif spread := spread_of(point):
            dot = Dot(x, *spread, f"{text}\n{more(point)}".strip(), point.target)
        else:
            continue
        first.setdefault(point.key, point)
        found.setdefault(point.key, []).append(dot)
    series = []
    for key, dots in found.items():
        entry = entries[legend_key(first[key])]
        if first[key].is_published:  # whose lines have their implementations' markers
            entry = replace(entry, style=style_of(first[key], data))
        dots.sort(key=lambda dot: dot.x)
        series.append(Series(entry, tuple(dots), name=end_name(first[key], data)))
    series.sort(key=lambda s: (s.entry.is_pinned, s.entry.style.standing != "published"))
    return tuple(series)


def _times(data: Data, title: str, *, name: str) -> Figure:
    shown = data.slice(name, *SERIES)
    times = [point.median_ms for point in timed(shown.points)]
    log = is_log(shown, times, always=name != "ksizes")
    y = Axis("Time: median, quartiles as a bar", numbers.duration, log)
    body = Plot(_x_axis(shown, name)[0], y, _series(shown, name, lambda point: point.ms))

    def say(own: Slice) -> str:
        return f"{chart_words.fastest(own, name)} {chart_words.pays_off(own, name)}".strip()

    return made(shown, title, body, chart_words.by_source(shown, say))


def _throughput(data: Data, title: str) -> Figure:
    shown = data.slice("sizes", *SERIES)
    log = is_log(shown, [rate.middle for p in shown.points if (rate := rate_of(p))])
    y = Axis("Pixels per second: median, quartiles as a bar", numbers.pixel_rate, log)
    body = Plot(_x_axis(shown, "sizes")[0], y, _series(shown, "sizes", rate_of))
    return made(shown, title, body, chart_words.by_source(shown, _say_most))


def _say_most(shown: Slice) -> str:
    rates = {p: rate.middle for p in shown.measured if (rate := rate_of(p))}
    if not rates:
        return ""
    best = max(rates, key=lambda point: rates[point])
    where = cell_words.where(best.cell, ["sizes"])
    most = numbers.pixel_rate(rates[best])
    return f"{series_name(best, shown.data)} filters the most, {most} at {where}."


def _speed_ups(data: Data, title: str, *, name: str) -> Figure:
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
        chart_words.by_source(shown, lambda own: _say_best(own, against, name)),
        options=against.option,
        notes=against.notes,
    )


def _say_best(shown: Slice, against: Against, name: str) -> str:
    rated = [(ratio.middle, p) for p in shown.points if (ratio := against.of(p))]
    if len(rated) < 2:
        return ""
    most, best = max(rated, key=lambda pair: pair[0])
    if most < 1.05:
        return f"Nothing is faster than {against.name}."
    who, where = series_name(best, shown.data), cell_words.where(best.cell, [name])
    most_words = f"{numbers.ratio(most)}{against.star(best)}"
    return f"At best {who} is {most_words} as fast as {against.name}, at {where}."


# -- the roofline: a model beside the measurement, as bytes and operations are computed

NO_PLACE = "Operations are not described, so that there is no place for it here"
UNIT = f"{numbers.GAP}FLOP/B"
ROOM = 2.0  # factor by which the roof reaches beyond the outermost points


def _why_no_roof(data: Data) -> str | None:
    machines = [s.machine for s in data.sessions if s.machine.gpu]
    if not machines:
        return "No GPU was measured, and the roof is a GPU's."
    if not any(machine.ceilings for machine in machines):
        return f"The ceilings of {machines[0].name} were not measured."
    points = [point for point in timed(data.points) if point.on_gpu]
    if not points:
        return "No time on a GPU is measured yet."
    if not any(map(_roof, points)):
        return f"{NO_PLACE}: {chart_words.list_of(chart_words.titles_of(points))}."
    return None


def _roof(point: Point) -> Roof | None:
    machine, found = point.source.machine, point.measurement
    return roof_of(Record(point.cell, found), machine) if machine and found else None


def _roofline(data: Data, title: str) -> Figure:
    everything = data.slice("ksizes", *SERIES)
    shown = everything.of(p for p in everything.measured if p.on_gpu)
    roofs = {id(point): _roof(point) for point in shown.points}
    placed: dict[str, list[tuple[Point, Roof]]] = {}
    for point in visible(shown):
        if roof := roofs[id(point)]:
            placed.setdefault(point.key, []).append((point, roof))
    entries = entries_of(shown)
    series = []
    for line in placed.values():
        dots = (_dot(*each, data) for each in sorted(line, key=lambda pair: pair[0].cell.ksize))
        series.append(Series(entries[legend_key(line[0][0])], tuple(dots)))
    seen = [pair for line in placed.values() for pair in line]
    placeless = [p for p in shown.points if not roofs[id(p)]]
    x = Axis("FLOP per byte that must be moved", lambda x: f"{numbers.three_digits(x)}{UNIT}", True)
    y = Axis("Model: operations per second", _flops, True)
    body = Plot(x, y, tuple(series), _guides(seen))
    return made(shown, title, body, _say_nearest(seen, data), notes=_exceptions(seen, placeless))


def _flops(tflop_s: float) -> str:
    if tflop_s < 0.9995:
        return f"{numbers.three_digits(tflop_s * 1e3)}{numbers.GAP}GFLOP/s"
    return f"{numbers.three_digits(tflop_s)}{numbers.GAP}TFLOP/s"


def _dot(point: Point, roof: Roof, data: Data) -> Dot:
    assert point.ms is not None
    x, y = roof.intensity, roof.achieved_tflop_s
    said = (chart_words.tip_of(point, data), roof.sentence, _work_in_words(roof.work))
    low, high = (y * point.ms.middle / ms for ms in (point.ms.high, point.ms.low))
    return Dot(x, y, low, high, "\n".join(said), point.cell)


def _work_in_words(work: Work) -> str:
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
    xs = [roof.intensity for _, roof in seen]
    roofs = {point.source: roof for point, roof in reversed(seen)}
    guides: list[Guide] = []
    for source in dict.fromkeys(point.source for point, _ in seen):
        roof, whose = roofs[source], f"{source.name}: " if len(roofs) > 1 else ""
        ridge = 1e3 * roof.tflop_s / roof.copy_gb_s
        first, last = min(*xs, ridge) / ROOM, max(*xs, ridge) * ROOM
        slope = ((first, roof.copy_gb_s * first / 1e3), (ridge, roof.tflop_s))
        flat = ((ridge, roof.tflop_s), (last, roof.tflop_s))
        copy = f"{whose}copy {numbers.byte_rate(roof.copy_gb_s)}"
        guides.append(Guide(slope, copy, is_at_start=True))
        guides.append(Guide(flat, f"{whose}arithmetic {_flops(roof.tflop_s)}"))
    return tuple(guides)


def _say_nearest(seen: Sequence[tuple[Point, Roof]], data: Data) -> str:
    if not seen:
        return ""
    best, roof = max(seen, key=lambda pair: pair[1].share)
    size = cell_words.in_words("ksizes", best.cell.ksize)
    return f"{series_name(best, data)} at {size} comes nearest. {roof.sentence}"


def _exceptions(seen: Iterable[tuple[Point, Roof]], placeless: Sequence[Point]) -> tuple[str, ...]:
    resident = [point for point, roof in seen if roof.is_l2_resident]
    tensor = [point for point, roof in seen if roof.compute_ms is None]
    told = {
        "Fits into the L2 cache, which is quicker than the roof": resident,
        "Multiplies on tensor cores, whose own ceiling was not measured": tensor,
        NO_PLACE: placeless,
    }
    names = {what: chart_words.titles_of(those) for what, those in told.items() if those}
    return tuple(f"{what}: {chart_words.list_of(each)}." for what, each in names.items())


KINDS = {
    "time_by_size": ChartKind(several("sizes"), partial(_times, name="sizes"), varies("sizes")),
    "time_by_kernel": ChartKind(
        several("ksizes"),
        partial(_times, name="ksizes"),
        lambda plan: len(plan.ksizes) > 1 and len(plan.sizes) == 1,
    ),
    "time_by_count": ChartKind(several("counts"), partial(_times, name="counts"), varies("counts")),
    **{
        f"speedup_by_{key}": ChartKind(
            several(name, "implementations"), partial(_speed_ups, name=name)
        )
        for key, name in (("size", "sizes"), ("kernel", "ksizes"))
    },
    "roofline": ChartKind(_why_no_roof, _roofline),
    "throughput": ChartKind(several("sizes"), _throughput),
}
