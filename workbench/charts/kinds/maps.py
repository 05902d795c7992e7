"""Tables: heat maps over two dimensions, and the largest error of every output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kernels.core.verdict import Check
from workbench.base import numbers
from workbench.charts.data import chart_words
from workbench.charts.data.figure import Axis, Figure, Grid, Tile, Verdict
from workbench.charts.data.points import Data, Point, Slice, series_label
from workbench.charts.kinds import ChartKind, made, several
from workbench.charts.kinds.bars import MAX_SHAPES
from workbench.charts.kinds.lines import LABELS, Against, Quantity, baseline_option, rate_of
from workbench.model import cell_words
from workbench.model.names import implementation_title

FEW_SHAPES = "A map needs block shapes of several widths and heights."
UNCHECKED = "Nothing was measured here that could be checked."
Place = Callable[[Point], tuple[int, int]]  # column and row
Words = Callable[[Point], tuple[str, ...]]  # the lines in a tile
Mark = tuple[str, Verdict]
GOOD: Mark = ("✓", "good")
BAD: Mark = ("✗", "bad")
MISSING: Mark = ("–", "missing")
SIZES, ROWS = ("sizes", "ksizes"), ("filters", "ksizes")


def _tiles(
    shown: Slice, place: Place, value: Quantity, words: Words, best: Sequence[Point] = ()
) -> tuple[Tile, ...]:
    """A tile for each point; one without a valid time has a mark instead."""
    chosen = {id(point) for point in best}
    tiles = []
    for point in shown.points:
        at, text = place(point), chart_words.tip_of(point, shown.data)
        if found := value(point):
            is_best = id(point) in chosen
            tiles.append(Tile(*at, found.middle, words(point), text, point.target, is_best))
        elif point.objection:
            mark, verdict = BAD if point.is_wrong else MISSING
            tiles.append(Tile(*at, None, (mark,), text, point.target, verdict=verdict))
    return tuple(tiles)


# -- image size by kernel size


def _sizes_grid(shown: Slice, scale: Axis, value: Quantity, words: Words) -> Grid:
    across, down = (shown.data.values(name) for name in SIZES)

    def place(point: Point) -> tuple[int, int]:
        return across.index(point.value("sizes")), down.index(point.value("ksizes"))

    return Grid(
        tuple(cell_words.in_words("sizes", each) for each in across),
        tuple(cell_words.in_words("ksizes", each) for each in down),
        LABELS["sizes"],
        LABELS["ksizes"],
        _tiles(shown, place, value, words),
        scale,
        more_is_better=True,
    )


def _throughput(data: Data, title: str) -> Figure:
    shown = data.slice(*SIZES)

    def words(point: Point) -> tuple[str, ...]:
        rate = 1e3 * point.cell.megapixels / point.median_ms
        return numbers.pixel_rate(rate), chart_words.time_of(point)

    scale = Axis("Pixels per second; below it the time", numbers.pixel_rate, True)
    body = _sizes_grid(shown, scale, rate_of, words)
    said = _say_ends(shown.measured, rate_of, words)
    who = [series_label(point, data) for point in shown.points][:1]
    return made(shown, ", ".join((title, *who)), body, said)


def _speed_ups(data: Data, title: str) -> Figure:
    everything = data.slice(*SIZES, "implementations")
    baseline = baseline_option(everything)
    itself = baseline and baseline.chosen  # over itself the speed-up is 1 everywhere
    others = everything.of(p for p in everything.points if p.cell.implementation != itself)
    shown = others.narrowed("implementations")
    against = Against(shown, everything)

    def words(point: Point) -> tuple[str, ...]:
        found = against.of(point)
        assert found is not None
        ends = map(numbers.ratio, numbers.speed_up_ends(*found))
        interval = (" to ".join(ends),) if found.low < found.high else ()
        return (f"{numbers.speed_up(found.middle)}{against.star(point)}", *interval)

    scale = Axis(f"Speed-up: times as fast as {against.name}", numbers.ratio, True)
    body = _sizes_grid(shown, scale, against.of, words)
    for point in shown.points[:1]:
        title = f"Speed-up of {series_label(point, data)} over {against.name}"
    said = _say_ends(shown.points, against.of, words)
    return made(shown, title, body, said, options=against.option, notes=against.notes)


def _say_ends(points: Sequence[Point], value: Quantity, words: Words) -> str:
    found = [(number.middle, point) for point in points if (number := value(point))]
    found.sort(key=lambda pair: pair[0])
    if len(found) < 2:
        return ""
    ends = found[0], found[-1]
    least, most = (f"{words(each)[0]} at {cell_words.where(each.cell, SIZES)}" for _, each in ends)
    return f"From {least} to {most}."


# -- block shapes


def _sides(data: Data) -> tuple[list[int], list[int]]:
    blocks = data.values("blocks")
    return sorted({x for x, _ in blocks}), sorted({y for _, y in blocks})


def _blocks(data: Data, title: str) -> Figure:
    whole = data.slice("blocks", "implementations")
    shown = whole.of(p for p in whole.points if p.cell.block_xy).narrowed("implementations")
    wide, high = _sides(data)

    def place(point: Point) -> tuple[int, int]:
        x, y = point.cell.block_xy or (0, 0)
        return wide.index(x), high.index(y)

    def words(point: Point) -> tuple[str, ...]:
        occupancy = point.measurement.occupancy if point.measurement else None
        share = (numbers.percent(occupancy.share),) if occupancy else ()
        return (chart_words.time_of(point), *share)

    body = Grid(
        tuple(map(str, wide)),
        tuple(map(str, high)),
        "Block width, threads",
        "Block height, threads",
        _tiles(shown, place, lambda p: p.ms, words, chart_words.best_of(shown.measured)),
        Axis("Time, median; below it the occupancy", numbers.duration, True),
    )
    who = ", ".join(chart_words.titles_of(shown.points)) or "nothing with a choice of blocks"
    said = chart_words.sentence_like(chart_words.best_and_worst(shown.measured, "blocks"))
    blockless = [p for p in whole.measured if not p.cell.block_xy]
    left_out = chart_words.hidden_points(blockless, "no choice of blocks")
    return made(shown, f"{title}: {who}", body, said, notes=left_out)


# -- errors


def _errors(data: Data, title: str) -> Figure:
    data = Data(data.sessions, replace(data.choices, published=False))
    shown = data.slice(*ROWS, "implementations")
    given = [s.plan.tolerance for s in data.sessions if s.plan.tolerance is not None]
    tolerance = min(given, default=None)
    rows = list(dict.fromkeys(cell_words.where(p.cell, ROWS) for p in shown.points))
    ran = {point.cell.implementation for point in shown.points}
    columns = [key for key in data.values("implementations") if key in ran]
    tiles = []
    for point in shown.points:
        words, verdict = MISSING
        if point.measurement and (check := point.measurement.check):
            mark, verdict = GOOD if passed(check, tolerance) else BAD
            words = f"{mark} {numbers.error(check.max_error)}"
        column = columns.index(point.cell.implementation)
        row = rows.index(cell_words.where(point.cell, ROWS))
        text = chart_words.tip_of(point, data)
        tiles.append(Tile(column, row, None, (words,), text, point.cell, verdict=verdict))
    titles = tuple(map(implementation_title, columns))
    within = f", tolerance {numbers.error(tolerance)}" if tolerance is not None else ""
    body = Grid(titles, tuple(rows), "", "", tuple(tiles))
    return made(shown, f"{title}: largest error{within}", body, _say_errors(shown, tolerance))


def passed(check: Check, tolerance: float | None) -> bool:
    """Return True if an output is within its rounding bound and within the plan's tolerance."""
    return check.ok and (tolerance is None or check.max_error <= tolerance)


