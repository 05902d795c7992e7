"""Exchange of numbers between a line's threads through shared memory, for transforms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import COMPLEX
from kernels.anatomy.transform_words import PARTS, part_held


@dataclass(frozen=True, slots=True, eq=False)
class HandingOver:
    """A model of `transform` and `fill_in` of fft_registers, in shared memory.

    side   threads per line, and numbers per thread
    base   (threads,) where each thread's line begins
    nth    (threads,) each thread's number in its line
    apart  floats from the place of one receiving thread to that of the next
    close  floats, there, from what one thread sends to what the next sends
    """

    at: Scene
    side: int
    base: Places
    nth: Places
    apart: int
    close: int

    def transform(self, ways: tuple[str, ...] = ("",)) -> tuple[Access, ...]:
        """Return how a line is transformed; `ways`: words for successive transforms."""
        roots = {"way": len(ways), "root": self.side}
        parts = {"way": len(ways), "part": 2, "number": self.side}
        n = np.arange(self.side)[:, None]
        given, taken = self.base + n * self.apart + self.nth * self.close, self._own(n)

        def root_words(way: int, n: int) -> str:
            return f"root {n + 1}{ways[way]}"

        def words(other: str) -> Callable[[int, int, int], str]:
            return lambda way, part, n: f"{PARTS[part]} {other} thread {n} of the line{ways[way]}"

        load, store = self.at.load, self.at.store
        return (
            load("Load a root", "weights", roots, n * self.side + self.nth, 1, COMPLEX, root_words),
            store("Hand over: store", TILE, parts, given, words=words("for")),
            load("Hand over: read", TILE, parts, taken, words=words("from")),
        )

    def fill_in(
        self,
        array: str,
        item_bytes: int,
        where: tuple[Places, int, int],
        source: Callable[[Places], Places],
    ) -> tuple[Access, ...]:
        """Return how numbers beyond the picture's edges are filled in.

        where   (parts, side, threads) the position of each number on an axis of the picture; the
                length of that axis; and how far beyond it numbers are needed
        source  position -> number of the array that is read for it, or NOWHERE: then it is zero
        """
        every = {"part": 2, "number": self.side}
        position, size, reach = where
        is_missing = (position < 0) | ((position >= size) & (position < size + reach))
        is_missing = np.broadcast_to(is_missing, (2, self.side, self.at.threads))
        part, j = np.nonzero(is_missing.any(2))
        edges, is_edge = {"edge": len(j)}, is_missing[part, j]
        position = np.broadcast_to(position, is_missing.shape)[part, j]

        def words(part: int, n: int) -> str:
            return part_held(n, part)

        def edge_words(n: int) -> str:
            return part_held(j[n], part[n])

        own, mended = self._own(turns(every)[1]), only(self._own(j[:, None]), is_edge)
        load, store, beyond = self.at.load, self.at.store, only(source(position), is_edge)
        return (
            store("At an edge: store all", TILE, every, own, words=words),
            load("At an edge: load", array, edges, beyond, 1, item_bytes, edge_words),
            store("At an edge: store", TILE, edges, mended, words=edge_words),
            load("At an edge: read all", TILE, every, own, words=words),
        )

    def _own(self, n: Places) -> Places:
        return self.base + self.nth * self.apart + n * self.close
