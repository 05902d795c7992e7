"""How the threads of a line hand numbers over through shared memory: in transforms, at edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import COMPLEX
from kernels.anatomy.transform_words import PARTS, held, part_held


class Axis(NamedTuple):
    """What lines lie along.

    position  number of a thread, and part of it -> where on the axis that is, from 0 to size - 1
    size      of the picture, and
    reach     so far beyond its end numbers are needed
    place     position -> number of the array
    source    position, also beyond the picture -> position that stands for it, or NOWHERE
    """

    position: Callable[[Places, Places], Places]
    size: int
    reach: int
    place: Callable[[Places], Places]
    source: Callable[[Places], Places]


@dataclass(frozen=True, slots=True, eq=False)
class HandingOver:
    """`transform` and `fill_in` of fft_registers, in shared memory.

    side   threads of a line, and numbers of each
    base   (threads,) where each thread's line begins
    nth    (threads,) which of its line's threads each is
    apart  what is for one thread of a line lies so many floats from what is for the next,
    close  and there what is from one so many floats from what is from the next
    """

    at: Scene
    side: int
    base: Places
    nth: Places
    apart: int
    close: int

    def transform(self, ways: tuple[str, ...] = ("",)) -> tuple[Access, ...]:
        """ways  words behind others, of transforms one after another"""
        roots = {"way": len(ways), "root": self.side}
        parts = {"way": len(ways), "part": 2, "number": self.side}

        def root(_: Places, n: Places) -> Places:
            return n * self.side + self.nth

        def given(_way: Places, _part: Places, n: Places) -> Places:
            return self.base + n * self.apart + self.nth * self.close

        def root_words(way: int, n: int) -> str:
            return f"root {n + 1}{ways[way]}"

        def words(other: str) -> Callable[[int, int, int], str]:
            return lambda way, part, n: f"{PARTS[part]} {other} thread {n} of the line{ways[way]}"

        return (
            self.at.load("Load a root", "weights", roots, root, 1, COMPLEX, root_words),
            self.at.store("Hand over: store", TILE, parts, given, words=words("for")),
            self.at.load(
                "Hand over: read",
                TILE,
                parts,
                lambda _way, part, n: self._own(part, n),
                words=words("from"),
            ),
        )

    def begin(
        self, name: str, array: str, item_bytes: int, parts: int, on: Axis, is_edge: bool
    ) -> tuple[Access, ...]:
        """Return the loads of all numbers; then, if `is_edge`, of those beyond the picture's edges.

        parts  of a number that are loaded by themselves
        """

        def inside(j: Places, part: Places) -> Places:
            at = on.position(j, part)
            return only(on.place(at), (at >= 0) & (at < on.size))

        loops = {"number": self.side, "part": parts}
        words = part_held if parts > 1 else lambda n, _: held(n)
        load = self.at.load(name, array, loops, inside, 1, item_bytes, words)
        return (load, *self._fill_in(array, item_bytes, on)) if is_edge else (load,)

    def _fill_in(self, array: str, item_bytes: int, on: Axis) -> tuple[Access, ...]:
        """Numbers beyond the picture's edges, which are zero where nothing stands for them."""

        def is_missing(j: Places, part: Places) -> Mask:
            at = on.position(j, part)
            return (at < 0) | ((at >= on.size) & (at < on.size + on.reach))

        every = {"part": 2, "number": self.side}
        part, j = np.divmod(np.arange(2 * self.side), self.side)
        is_edge = is_missing(j[:, None], part[:, None]).any(1)
        part, j = part[is_edge], j[is_edge]
        edges = {"edge": len(j)}

        def load(n: Places) -> Places:
            source = on.source(on.position(j[n], part[n]))
            return only(on.place(source), (source != NOWHERE) & is_missing(j[n], part[n]))

        def mended(n: Places) -> Places:
            return only(self._own(part[n], j[n]), is_missing(j[n], part[n]))

        def words(part: int, n: int) -> str:
            return part_held(n, part)

        def edge_words(n: int) -> str:
            return part_held(j[n], part[n])

        at, own = self.at, self._own
        return (
            at.store("At an edge: store all", TILE, every, own, words=words),
            at.load("At an edge: load", array, edges, load, 1, item_bytes, edge_words),
            at.store("At an edge: store", TILE, edges, mended, words=edge_words),
            at.load("At an edge: read all", TILE, every, own, words=words),
        )

    def _own(self, _part: Places, n: Places) -> Places:
        return self.base + self.nth * self.apart + n * self.close
