"""How the threads of a line hand numbers over through shared memory: in transforms, at edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.launch_scene import Mask, only
from kernels.anatomy.pattern import FLOAT, TILE, numbers
from kernels.anatomy.transform_words import PARTS, part_held


@dataclass(frozen=True, slots=True, eq=False)
class HandingOver:
    """`transform` and `fill_in` of fft_registers, in shared memory.

    side   threads of a line, and numbers of each
    base   (threads,) where each thread's line begins
    nth    (threads,) which of its line's threads each is
    apart  what is for one thread of a line lies so many floats from what is for the next,
    close  and there what is from one so many floats from what is from the next
    """

    side: int
    base: Places
    nth: Places
    apart: int
    close: int

    def transform(self, ways: tuple[str, ...] = ("",)) -> tuple[Step, ...]:
        """ways  words behind others, of transforms one after another"""
        count = len(ways) * self.side

        def roots(time: int) -> Places:
            return time % self.side * self.side + self.nth

        def given(time: int) -> Places:
            return self.base + time % self.side * self.apart + self.nth * self.close

        def taken(time: int) -> Places:
            return self.base + self.nth * self.apart + time % self.side * self.close

        def turn(time: int) -> str:
            return f"root {time % self.side + 1}{ways[time // self.side]}"

        def part_turn(time: int, other: str) -> str:
            way, part = divmod(time // self.side, 2)
            return f"{PARTS[part]} {other} thread {time % self.side} of the line{ways[way]}"

        return (
            numbers("Load a root", "weights", False, count, roots, turn),
            self._by_all(
                "Hand over: store", True, 2 * count, given, lambda time: part_turn(time, "for")
            ),
            self._by_all(
                "Hand over: read", False, 2 * count, taken, lambda time: part_turn(time, "from")
            ),
        )

    def fill_in(
        self,
        array: str,
        item_bytes: int,
        is_missing: Callable[[int, int], Mask],
        source: Callable[[int, int], Places],
    ) -> tuple[Step, ...]:
        """Numbers beyond the picture's edges.

        is_missing  which of the threads' numbers j, and of those which part, is one of them
        source      where it is read from, or NOWHERE: then it is zero
        """
        times = [(j, part) for part in (0, 1) for j in range(self.side)]
        edges = [time for time in times if is_missing(*time).any()]

        def own(time: int) -> Places:
            return self._own(times[time][0])

        def load(time: int) -> Places:
            return only(source(*edges[time]), is_missing(*edges[time]))

        def mended(time: int) -> Places:
            return only(self._own(edges[time][0]), is_missing(*edges[time]))

        def turn(time: int) -> str:
            return part_held(*times[time])

        def edge_turn(time: int) -> str:
            return part_held(*edges[time])

        return (
            self._by_all("At an edge: store all", True, len(times), own, turn),
            Step(
                "At an edge: load",
                "global",
                array,
                False,
                item_bytes,
                len(edges),
                load,
                edge_turn,
            ),
            Step("At an edge: store", "shared", TILE, True, FLOAT, len(edges), mended, edge_turn),
            self._by_all("At an edge: read all", False, len(times), own, turn),
        )

    def _own(self, j: int) -> Places:
        return self.base + self.nth * self.apart + j * self.close

    def _by_all(
        self,
        name: str,
        is_store: bool,
        count: int,
        places: Callable[[int], Places],
        turn: Callable[[int], str],
    ) -> Step:
        """Of shared memory, and of every thread each time."""
        asked, in_all = count * len(self.nth), self.side * len(self.nth)
        loads = asked, in_all if is_store else 0  # what is read was stored before
        return Step(name, "shared", TILE, is_store, FLOAT, count, places, turn, loads=lambda: loads)
