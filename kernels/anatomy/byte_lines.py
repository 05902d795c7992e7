"""The words of the rungs that multiply bytes: rows in shared memory, and the answer's way out.

Where matrices pass through shared memory they are described as plain loads and stores, by which
every GPU can; newer ones have single instructions for these.
"""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Loops, Places
from kernels.anatomy.launch_scene import Mask, Scene, joined, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand
from kernels.anatomy.transactions import LANES

CHUNK = 16  # samples, or bytes
LINE_CHUNKS = 8  # of a warp's 128 samples
BYTE, SHORT = 1, 2


class Lines:
    """A scene of blocks whose eight warps have a line of 128 samples each.

    rows      that the block writes
    r, n      (threads,) which of four rows, and which chunk of its line, each lane moves
    is_there  (threads,) whether its warp has samples
    """

    def __init__(self, at: Scene, ring_at: int, slots: int) -> None:
        """Begin a ring of `slots` rows at a chunk of shared memory."""
        self.at, self.ring_at, self.slots = at, ring_at, slots
        self.rows = max(min(at.shape.covers[1], at.height - at.y0), 0)
        self.row_chunks = (at.block_y + 1) * LINE_CHUNKS
        self.strip = at.shape.covers[0]
        self.r, self.n = at.tx // 8, at.tx % 8
        self.line = at.x0 + at.ty * LINE_CHUNKS * CHUNK
        self.is_there = self.line < at.row

    def place(self, row: Places, chunk: Places) -> Places:
        """Return where a chunk of a row is in shared memory, in words."""
        return QUAD * (self.ring_at + row % self.slots * self.row_chunks + chunk)

    def staging(self, fours: int, beside: int) -> tuple[Access, ...]:
        """Return how rows are copied, four at a time: begin_rows.

        beside  chunks beside the block's own, which the first warp and the last one copy
        """
        at, last = self.at, is_last_warp(self.at)
        own = at.ty * LINE_CHUNKS + self.n
        other = np.where(at.ty == 0, -beside, at.block_y * LINE_CHUNKS) + self.n
        x = at.x0 + other * CHUNK
        has_other = ((at.ty == 0) | last) & (self.n < beside) & (x >= 0) & (x < at.row)
        return (
            *self._staged("Stage: copy", fours, own, at.x0 + own * CHUNK < at.row),
            *self._staged("Stage: copy beside", fours, other, has_other),
        )

    def _staged(self, name: str, fours: int, chunk: Places, wanted: Mask) -> tuple[Access, ...]:
        at, loops = self.at, {"four rows": fours}
        row = 4 * turns(loops)[0] + self.r
        source = joined(at.line(at.y0 - at.radius + row), at.x0 + chunk * CHUNK)
        return (
            at.load(f"{name}, load", "picture", loops, only(source, wanted), CHUNK),
            at.store(f"{name}, store", TILE, loops, only(self.place(row, chunk), wanted), QUAD),
        )

    def beyond(self, count: int, beside: int) -> tuple[Access, ...]:
        """Return how samples beyond a row's ends are put beside it: Beyond::put.

        count   rows
        beside  chunks beside the block's own that were copied
        """
        at, rest, width = self.at, self.at.row - self.line, LINE_CHUNKS * CHUNK
        is_last = (rest > 0) & (is_last_warp(at) | (rest <= width)) & (rest < width + at.halo_x)
        is_at_end = at.x0 == 0 or bool(is_last.any())  # few blocks are
        fours = -(-count // 4) * (self.rows > 0) * is_at_end
        loops = {"four rows": fours, "side": 2, "sample": -(-at.halo_x // 8)}
        four, side, time = turns(loops)
        row, n = 4 * four + self.r, 8 * time + self.n
        x = np.where(side == 0, -at.halo_x, at.row) + n
        works = np.where(side == 0, self.line == 0, is_last) & (n < at.halo_x) & (row < count)

        x, row, works = np.broadcast_arrays(x, row, works)
        source = at.sample(x)
        is_there = works & (source != NOWHERE)
        around = beside * CHUNK
        is_staged = (at.x0 - around <= source) & (source < at.x0 + self.strip + around)
        read = only(self._byte(row, source - at.x0), is_there & is_staged)
        far = only(joined(at.line(at.y0 - at.radius + row), source), is_there & ~is_staged)
        some = slice(None) if (far != NOWHERE).any() else slice(0)
        stored = only(self._byte(row, x - at.x0), works)
        return (
            at.load("Read a sample of the row", TILE, loops, read, 1, BYTE),
            at.load(
                "Load one from the row's other end",
                "picture",
                {**loops, "four rows": len(far[some])},
                far[some],
            ),
            at.store("Store it beyond the row", TILE, loops, stored, 1, BYTE),
        )

    def _byte(self, row: Places, x: Places) -> Places:
        """Return the byte of sample x of a row, counted from the block's first."""
        return 4 * self.place(row, np.zeros_like(row)) + x

    def exchange(self, fours: int, *reads: Access) -> tuple[Access, ...]:
        """Return how sums become rows: as_chunks; `reads` as that depends on whose they are."""
        at = self.at
        loops = {"four rows": fours, "tile": 4, "pair": 2}
        _, tile, pair = turns(loops)
        place = at.ty * LANES * 8 + at.tx % 4 * 16 + at.tx // 4 + 64 * tile + 8 * pair
        stores = at.store("Store two samples", TILE, loops, only(place, self.is_there), 1, SHORT)
        return stores, *reads

    def chunk(self, fours: int) -> tuple[Loops, Places, int]:
        """Return the loops, places and width of reads of a lane's chunk of the answer."""
        loops = {"four rows": fours}
        return loops, only(QUAD * self.at.thread + 0 * turns(loops)[0], self.is_there), QUAD

    def walk(self, steps: tuple[Access, ...], fours: int, before: int) -> Threads:
        """Return the threads: after `steps` they store the answer, `before` rows behind."""
        at, loops = self.at, {"four rows": fours}
        y, x = 4 * turns(loops)[0] + self.r - before, self.line + self.n * CHUNK
        stored = only(at.begin(at.y0 + y) + x, (x < at.row) & (y >= 0) & (y < self.rows))
        answer = at.store("Store the answer", "picture", loops, stored, CHUNK)
        stands = stand(at.ty * LINE_CHUNKS * CHUNK + self.n * CHUNK, self.r)
        return Threads((*steps, answer), stands, (CHUNK, 1), (self.strip, 4))


def is_last_warp(at: Scene) -> Mask:
    """Return which threads are of a block's last warp."""
    return np.asarray(at.ty == at.block_y - 1)


def blocks_that_count(at: Scene) -> int:
    """Return blocks of 16 samples that count for the sums of one."""
    return 1 + (at.halo_x + 7) // 8
