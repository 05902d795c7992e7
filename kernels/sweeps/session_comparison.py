"""Two sessions side by side: where the second is faster, where slower, and where they are equal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kernels.core.timing import Comparison, Timing, Verdict, compare
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Record, Session

# What was chosen or allocated once at a process's start, and what else runs on the computer, makes
# the same work differ from one session to the next.  `tests.benches.repeat` on a host with
# 16 cores and an H200: 23 % of 360 pairs differed by more than their intervals; by more than this,
# in a second run, 11 %, half of them of one sweep that was slowed twofold.  So what is
# known to have been disturbed gets no verdict at all.  A launch of some microseconds has a larger
# share of what differs: a clock's tick, where its memory lies.
CPU_WITHIN = 0.15
GPU_WITHIN = 0.03
SHORT_WITHIN, SHORT_MS = 0.05, 0.010  # on the GPU, where either of the two is shorter than this
EQUAL = (
    f"equal within {100 * GPU_WITHIN:g} % (under {1000 * SHORT_MS:g} µs {100 * SHORT_WITHIN:g} %, "
    f"CPU {100 * CPU_WITHIN:g} %) or noise"
)
DISTURBED = "No verdict: a time was disturbed."


@dataclass(frozen=True, slots=True)
class CellPair:
    """One cell, as it came out in the sessions A and B; None in one that does not have it.

    comparison  how B stands to A: a ratio of 2.0 is the time of A over that of B, and means that B
                takes half as long.  None unless both answers were checked and are right: what is
                wrong has no speed; nor has what was disturbed one to be compared.
    """

    cell: Cell
    a: Record | None
    b: Record | None
    comparison: Comparison | None = None

    @property
    def is_disturbed(self) -> bool:
        """Return True if both have a time, but one of them was disturbed: there is no verdict."""
        measured = [each.verified for each in (self.a, self.b) if each]
        both = [each for each in measured if each is not None]
        return len(both) == 2 and any(each.disturbances for each in both)

    @property
    def objection(self) -> str | None:
        """The reason why there is no comparison, in words, or None where there is one."""
        if self.comparison is not None:
            return None
        if self.is_disturbed:
            return DISTURBED
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
    disturbed  how many have no verdict because a time was disturbed
    incomparable, only_a, only_b  how many pairs are neither
    """

    verdicts: Counter[Verdict]
    ratio: float | None
    disturbed: int
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


def within_of(cell: Cell, *both: Timing) -> float:
    """The relative difference up to which two times of `cell` are the same: 0.03 is 3 %."""
    if not cell.cache:
        return CPU_WITHIN
    return SHORT_WITHIN if min(each.median_ms for each in both) < SHORT_MS else GPU_WITHIN


def summary_of(pairs: Iterable[CellPair]) -> Summary:
    """Return the counts, and one ratio for all."""
    pairs = tuple(pairs)
    compared = [pair.comparison for pair in pairs if pair.comparison]
    logarithms = [math.log(each.ratio) for each in compared]
    both = [pair for pair in pairs if pair.a and pair.b]
    disturbed = sum(pair.is_disturbed for pair in pairs)
    return Summary(
        verdicts=Counter(each.verdict for each in compared),
        ratio=math.exp(math.fsum(logarithms) / len(compared)) if compared else None,
        disturbed=disturbed,
        incomparable=len(both) - len(compared) - disturbed,
        only_a=sum(pair.b is None for pair in pairs),
        only_b=sum(pair.a is None for pair in pairs),
    )


def _by_cell(session: Session) -> dict[Cell, Record]:
    return {record.cell: record for record in session.records}


def _pair(cell: Cell, a: Record | None, b: Record | None) -> CellPair:
    pair = CellPair(cell, a, b)
    if a is None or b is None or a.verified is None or b.verified is None or pair.is_disturbed:
        return pair
    of_a, of_b = a.verified.kernel, b.verified.kernel
    return CellPair(cell, a, b, compare(of_b, of_a, within_of(cell, of_a, of_b)))
