"""What a sweep's points say, in a sentence or two computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kernels.sweep import Dimension, Measurement, SweepPoint, Value, in_words
from workbench import numbers

Row = dict[str, Measurement]  # by implementation, at one value


def summary(points: Sequence[SweepPoint]) -> str:
    """Who is fastest where, from where on the GPU pays off, or which block shape is best."""
    right = [point for point in points if point.verified]
    if not right:
        return ""
    if right[0].dimension == "block shape":
        return " ".join(_best_blocks(right))
    rows = _rows(right)
    return " ".join(filter(None, (_fastest(right[0].dimension, rows), _pays_off(right))))


def objections(points: Iterable[SweepPoint]) -> tuple[str, ...]:
    """A sentence for each reason, after the points that it keeps off the chart."""
    names: dict[str, list[str]] = {}
    for point in points:
        if point.objection:
            names.setdefault(point.objection, []).append(point.name)
    return tuple(f"{', '.join(those)}: {why}" for why, those in names.items())


def _rows(points: Iterable[SweepPoint]) -> dict[Value, Row]:
    """Where at least two implementations can be compared."""
    rows: dict[Value, Row] = {}
    for point in points:
        if point.value is not None and point.verified:
            rows.setdefault(point.value, {})[point.implementation.key] = point.verified
    return {value: row for value, row in sorted(rows.items(), key=_by_value) if len(row) > 1}


def _by_value(item: tuple[Value, Row]) -> tuple[int, ...]:
    return item[0] if isinstance(item[0], tuple) else (item[0],)


def _fastest(dimension: Dimension, rows: dict[Value, Row]) -> str:
    winners = [(_winner(row), value) for value, row in rows.items()]
    if len({winner for winner, _ in winners}) == 1:
        return f"{winners[0][0]} is fastest at every size."
    stretches = []
    for winner, group in groupby(winners, key=lambda pair: pair[0]):
        values = [in_words(dimension, value) for _, value in group]
        where = f"at {values[0]}" if len(values) == 1 else f"from {values[0]} to {values[-1]}"
        stretches.append(f"{winner} {where}")
    return f"Fastest: {', '.join(stretches)}." if stretches else ""


def _winner(row: Row) -> str:
    return min(row, key=lambda key: row[key].kernel.median_ms)


def _pays_off(points: Sequence[SweepPoint]) -> str:
    """From which value on the best GPU kernel beats the best CPU one, at every value measured."""
    gpu = _best_times(points, "cuda")
    cpu = _best_times(points, "cpu")
    both = sorted(value for value in gpu.keys() & cpu.keys() if isinstance(value, int))
    if not both:
        return ""
    behind = [value for value in both if gpu[value] >= cpu[value]]
    ahead = [value for value in both if value > max(behind, default=0)]
    if not behind:
        return "The GPU's kernel beats the CPU at every size, transfers left out."
    if not ahead:
        return "The CPU is at least as fast as the GPU's kernel at the largest size."
    first = in_words(points[0].dimension, ahead[0])
    if points[0].dimension == "image size":
        first += f" ({numbers.megapixels(ahead[0] ** 2 / 1e6)})"
    return f"The GPU's kernel pays off from {first}, transfers left out."


def _best_times(points: Iterable[SweepPoint], kind: str) -> dict[Value, float]:
    best: dict[Value, float] = {}
    for point in points:
        if point.verified and point.value is not None and point.implementation.kind == kind:
            time = point.verified.kernel.median_ms
            best[point.value] = min(time, best.get(point.value, time))
    return best


def _best_blocks(points: Sequence[SweepPoint]) -> Iterable[str]:
    """For each implementation its best shape, those equal to it within noise, and its worst."""
    shaped = [point for point in points if point.value is not None]
    for key in dict.fromkeys(point.implementation.key for point in shaped):
        mine = {
            in_words(p.dimension, p.value): p.verified.kernel
            for p in shaped
            if p.verified and p.implementation.key == key
        }
        if len(mine) < 2:
            continue
        best = min(mine, key=lambda shape: mine[shape].median_ms)
        worst = max(mine, key=lambda shape: mine[shape].median_ms)
        limit = mine[best].quartiles_ms[1]
        equal = [s for s in mine if s != best and mine[s].quartiles_ms[0] <= limit]
        ties = f" ({', '.join(equal)} equal within noise)" if equal else ""
        times = numbers.ratio(mine[worst].median_ms / mine[best].median_ms)
        slow = "" if worst in equal else f"; {worst} takes {times} as long"
        yield f"{key} is fastest with {best}{ties}{slow}."
