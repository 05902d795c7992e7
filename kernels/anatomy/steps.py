"""One instruction of a rung that loads or stores, for all threads of a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

NOWHERE = -1  # for a thread that takes no part
Places = NDArray[np.int64]  # (threads,): which number of an array each thread wants


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An access to memory, and how often it is gone through.

    name        what it does, for people: "Stage: load"
    array       "picture", "weights", a buffer of the rung, or "tile" in shared memory
    item_bytes  of one number
    count       times; each has its own places
    places      time -> (threads,) of numbers of the array, or NOWHERE.  In arrays like the picture
                number x of row y is y * PITCH + x
    width       numbers that one access takes, side by side from its place on
    turn        time -> words for it: "tap 3, 1"
    loads       where that is known without going through all times: how many numbers all threads
                take, and how many different ones that steps before it do not load
    """

    name: str
    memory: Literal["global", "shared"]
    array: str
    is_store: bool
    item_bytes: int
    count: int
    places: Callable[[int], Places]
    turn: Callable[[int], str] = field(default=lambda _: "")
    loads: Callable[[], tuple[int, int]] | None = None
    width: int = 1

    @property
    def bytes(self) -> int:
        """Of one access."""
        return self.item_bytes * self.width

    def asked(self) -> tuple[int, int]:
        """How many numbers all threads load or store, and how many of those are different."""
        if self.loads is not None:
            return self.loads()
        taken = self.taken()
        return len(taken), count_different(taken)

    def taken(self) -> Places:
        """(n,) every number that all threads take at all times, as often as they do."""
        if self.count == 0:
            return np.empty(0, np.int64)
        all_places = np.concatenate([self.places(time) for time in range(self.count)])
        first: Places = all_places[all_places != NOWHERE]
        if self.width == 1:
            return first
        numbers: Places = (first[:, None] + np.arange(self.width)).ravel()
        return numbers


def count_different(numbers: Places) -> int:
    """How many there are of `numbers`, of which none is below zero: marked, which is quicker than
    to sort them, as they lie near one another."""
    if not len(numbers):
        return 0
    first = int(numbers.min())
    is_there = np.zeros(int(numbers.max()) - first + 1, np.bool_)
    is_there[numbers - first] = True
    return int(np.count_nonzero(is_there))


@dataclass(frozen=True, slots=True, eq=False)
class Taps:
    """Where the taps of K×K weights are read: row by row of the weights.

    rows     (K, threads) the part of the place that depends on the tap's row, or NOWHERE
    columns  (K, threads) the part that depends on its column, or NOWHERE
    """

    rows: Places
    columns: Places

    @property
    def count(self) -> int:
        return len(self.rows) * len(self.columns)

    def places(self, tap: int) -> Places:
        rows, columns = self.rows[tap // len(self.columns)], self.columns[tap % len(self.columns)]
        return np.where((rows == NOWHERE) | (columns == NOWHERE), NOWHERE, rows + columns)

    def turn(self, tap: int) -> str:
        return f"tap {tap % len(self.columns) + 1}, {tap // len(self.columns) + 1}"

    def loads(self) -> tuple[int, int]:
        """All threads of a block that take part do so in every row and column of a rectangle, so
        the different numbers are different rows times different columns."""
        down, across = self.rows != NOWHERE, self.columns != NOWHERE
        asked = int((down.sum(0) * across.sum(0)).sum())
        works = down.any(0) & across.any(0)
        rows, columns = self.rows[:, works], self.columns[:, works]
        different = (len(np.unique(each[each != NOWHERE])) for each in (rows, columns))
        return asked, next(different) * next(different)
