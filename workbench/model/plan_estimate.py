"""A plan's remaining time, estimated quickly enough to do it between two frames."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kernels.sweeps.cell import Cell
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Record

MAX_ESTIMATED = 1000  # takes about 10 ms


def time_s(cells: Sequence[Cell], plan: Plan, seen: Sequence[Record] = ()) -> float:
    """Return about how many seconds `cells` of `plan` will take.

    seen  the records of it so far, in order
    More than MAX_ESTIMATED cells are judged by a sample of them.
    """
    if len(cells) <= MAX_ESTIMATED:
        return estimated_s(cells, seen, plan.sampling)
    some = Random(0).sample(cells, MAX_ESTIMATED)
    return estimated_s(some, seen, plan.sampling) * len(cells) / MAX_ESTIMATED
