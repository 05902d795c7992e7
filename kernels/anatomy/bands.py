"""What rungs for separable weights have in common that move sixteen bytes at a time: the words of
separable.cuh, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import FLOAT, QUAD, TILE
from kernels.anatomy.transactions import LANES


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A chunk a thread, from the picture to the stage.

    x, y   its first sample and its row, which may lie beyond the picture
    place  where it goes, in words of shared memory
    """

    x: Places
    y: Places
    place: Places
    takes_part: Mask


# (row of the stage, row of the sums, part of the row, whether it takes part), of each thread.
Item = tuple[Places, Places, Places, Mask]


class Bands:
    """A scene in the names of separable.cuh, for blocks that make `width` samples of a row."""

    def __init__(self, at: Scene, width: int) -> None:
        self.at, self.width, self.wide = at, width, Chunks(at)
        is_float = at.sample_bytes == FLOAT
        self.band = 4 if at.ksize <= 15 and is_float else 8
        self.part = 16 if is_float else 32
        self.lead = -(-(at.ksize - 1) // self.band)
        self.spare = self.lead * self.band - (at.ksize - 1)
        self.stage_chunks = width // self.wide.chunk + 2 * self.wide.halo
        self.stage_stride = self.stage_chunks | 1  # chunks
        self.sums_stride = width // QUAD | 1  # quads

    # -- from the picture to the stage

    def begin_rows(self, rows: int, x0: int, y0: int, first: int = 0, end: int = -1) -> list[Move]:
        """Rows `first` to `end` - 1 of `rows`: whole chunks a warp a row, then those that reach
        beyond the row's ends."""
        at, chunk = self.at, self.wide.chunk
        end = rows if end < 0 else end
        x = x0 - self.wide.halo * chunk
        left = max(-x // chunk, 0) if x < 0 else 0
        right = min((at.row - x) // chunk, self.stage_chunks)
        wanted = min((at.row + at.halo_x - x + chunk - 1) // chunk, self.stage_chunks)
        whole = self._whole(rows, x, y0, range(first, end), left, right)
        edges = left + max(wanted - right, 0)
        return [*whole, *self._broken(x, y0, range(first * edges, end * edges), edges, left, right)]

    def _whole(
        self, rows: int, x: int, y0: int, wanted: range, left: int, right: int
    ) -> list[Move]:
        at = self.at
        warp, lane = at.thread // LANES, at.thread % LANES
        is_inside = y0 >= 0 and y0 + rows <= at.height and wanted == range(rows)
        begin = 0 if is_inside else left  # in the middle no lane waits for the first chunk
        found = []
        for row in range(0, wanted.stop, at.threads // LANES):
            for column in range(begin, self.stage_chunks if is_inside else right, LANES):
                i, c = row + warp, column + lane
                takes_part = (wanted.start <= i) & (i < wanted.stop) & (left <= c) & (c < right)
                found.append(self._move(x, y0, i, c, takes_part))
        return found

    def _broken(
        self, x: int, y0: int, numbers: range, edges: int, left: int, right: int
    ) -> list[Move]:
        found = []
        for begin in range(numbers.start, numbers.stop, self.at.threads):
            n = begin + self.at.thread
            i, c = n // edges, n % edges
            c = np.where(c < left, c, right + c - left)
            found.append(self._move(x, y0, i, c, n < numbers.stop))
        return found

    def _move(self, x: int, y0: int, i: Places, c: Places, takes_part: Mask) -> Move:
        place = QUAD * (i * self.stage_stride + c)
        return Move(x + c * self.wide.chunk, y0 + i, place, takes_part)

    def staging(self, moves: Sequence[Move]) -> tuple[Step, ...]:
        def read(time: int) -> tuple[Places, Places, Mask]:
            return moves[time].x, moves[time].y, moves[time].takes_part

        def place(time: int) -> Places:
            return only(moves[time].place, moves[time].takes_part)

        return (
            *self.wide.reads("Stage: load", len(moves), read, load_words),
            quads("Stage: store", True, len(moves), place, load_words),
        )

    # -- along x

    def along(
        self,
        items: Sequence[Item],
        sums_at: int,
        times: int = 1,
    ) -> tuple[Step, ...]:
        """items    a part of a row for each thread, one after another
        sums_at  where the sums begin, in words
        times    all of them are gone through"""
        offsets = self._chunks_of_a_part()
        quads_a_part = self.part // QUAD

        def read(time: int) -> Places:
            (row, _, part, takes_part), offset = _of(items, offsets, time)
            chunk = row * self.stage_stride + part * (self.part // self.wide.chunk) + offset
            return only(QUAD * chunk, takes_part)

        def write(time: int) -> Places:
            (_, row, part, takes_part), quad = _of(items, range(quads_a_part), time)
            place = row * self.sums_stride + part * quads_a_part + quad
            return only(sums_at + QUAD * place, takes_part)

        def turn(time: int, each: int, name: str) -> str:
            return f"{name} {time % each + 1} of part {time // each % len(items) + 1}"

        return (
            quads(
                "Read a chunk",
                False,
                times * len(items) * len(offsets),
                read,
                lambda time: turn(time, len(offsets), "chunk"),
            ),
            quads(
                "Store sums along the row",
                True,
                times * len(items) * quads_a_part,
                write,
                lambda time: turn(time, quads_a_part, "quad"),
            ),
        )

    def _chunks_of_a_part(self) -> list[int]:
        """Which chunks a part's sums are made of, from the first, in their order."""
        at, chunk = self.at, self.wide.chunk
        centre = self.wide.halo * chunk
        alpha = [
            (centre + s) // chunk
            for s in range(self.part)
            if at.job.has_alpha and s % at.channels == at.channels - 1
        ]
        taps = at.ksize if at.ksize <= 31 else 16  # that are unrolled
        steps = [(n * (taps * at.channels // chunk), taps) for n in range(at.ksize // taps)]
        if at.ksize % taps:
            steps.append((at.ksize // taps * (taps * at.channels // chunk), at.ksize % taps))
        return alpha + [
            first + c
            for first, count in steps
            for c in range(-(-(self.wide.spare + (count - 1) * at.channels + self.part) // chunk))
        ]

    # -- down the columns

    def down(
        self, row_at: Callable[[int], Places], works: Mask, times: int = 1, begun: int = 1
    ) -> tuple[Step, ...]:
        """row_at  row of the sums, from the first that is needed -> its place, in words
        times   all rows are read; of which `begun` begin with alpha"""
        tall = self.at.ksize + self.band - 1

        def read(time: int) -> Places:
            return only(row_at(time % tall), works)

        def alpha(time: int) -> Places:
            return only(row_at(self.at.radius + time % self.band), works)

        rows = quads(
            "Read sums down the columns",
            False,
            times * tall,
            read,
            lambda time: f"row {time % tall + 1}",
        )
        if not self.at.job.has_alpha:
            return (rows,)
        return (
            quads("Read alpha", False, begun * self.band, alpha, lambda time: f"row {time + 1}"),
            rows,
        )

    def answer(self, x: Places, y: Places, end: int, works: Mask) -> Step:
        """Four samples of each row of a band: write_band.

        end  of the rows that the block writes"""
        at = self.at

        def places(time: int) -> Places:
            return only(at.begin(y + time) + x, works & (y + time < end))

        return Step(
            "Store the answer",
            "global",
            "picture",
            True,
            at.sample_bytes,
            self.band,
            places,
            lambda time: f"row {time + 1}",
            width=QUAD,
        )


def load_words(time: int) -> str:
    return f"load {time + 1}"


def quads(
    name: str,
    is_store: bool,
    count: int,
    places: Callable[[int], Places],
    turn: Callable[[int], str],
    loads: Callable[[], tuple[int, int]] | None = None,
) -> Step:
    """An access to shared memory, four words a lane."""
    return Step(name, "shared", TILE, is_store, FLOAT, count, places, turn, loads, QUAD)


def _of(items: Sequence[Item], parts: Sequence[int], time: int) -> tuple[Item, int]:
    item, part = divmod(time, len(parts))
    return items[item % len(items)], parts[part]
