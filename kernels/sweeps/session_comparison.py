"""Two sessions side by side: where the second is faster, where slower, and where they are equal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kernels.core.comparison import Comparison, Verdict, compare
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Record, Session


@dataclass(frozen=True, slots=True)
class CellPair:
    """One cell, as it came out in the sessions A and B; None in one that does not have it.

    comparison  how B stands to A: a ratio of 2.0 is the time of A over that of B, and means that B
                takes half as long.  None unless both answers were checked and are right: what is
                wrong has no speed.
    """

    cell: Cell
    a: Record | None
    b: Record | None
    comparison: Comparison | None = None

    @property
    def objection(self) -> str | None:
        """Return why there is no comparison, in words, or None where there is one."""
        if self.comparison is not None:
            return None
        if self.b is None:
            return "Only in A."
        if self.a is None:
            return "Only in B."
        reasons = {"A": self.a.objection, "B": self.b.objection}
        if self.a.objection == self.b.objection:
            return f"Both: {self.a.objection}"
        return " ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)


@dataclass(frozen=True, slots=True)
class Summary:
    """All pairs together.

    verdicts   how many are which
    ratio      geometric mean of the ratios of the pairs that were compared; None without any
    incomparable, only_a, only_b  how many pairs are neither
    """

    verdicts: Counter[Verdict]
    ratio: float | None
    incomparable: int
    only_a: int
    only_b: int


def compare_sessions(a: Session, b: Session) -> tuple[CellPair, ...]:
    """Return the cells of `a` in its order, then those that only `b` has.

    Cells are paired where all that decides how long something takes is equal, but for the
    machine.
    """
    of_a, of_b = _by_cell(a), _by_cell(b)
    return tuple(
        _pair(cell, of_a.get(cell), of_b.get(cell)) for cell in dict.fromkeys((*of_a, *of_b))
    )


def summary_of(pairs: Iterable[CellPair]) -> Summary:
    """Return the counts, and one ratio for all."""
    pairs = tuple(pairs)
    compared = [pair.comparison for pair in pairs if pair.comparison]
    logarithms = [math.log(each.ratio) for each in compared]
    both = [pair for pair in pairs if pair.a and pair.b]
    return Summary(
        verdicts=Counter(each.verdict for each in compared),
        ratio=math.exp(math.fsum(logarithms) / len(compared)) if compared else None,
        incomparable=len(both) - len(compared),
        only_a=sum(pair.b is None for pair in pairs),
        only_b=sum(pair.a is None for pair in pairs),
    )


def _by_cell(session: Session) -> dict[Cell, Record]:
    return {record.cell: record for record in session.records}


def _pair(cell: Cell, a: Record | None, b: Record | None) -> CellPair:
    if a is None or b is None or a.verified is None or b.verified is None:
        return CellPair(cell, a, b)
    return CellPair(cell, a, b, compare(b.verified.kernel, a.verified.kernel))
