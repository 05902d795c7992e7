"""The pattern of the rung that keeps running sums, down and along."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places
from kernels.anatomy.chunks import wide_answer, wide_loads
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import QUAD, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES

ROWS = 8  # at a time, one a warp


def running_sums(at: Scene, shape: Shape) -> Pattern:
    """Down: a thread four columns.  Along: a warp a row, a lane a run of it."""
    output, tall = shape.covers
    pad = -(-at.halo_x // QUAD) * QUAD
    run = -(-output // LANES) | 1
    pitch = LANES * run + 2 * pad  # words of a row in shared memory
    last = (at.ksize - 1) * at.channels
    warp, lane = at.thread // LANES, at.thread % LANES
    all_threads = np.ones(at.threads, np.bool_)
    begin_of_run = warp * pitch + lane * run

    def kept(_: Places, row: Places) -> Places:
        return row * pitch + QUAD * at.thread

    def taken(_: Places, n: Places) -> Places:
        """Those where a sum begins; then, for each sample, what enters and what leaves."""
        ahead = np.where(n < last, n, (n - last) // 2 + (1 - (n - last) % 2) * last)
        return begin_of_run + pad - at.halo_x + ahead

    def given(_: Places, n: Places) -> Places:
        return begin_of_run + n

    def steps(block: Block) -> tuple[Access, ...]:
        left, top = block[0] * output, block[1] * tall
        x, end = left - pad + QUAD * at.thread, min(top + tall, at.height)
        # Rows in the order in which they are read: those where the sums begin; then, at a time, the
        # rows that enter and the rows that leave.
        begins = list(range(top - at.radius, top + at.radius, ROWS))
        for y in range(top, end, ROWS):
            begins += (y + at.radius, y - at.radius)
        rows = np.add.outer(np.array(begins), np.arange(ROWS)).ravel()

        def read(n: Places) -> tuple[Places, Places, Mask]:
            return x, rows[n], all_threads

        def own(n: Places, part: Places) -> tuple[Places, Places, Mask]:
            column = part * QUAD * LANES + QUAD * lane
            y = top + n * ROWS + warp
            return left + column, y, (y < end) & (column < output) & (left + column < at.row)

        def gathered(n: Places, part: Places) -> Places:
            x, _, works = own(n, part)
            return only(warp * pitch + x - left, works)

        rounds = {"round": len(range(top, end, ROWS))}
        parts = {**rounds, "part": -(-output // (QUAD * LANES))}
        loads = wide_loads(
            at,
            "Load four samples",
            {"row": len(rows)},
            read,
            QUAD,
            end=at.row + at.halo_x,
            words=lambda n, *_: f"row {rows[n]:,} of the picture".replace("-", "−"),
        )
        sums = {**rounds, "sum": last + 2 * run}
        return (
            *loads,
            at.store("Store sums down", TILE, {**rounds, "row": ROWS}, kept, QUAD),
            at.load("Read a sum down", TILE, sums, taken),
            at.store("Store a sum along", TILE, {**rounds, "sum": run}, given),
            at.load("Read four sums", TILE, parts, gathered, QUAD),
            *wide_answer(at, parts, own, QUAD),
        )

    stands = np.stack((lane * run, warp), 1)
    stands[lane * run >= output] = NOWHERE
    return Pattern(stands, (output, ROWS), steps, (run, 1))