def _say_errors(shown: Slice, tolerance: float | None) -> str:
    ran = [(p.measurement.check, p.cell) for p in shown.points if p.measurement]
    checks = [(check, cell) for check, cell in ran if check]
    if not checks:
        return ""
    wrong = sum(not passed(check, tolerance) for check, _ in checks)
    worst, cell = max(checks, key=lambda pair: pair[0].max_error)
    bounds = "their bounds" if tolerance is None else numbers.error(tolerance)
    where = cell_words.where(cell, ROWS)
    what = implementation_title(cell.implementation) + (f" with {where}" if where else "")
    count = f"{wrong} of {len(checks)} outputs are not" if wrong else f"Outputs: {len(checks)}, all"
    error = f"the largest error is {numbers.error(worst.max_error)}, of {what}"
    return f"{count} within {bounds}; {error if worst.max_error else 'all errors are 0'}."


KINDS = {
    "block_map": ChartKind(
        lambda data: None if min(map(len, _sides(data))) > 1 else FEW_SHAPES,
        _blocks,
        lambda plan: len(plan.blocks) > MAX_SHAPES and len(plan.sizes) * len(plan.ksizes) == 1,
    ),
    "throughput_map": ChartKind(several(*SIZES), _throughput),
    "speedup_map": ChartKind(several(*SIZES, "implementations"), _speed_ups),
    "correctness": ChartKind(
        lambda data: None if any(p.measurement or p.objection for p in data.points) else UNCHECKED,
        _errors,
        lambda plan: plan.tolerance is not None,
        about_outputs=True,
    ),
}
