"""What a sweep's points say, in a sentence or two computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from kernels.sweep import Cell, Dimension, Measurement, SweepPoint, Value, in_words
from workbench import numbers

Row = dict[str, Measurement]  # by implementation's title, at one value


@dataclass(frozen=True, slots=True)
class Scope:
    """How much of what was asked for the sentences can speak of.

    rows       the values that all have measured, from small to large
    total      how many values were asked for
    is_so_far  whether points are still missing
    """

    dimension: Dimension
    rows: dict[Value, Row]
    total: int
    is_so_far: bool

    @property
    def is_everything(self) -> bool:
        return len(self.rows) == self.total

    def __str__(self) -> str:
        return f"size{'' if len(self.rows) == 1 else 's'} measured{_so_far(self)} by all"


def summary(points: Sequence[SweepPoint], cells: Sequence[Cell]) -> str:
    """Who is fastest where, from where on the GPU pays off, or which block shape is best.

    cells  what was asked for; while points are missing, only values that all have measured count
    """
    if not points:
        return ""
    scope = _scope(points, cells)
    if scope.dimension == "block shape":
        return " ".join(_best_blocks(points, scope))
    return " ".join(filter(None, (_fastest(scope), _pays_off(points, scope))))


def objections(points: Iterable[SweepPoint]) -> tuple[str, ...]:
    """A sentence for each reason, after the points that it keeps off the chart."""
    names: dict[str, list[str]] = {}
    for point in points:
        if point.objection:
            names.setdefault(point.objection, []).append(point.name)
    return tuple(f"{', '.join(those)}: {why}" for why, those in names.items())


def _scope(points: Sequence[SweepPoint], cells: Sequence[Cell]) -> Scope:
    """Whoever has only been refused so far is not waited for: below the chart it says why."""
    asked: list[Cell | SweepPoint] = [*cells, *points]
    able = {point.implementation.key for point in points if point.verified}
    tried = {point.implementation.key for point in points}
    everyone = {each.implementation.key for each in asked} - (tried - able)
    rows: dict[Value, Row] = {}
    for point in points:
        if point.value is not None and point.verified:
            rows.setdefault(point.value, {})[point.implementation.title] = point.verified
    return Scope(
        dimension=points[0].dimension,
        rows={
            v: row for v, row in sorted(rows.items(), key=_by_value) if len(row) == len(everyone)
        },
        total=len({each.value for each in asked if each.value is not None}),
        is_so_far=len(points) < len(cells),
    )


def _by_value(item: tuple[Value, Row]) -> tuple[int, ...]:
    return item[0] if isinstance(item[0], tuple) else (item[0],)


def _so_far(scope: Scope) -> str:
    return " so far" if scope.is_so_far else ""


def _fastest(scope: Scope) -> str:
    winners = [(_winner(row), value) for value, row in scope.rows.items() if len(row) > 1]
    if not winners:
        return ""
    if len({winner for winner, _ in winners}) == 1:
        each = "the one" if len(winners) == 1 else f"each of the {len(winners)}"
        where = "every size" if scope.is_everything else f"{each} {scope}"
        return f"{winners[0][0]} is fastest at {where}."
    stretches = []
    for winner, group in groupby(winners, key=lambda pair: pair[0]):
        values = [in_words(scope.dimension, value) for _, value in group]
        where = f"at {values[0]}" if len(values) == 1 else f"from {values[0]} to {values[-1]}"
        stretches.append(f"{winner} {where}")
    among = "" if scope.is_everything else f" at the {len(winners)} {scope}"
    return f"Fastest{among}: {', '.join(stretches)}."


def _winner(row: Row) -> str:
    return min(row, key=lambda title: row[title].kernel.median_ms)


def _pays_off(points: Sequence[SweepPoint], scope: Scope) -> str:
    """From which value on the best GPU kernel beats the best CPU one, at every value measured."""
    measured = [point for point in points if point.value in scope.rows]
    gpu, cpu = _best_times(measured, "cuda"), _best_times(measured, "cpu")
    both = sorted(value for value in gpu.keys() & cpu.keys() if isinstance(value, int))
    if not both:
        return ""
    behind = [value for value in both if gpu[value] >= cpu[value]]
    ahead = [value for value in both if value > max(behind, default=0)]
    if not behind:
        where = "at every size" if scope.is_everything else "there"
        return f"The GPU's kernel beats the CPU {where}, transfers left out."
    if not ahead:
        largest = "the largest size" if scope.is_everything else "the largest of these"
        return f"The CPU is at least as fast as the GPU's kernel at {largest}."
    first = in_words(scope.dimension, ahead[0])
    if scope.dimension == "image size":
        first += f" ({numbers.megapixels(ahead[0] ** 2 / 1e6)})"
    among = "The" if scope.is_everything else "Of these, the"
    return f"{among} GPU's kernel pays off from {first}, transfers left out."


def _best_times(points: Iterable[SweepPoint], kind: str) -> dict[Value, float]:
    best: dict[Value, float] = {}
    for point in points:
        if point.verified and point.value is not None and point.implementation.kind == kind:
            time = point.verified.kernel.median_ms
            best[point.value] = min(time, best.get(point.value, time))
    return best


def _best_blocks(points: Sequence[SweepPoint], scope: Scope) -> Iterable[str]:
    """For each implementation its best shape, those equal to it within noise, and its worst."""
    shaped = [point for point in points if point.value is not None]
    for title in dict.fromkeys(point.implementation.title for point in shaped):
        mine = {
            in_words(p.dimension, p.value): p.verified.kernel
            for p in shaped
            if p.verified and p.implementation.title == title
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
        some = f"Of {len(mine)} shapes measured{_so_far(scope)}, "
        among = "" if len(mine) == scope.total else some
        yield f"{among}{title} is fastest with {best}{ties}{slow}."
