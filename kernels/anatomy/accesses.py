"""One instruction of a rung that loads or stores, for all threads of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

NOWHERE = -1  # the place of a thread that takes no part
TILE = "tile"  # the array in shared memory
Places = NDArray[np.int64]  # (threads,): which number of an array each thread wants
Find = Callable[..., Places]
Words = Callable[..., str]
Loops = Mapping[str, int]
Time = TypeVar("Time", int, Places)

MAX_PLACES = 1 << 20  # found at a time
SPARSE = 64  # places for each number, from which sorting numbers is quicker than marking places


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """An instruction that loads or stores, and the loops around it.

    name        what it does, for people: "Stage: load"
    array       "picture", "weights", a buffer of the rung, or TILE
    item_bytes  bytes per number
    threads     threads per block
    loops       the name of one turn -> how many turns there are; the outermost loop first
    find        the index of each loop, (n, 1) -> (n, threads), or what broadcasts to that: which
                number of the array each thread wants, or NOWHERE.  In arrays laid out like the
                picture, number x of row y is y * PITCH + x
    width       how many neighbouring numbers one access takes, from its place on
    words       the index of each loop -> words for that time; None: "quad 2 of load 1"
    known       accesses of all threads at all times, where known without visiting every time
    different   (n,) all distinct places, where they are known in the same way
    """

    name: str
    array: str
    is_store: bool
    item_bytes: int
    threads: int
    loops: Loops
    find: Find
    width: int = 1
    words: Words | None = None
    known: int | None = None
    different: Callable[[], Places] | None = None

    @property
    def memory(self) -> Literal["global", "shared"]:
        """Return the memory that is accessed: "shared" for the tile, "global" for all else."""
        return "shared" if self.array == TILE else "global"

    @property
    def bytes(self) -> int:
        """Return how many bytes one access moves."""
        return self.item_bytes * self.width

    @property
    def count(self) -> int:
        """Return how many times the instruction is executed: the product of its loops."""
        return prod(self.loops.values())

    def turn(self, time: int) -> str:
        """Return words for a time: "tap x 3, y 1"; "" where there is only one."""
        found = indices(self.loops, time)
        if self.words is not None:
            return self.words(*found)
        each = zip(self.loops.items(), found, strict=True)
        named = [f"{name} {index + 1}" for (name, size), index in each if size > 1]
        return " of ".join(reversed(named))

    def places(self, time: int) -> Places:
        """Return which number each thread wants at a time: (threads,), NOWHERE for none."""
        found: Places = self._places(np.array([time]))[0]
        return found

    def asked(self) -> int:
        """Return how many numbers all threads load or store over all times."""
        return self.width * (len(self.taken()) if self.known is None else self.known)

    def taken(self) -> Places:
        """Return the place of each access of each thread: (n,)."""
        return np.concatenate([each[each != NOWHERE] for each in self._every()])

    def takes_part(self) -> NDArray[np.bool_]:
        """Return which threads take part at any time: (threads,)."""
        found = [(each != NOWHERE).any(0) for each in self._every()]
        return np.asarray(np.any(found, 0))

    def _every(self) -> Iterator[Places]:
        """Yield the places of all times in batches: (n, threads)."""
        count, step = self.count, max(MAX_PLACES // self.threads, 1)
        for begin in range(0, max(count, 1), step):
            yield self._places(np.arange(begin, min(begin + step, count)))

    def _places(self, times: Places) -> Places:
        found = self.find(*indices(self.loops, times[:, None]))
        return np.broadcast_to(found, (len(times), self.threads))


def indices(loops: Loops, time: Time) -> list[Time]:
    """Return the index of each loop at one time, or at an array of times."""
    found = []
    for size in reversed(list(loops.values())):
        found.append(time % size)
        time = time // size
    return found[::-1]


def count_different(accesses: Sequence[Access]) -> int:
    """Return how many different numbers of one array the accesses take together.

    They are marked in a mask rather than sorted where they lie close together: that is faster.
    A transform's lie far apart, and a mask of all between them would take 13 MB for 256 numbers.
    """
    taken = [
        (each.different() if each.different else each.taken(), each.width) for each in accesses
    ]
    taken = [(first, width) for first, width in taken if len(first)]
    if not taken:
        return 0
    begin = min(int(first.min()) for first, _ in taken)
    end = max(int(first.max()) + width for first, width in taken)
    if end - begin > SPARSE * sum(width * len(first) for first, width in taken):
        every = [(first[:, None] + np.arange(width)).ravel() for first, width in taken]
        return len(np.unique(np.concatenate(every)))
    is_there = np.zeros(end - begin, np.bool_)
    for first, width in taken:
        is_first = np.zeros(end - begin, np.bool_)
        is_first[first - begin] = True
        for n in range(width):
            is_there[n:] |= is_first[: len(is_first) - n]
    return int(np.count_nonzero(is_there))


def tap_words(row: int, column: int, *_: Any) -> str:
    """Return which tap of the weights is meant, counted from one."""
    return f"tap x {column + 1}, y {row + 1}"
