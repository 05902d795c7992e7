"""What rungs for separable weights have in common that move sixteen bytes at a time: the words of
separable.cuh, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Find, Loops, Places
from kernels.anatomy.chunks import Chunks, wide_answer
from kernels.anatomy.launch_scene import FLOAT, Mask, Scene, only
from kernels.anatomy.pattern import QUAD
from kernels.anatomy.transactions import LANES


class Moves(NamedTuple):
    """Chunks from the picture to the stage, one a thread at a time; all of them (n, threads).

    x, y    first sample and row, which may lie beyond the picture
    places  where it goes, in words of shared memory
    """

    x: Places
    y: Places
    places: Places
    takes_part: Mask


class Items(NamedTuple):
    """Parts of a row, one a thread at a time; all of them (n, threads)."""

    stage_row: Places
    sums_row: Places
    part: Places
    takes_part: Mask


class Bands:
    """A scene in the names of separable.cuh, for blocks that compute `width` samples of a row."""

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

    def begin_rows(
        self, rows: int, x0: int, y0: int, first: int = 0, end: int | None = None
    ) -> Moves:
        """Rows `first` to `end` - 1 of `rows`: whole chunks a warp a row, then those that reach
        beyond the row's ends."""
        at, chunk = self.at, self.wide.chunk
        end = rows if end is None else end
        x = x0 - self.wide.halo * chunk
        left = max(-x // chunk, 0) if x < 0 else 0
        right = min((at.row - x) // chunk, self.stage_chunks)
        wanted = min((at.row + at.halo_x - x + chunk - 1) // chunk, self.stage_chunks)
        is_inside = y0 >= 0 and y0 + rows <= at.height and (first, end) == (0, rows)

        begin = 0 if is_inside else left  # in the middle no lane waits for the first chunk
        row = np.arange(0, end, at.threads // LANES)[:, None, None] + at.thread // LANES
        column = np.arange(begin, self.stage_chunks if is_inside else right, LANES)
        column = column[:, None] + at.thread % LANES
        whole = (first <= row) & (row < end) & (left <= column) & (column < right)

        edges = left + max(wanted - right, 0)
        n = np.arange(first * edges, end * edges, at.threads)[:, None] + at.thread
        edge = n % max(edges, 1)
        edge = np.where(edge < left, edge, right + edge - left)

        i, c, takes_part = (
            np.concatenate((np.broadcast_to(each, whole.shape).reshape(-1, at.threads), other))
            for each, other in ((row, n // max(edges, 1)), (column, edge), (whole, n < end * edges))
        )
        return Moves(x + c * chunk, y0 + i, QUAD * (i * self.stage_stride + c), takes_part)

    def staging(self, *moves: Moves) -> tuple[Access, ...]:
        every = Moves(*map(np.concatenate, zip(*moves, strict=True)))
        thread, loops = self.at.thread, {"load": len(every.x)}

        def wanted(n: Places) -> tuple[Places, Places, Mask]:
            return every.x[n, thread], every.y[n, thread], every.takes_part[n, thread]

        def place(n: Places) -> Places:
            return only(every.places[n, thread], every.takes_part[n, thread])

        return (
            *self.wide.loads("Stage: load", loops, wanted),
            self.at.store("Stage: store", TILE, loops, place, QUAD),
        )

    # -- along x

    def parts(self, rows: int) -> Items:
        """Return all parts of `rows` rows: neighbouring threads are in neighbouring rows."""
        count = rows * (self.width // self.part)
        n = np.arange(0, count, self.at.threads)[:, None] + self.at.thread
        return Items(n % rows, n % rows, n // rows, n < count)

    def along(self, items: Items, sums_at: int, terms: int = 1) -> tuple[Access, ...]:
        """sums_at  where the sums begin, in words
        terms    all of them are gone through"""
        offsets, thread = np.array(self._chunks_of_a_part()), self.at.thread
        chunks_a_part, quads_a_part = self.part // self.wide.chunk, self.part // QUAD

        def read(_: Places, item: Places, chunk: Places) -> Places:
            row, part = items.stage_row[item, thread], items.part[item, thread]
            place = row * self.stage_stride + part * chunks_a_part + offsets[chunk]
            return only(QUAD * place, items.takes_part[item, thread])

        def write(_: Places, item: Places, quad: Places) -> Places:
            row, part = items.sums_row[item, thread], items.part[item, thread]
            place = row * self.sums_stride + part * quads_a_part + quad
            return only(sums_at + QUAD * place, items.takes_part[item, thread])

        loops = {"term": terms, "part": len(items.part)}
        chunks, quads = {**loops, "chunk": len(offsets)}, {**loops, "quad": quads_a_part}
        return (
            self.at.load("Read a chunk", TILE, chunks, read, QUAD),
            self.at.store("Store sums along the row", TILE, quads, write, QUAD),
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

    def down(self, row_at: Find, outer: Loops | None = None, terms: int = 1) -> tuple[Access, ...]:
        """row_at  the indices of `outer`, and row of the sums, from the first that is needed -> its
        place in words, or NOWHERE
        terms   all rows are read; the first time after alpha"""
        loops = outer or {}

        def read(*index: Places) -> Places:
            *others, _, row = index
            return row_at(*others, row)

        def alpha(*index: Places) -> Places:
            *others, row = index
            return row_at(*others, self.at.radius + row)

        rows = {**loops, "term": terms, "row": self.at.ksize + self.band - 1}
        own = self.at.load("Read alpha", TILE, {**loops, "row": self.band}, alpha, QUAD)
        sums = self.at.load("Read sums down the columns", TILE, rows, read, QUAD)
        return (own, sums) if self.at.job.has_alpha else (sums,)

    def answer(
        self, own: Callable[..., tuple[Places, Places, Mask]], end: int, outer: Loops | None = None
    ) -> Access:
        """Four samples of each row of a band: write_band.

        own  the indices of `outer` -> first sample and row of each thread's band, and whether it
             has one
        end  of the rows that the block writes"""

        def wanted(*index: Places) -> tuple[Places, Places, Mask]:
            *others, row = index
            x, y, works = own(*others)
            return x, y + row, works & (y + row < end)

        return wide_answer(self.at, {**(outer or {}), "row": self.band}, wanted, QUAD)[-1]
