"""One instruction of a rung that loads or stores, for all threads of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
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
    every       likewise: (n,) the place of each access of each thread, in any order
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
    every: Callable[[], Places] | None = None

    @property
    def bytes(self) -> int:
        """Of one access."""
        return self.item_bytes * self.width

    def asked(self) -> int:
        """How many numbers all threads load or store at all times."""
        return self.loads()[0] if self.loads is not None else len(self.taken()) * self.width

    def taken(self) -> Places:
        """(n,) the place of each access of each thread."""
        if self.every is not None:
            return self.every()
        if self.count == 0:
            return np.empty(0, np.int64)
        all_places = np.concatenate([self.places(time) for time in range(self.count)])
        found: Places = all_places[all_places != NOWHERE]
        return found


def count_different(steps: Sequence[Step]) -> int:
    """How many different numbers of one array they take: marked, which is quicker than to sort
    them, as they lie near one another."""
    taken = [(each.taken(), each.width) for each in steps]
    taken = [(first, width) for first, width in taken if len(first)]
    if not taken:
        return 0
    begin = min(int(first.min()) for first, _ in taken)
    end = max(int(first.max()) + width for first, width in taken)
    is_there = np.zeros(end - begin, np.bool_)
    for first, width in taken:
        is_first = np.zeros(end - begin, np.bool_)
        is_first[first - begin] = True
        for n in range(width):
            is_there[n:] |= is_first[: len(is_first) - n]
    return int(np.count_nonzero(is_there))


def tap_words(tap: int, across: int) -> str:
    """Which of the weights, `across` of them to a row, counted from one."""
    return f"tap x {tap % across + 1}, y {tap // across + 1}"


def one_after_another(steps: Sequence[Step], part: str) -> Step:
    """The same step several times as one of as many times more.

    part  what each of them is of, for people
    """
    first = steps[0]

    def places(time: int) -> Places:
        return steps[time // first.count].places(time % first.count)

    def turn(time: int) -> str:
        return f"{first.turn(time % first.count)} of {part} {time // first.count + 1}"

    return replace(first, count=first.count * len(steps), places=places, turn=turn)


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
        return tap_words(tap, len(self.columns))

    def loads(self) -> tuple[int, int]:
        """All threads of a block that take part do so in every row and column of a rectangle, so
        the different numbers are different rows times different columns."""
        down, across = self.rows != NOWHERE, self.columns != NOWHERE
        asked = int((down.sum(0) * across.sum(0)).sum())
        works = down.any(0) & across.any(0)
        rows, columns = self.rows[:, works], self.columns[:, works]
        different = (len(np.unique(each[each != NOWHERE])) for each in (rows, columns))
        return asked, next(different) * next(different)
