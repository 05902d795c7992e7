"""Wide reads of the picture: one access where all samples lie inside their row, else one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.accesses import NOWHERE, Places, Step
from kernels.anatomy.launch_scene import Mask, Scene, joined, only

# time -> (sample, row, whether it takes part) of each thread.
Wanted = Callable[[int], tuple[Places, Places, Mask]]


class WideReads:
    """`count` times, every thread that takes part wants `size` samples of a row from its own on.

    x, y         (count, threads) the first of them, and the row, which may lie beyond the picture
    whole        (count, threads) the place of the first, where all of them lie inside the row
    is_broken    (count, threads) whether some are beyond it; those are read one by one
    """

    def __init__(
        self, at: Scene, count: int, wanted: Wanted, size: int, end: int | None = None
    ) -> None:
        """end  samples of a row that are not read, from there on"""
        self._at, self._size, self._end = at, size, end
        self.x, self.y, takes_part = _stacked(at.threads, [wanted(time) for time in range(count)])
        inside = (self.x >= 0) & (self.x + size <= at.row)
        self.whole = only(joined(at.line(self.y), self.x), takes_part & inside) if count else self.x
        self.is_broken = takes_part & ~inside

    def steps(
        self,
        name: str,
        width: int,
        turn: Callable[[int], str],
        single_turn: Callable[[int], str],
        single_name: str = "",
    ) -> tuple[Step, Step]:
        """Whole, and one by one.

        width        samples of an access, of which `size` is a multiple
        turn         access -> words for it, where they are whole
        single_turn  sample -> words for it, counted through all times, where they are not
        """
        at, size, parts = self._at, self._size, self._size // width
        broken = self.is_broken
        times = np.flatnonzero(broken.any(1))  # in the middle of a picture there are none

        def whole(time: int) -> Places:
            first = self.whole[time // parts]
            return only(first + time % parts * width, first != NOWHERE)

        def every_whole() -> Places:
            first = self.whole[self.whole != NOWHERE]
            return np.asarray(first[:, None] + np.arange(parts) * width).ravel()

        def single(time: int) -> Places:
            row, sample = times[time // size], time % size
            return only(self._place(self.y[row], self.x[row] + sample), broken[row])

        def every_single() -> Places:
            x = self.x[broken][:, None] + np.arange(size)
            places = self._place(self.y[broken][:, None], x) if x.size else x
            found: Places = places[places != NOWHERE]
            return found

        def step(
            name: str,
            count: int,
            width: int,
            places: Callable[[int], Places],
            every: Callable[[], Places],
            turn: Callable[[int], str],
        ) -> Step:
            return Step(
                name,
                "global",
                "picture",
                False,
                at.sample_bytes,
                count,
                places,
                turn,
                width=width,
                every=every,
            )

        count = len(self.whole) * parts
        return (
            step(name, count, width, whole, every_whole, turn),
            step(
                single_name or f"{name} beyond the row",
                len(times) * size,
                1,
                single,
                every_single,
                lambda time: single_turn(int(times[time // size]) * size + time % size),
            ),
        )

    def _place(self, y: Places, x: Places) -> Places:
        place = self._at.source_sample(y, x)
        return place if self._end is None else only(place, x < self._end)


def _stacked(
    threads: int, found: list[tuple[Places, Places, Mask]]
) -> tuple[Places, Places, NDArray[np.bool_]]:
    if not found:
        none = np.empty((0, threads), np.int64)
        return none, none, none.astype(np.bool_)
    x, y, takes_part = zip(*found, strict=True)
    return np.stack(x), np.stack(y), np.stack(takes_part)
