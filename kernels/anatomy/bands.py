"""The words of separable.cuh: steps shared by separable rungs that move 16 bytes at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places
from kernels.anatomy.chunks import Chunks, Wanted, wide_answer, wide_loads
from kernels.anatomy.launch_scene import FLOAT, Mask, Scene, only, turns
from kernels.anatomy.pattern import QUAD
from kernels.anatomy.transactions import LANES


class Bands:
    """A scene in the names of separable.cuh, for blocks that compute `width` samples per row."""

    def __init__(self, at: Scene, width: int) -> None:
        self.at, self.width, self.wide = at, width, Chunks(at)
        is_float = at.sample_bytes == FLOAT
        self.band = 4 if at.ksize <= 15 and is_float else 8
        self.part = 16 if is_float else 32
        self.lead = -(-(at.ksize - 1) // self.band)
        self.spare = self.lead * self.band - (at.ksize - 1)
        self.stage_chunks = width // self.wide.chunk + 2 * self.wide.halo
        by_32 = is_float and self.wide.halo == 1  # STAGED_BY_32
        self.shift = int(by_32)
        self.stage_stride = self.stage_chunks + 4 if by_32 else self.stage_chunks | 1  # chunks
        self.sums_stride = width // QUAD | 1  # quads

    # -- from the picture to the stage

    def begin_rows(self, rows: int, x0: int, y0: int) -> Places:
        """Return how chunks of `rows` rows go to the stage.

        Chunks inside the picture come first, one warp per row, then those beyond the row's ends.

        (3, n, threads): first sample and row of each thread's chunk, which may lie beyond the
        picture, and its destination in words of shared memory, or NOWHERE
        """
        at, chunk = self.at, self.wide.chunk
        x = x0 - self.wide.halo * chunk
        left = max(-x // chunk, 0) if x < 0 else 0
        right = min((at.row - x) // chunk, self.stage_chunks)
        wanted = min((at.row + at.halo_x - x + chunk - 1) // chunk, self.stage_chunks)
        is_inside = y0 >= 0 and y0 + rows <= at.height

        begin = 0 if is_inside else left  # in the middle no lane waits for the first chunk
        row = np.arange(0, rows, at.threads // LANES)[:, None, None] + at.thread // LANES
        column = np.arange(begin, self.stage_chunks if is_inside else right, LANES)
        column = column[:, None] + at.thread % LANES
        whole = (row < rows) & (left <= column) & (column < right)

        edges = left + max(wanted - right, 0)
        n = np.arange(0, rows * edges, at.threads)[:, None] + at.thread
        edge = n % max(edges, 1)
        edge = np.where(edge < left, edge, right + edge - left)

        i, c, takes_part = (
            np.concatenate((np.broadcast_to(each, whole.shape).reshape(-1, at.threads), other))
            for each, other in (
                (row, n // max(edges, 1)),
                (column, edge),
                (whole, n < rows * edges),
            )
        )
        places = np.where(takes_part, QUAD * (self.shift + i * self.stage_stride + c), NOWHERE)
        return np.stack((x + c * chunk, y0 + i, places))

    def staging(self, moves: Places) -> tuple[Access, ...]:
        """Return the loads and stores of chunks to the stage; `moves` as from `begin_rows`."""
        at, (x, y, places), loops = self.at, moves, {"load": moves.shape[1]}
        wanted = x, y, places != NOWHERE
        return (
            *wide_loads(at, "Stage: load", loops, wanted, self.wide.chunk),
            at.store("Stage: store", TILE, loops, places, QUAD),
        )

    # -- along x

    def parts(self, rows: int) -> tuple[Places, Places]:
        """Return row and part of it for each thread, (n, threads), until there are no more.

        Neighbouring threads take neighbouring rows.
        """
        count = rows * (self.width // self.part)
        part, row = np.divmod(np.arange(0, count, self.at.threads)[:, None] + self.at.thread, rows)
        return row, part

    def along(self, parts: tuple[Places, Places], sums_at: int, terms: int) -> tuple[Access, ...]:
        """Return how rows are summed along x, one part per thread: sum_rows.

        parts    as from `parts`
        sums_at  where the sums begin, in words
        terms    how many separable terms are summed, each over all parts
        """
        offsets = np.array(self._chunks_of_a_part())[:, None]
        chunks_a_part, quads_a_part = self.part // self.wide.chunk, self.part // QUAD
        row, part = (each[:, None] for each in parts)
        read = self.shift + row * self.stage_stride + part * chunks_a_part + offsets
        write = row * self.sums_stride + part * quads_a_part + np.arange(quads_a_part)[:, None]
        works = part < self.width // self.part
        reads, writes = only(QUAD * read, works), only(sums_at + QUAD * write, works)
        loops = {"term": terms, "part": len(part)}
        chunks, quads = {**loops, "chunk": len(offsets)}, {**loops, "quad": quads_a_part}
        return (
            self.at.load("Read a chunk", TILE, chunks, reads, QUAD),
            self.at.store("Store sums along the row", TILE, quads, writes, QUAD),
        )

    def _chunks_of_a_part(self) -> list[int]:
        """Return which chunks a part's sums read, in order, counted from its first."""
        at, chunk = self.at, self.wide.chunk
        centre = self.wide.halo * chunk
        alpha = [
            (centre + s) // chunk
            for s in range(self.part)
            if at.job.has_alpha and s % at.channels == at.channels - 1
        ]
        taps = at.ksize if at.ksize <= 31 else 16  # unrolled
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
        self, row_at: Callable[[Places], Places], works: Mask, terms: int
    ) -> tuple[Access, ...]:
        """Return how the row sums are summed down the columns of a band: begin_down, add_down.

        row_at  row of the sums, counted from the first that is needed -> its place in words
        works   which threads take part
        terms   how many separable terms are summed, each over all rows; alpha is read once
        """
        alphas, rows = {"row": self.band}, {"row": self.at.ksize + self.band - 1}
        own = only(row_at(self.at.radius + turns(alphas)[0]), works)
        sums = only(row_at(turns(rows)[0]), works)[..., None, :, :]
        loops, name = {"term": terms, **rows}, "Read sums down the columns"
        return (
            *self.at.load_alpha("Read alpha", TILE, alphas, own, QUAD),
            self.at.load(name, TILE, loops, sums, QUAD),
        )

    def answer(self, wanted: Wanted, end: int) -> Access:
        """Return how four samples of each row of a band are stored: write_band.

        wanted  first sample and row of each thread's band, and whether it has one
        end     one past the last row that the block writes
        """
        rows = {"row": self.band}
        x, y, works = wanted
        y = y + turns(rows)[0]
        return wide_answer(self.at, rows, (x, y, works & (y < end)), QUAD)[-1]
