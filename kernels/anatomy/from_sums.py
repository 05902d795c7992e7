"""The pattern of the rung that keeps running sums, down and along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Places, Step
from kernels.anatomy.bands import quads
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import FLOAT, QUAD, TILE, Pattern
from kernels.anatomy.reads import WideReads
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
    parts = -(-output // (QUAD * LANES))
    all_threads = np.ones(at.threads, np.bool_)

    def steps(block: Block) -> tuple[Step, ...]:
        left, top = block[0] * output, block[1] * tall
        x = left - pad + QUAD * at.thread
        end = min(top + tall, at.height)
        lead_in = range(-at.radius, at.radius, ROWS)
        rounds = range(top, end, ROWS)
        # Rows in the order in which they are read: those where the sums begin; then, at a time, the
        # rows that enter and the rows that leave.
        rows = [top + begin + r for begin in lead_in for r in range(ROWS)]
        for y in rounds:
            for begin in (y + at.radius, y - at.radius):
                rows += range(begin, begin + ROWS)

        def read(time: int) -> tuple[Places, Places, Mask]:
            return x, np.full(at.threads, rows[time]), all_threads

        def kept(time: int) -> Places:
            return time % ROWS * pitch + QUAD * at.thread

        begin_of_run = warp * pitch + lane * run

        def taken(time: int) -> Places:
            """Those where a sum begins; then, for each sample, what enters and what leaves."""
            n = time % (last + 2 * run)
            ahead = n if n < last else (n - last) // 2 + (0 if (n - last) % 2 else last)
            return begin_of_run + pad - at.halo_x + ahead

        def given(time: int) -> Places:
            return begin_of_run + time % run

        def own(time: int) -> tuple[Places, Places, Mask]:
            n, part = divmod(time, parts)
            column = part * QUAD * LANES + QUAD * lane
            y = np.full(at.threads, rounds[n]) + warp
            works = (y < end) & (column < output) & (left + column < at.row)
            return column, y, works

        def gathered(time: int) -> Places:
            column, _, works = own(time)
            return only(warp * pitch + column, works)

        def answer(time: int) -> Places:
            column, y, works = own(time)
            return only(at.begin(y) + left + column, works)

        def round_turn(part: str, each: int) -> Callable[[int], str]:
            def turn(time: int) -> str:
                begin = time // each * ROWS
                return f"{part} {time % each + 1} of rows {begin + 1} to {begin + ROWS}"

            return turn

        def row_turn(time: int) -> str:
            return f"row {rows[time]:,} of the picture".replace("-", "−")

        reads = WideReads(at, len(rows), read, QUAD, at.row + at.halo_x).steps(
            "Load four samples",
            QUAD,
            row_turn,
            lambda sample: row_turn(sample // QUAD),
            "Load a sample at the row's end",
        )
        size, n = at.sample_bytes, len(rounds)
        alpha = Step(
            "Load alpha",
            "global",
            "picture",
            False,
            size,
            n * parts,
            answer,
            round_turn("part", parts),
            width=QUAD,
        )
        return (
            *reads,
            quads("Store sums down", True, n * ROWS, kept, round_turn("row", ROWS)),
            Step(
                "Read a sum down",
                "shared",
                TILE,
                False,
                FLOAT,
                n * (last + 2 * run),
                taken,
                round_turn("sum", last + 2 * run),
            ),
            Step(
                "Store a sum along",
                "shared",
                TILE,
                True,
                FLOAT,
                n * run,
                given,
                round_turn("sum", run),
            ),
            quads("Read four sums", False, n * parts, gathered, round_turn("part", parts)),
            *((alpha,) if at.job.has_alpha else ()),
            Step(
                "Store the answer",
                "global",
                "picture",
                True,
                size,
                n * parts,
                answer,
                round_turn("part", parts),
                width=QUAD,
            ),
        )

    stands = np.stack((lane * run, warp), 1)
    stands[lane * run >= output] = NOWHERE
    return Pattern(stands, (output, ROWS), steps, (run, 1))
