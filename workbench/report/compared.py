"""Two sessions side by side: the rows of their table, the most different first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from kernels.core.timing import NO_INTERVAL
from kernels.sweeps.record import CellPair, Record
from workbench.base import numbers
from workbench.base.numbers import star
from workbench.model.cell_words import cell_in_words

COLUMNS = ("Measurement", "A", "B", "A / B", "95 % interval", "B is")
Row = tuple[str, ...]


def most_different_first(pairs: Iterable[CellPair]) -> list[CellPair]:
    """Sort pairs: the most different first, then equal ones, then those of one session alone."""

    def place(pair: CellPair) -> tuple[int, float]:
        if pair.comparison is None:
            return (2 if pair.a and pair.b else 3 if pair.a is None else 4), 0.0
        return int(pair.comparison.verdict == "same"), -abs(math.log(pair.comparison.ratio))

    return sorted(pairs, key=place)


def row_of(pair: CellPair, varied: Collection[str] = ()) -> Row:
    """The table's row for a pair; `varied` names the fields in which cells differ."""
    found, name = pair.comparison, cell_in_words(pair.cell, varied)
    times = _time(pair.a), _time(pair.b)
    if found is None:
        return (name, *times, "", "", pair.objection or "")
    interval = " – ".join(map(numbers.three_digits, found.interval or ())) or NO_INTERVAL
    return (name, *times, numbers.fine_ratio(found.ratio), interval, found.in_words)


def _time(record: Record | None) -> str:
    """Text of a verified output's time; no other output has a speed."""
    if record is None or record.verified is None:
        return numbers.MISSING
    mark = star(record.verified.disturbances)
    return f"{numbers.duration(record.verified.kernel.median_ms)}{mark}"
