"""The pattern of the rung that keeps running sums, down and along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.bands import quads
from kernels.anatomy.memory import LANES
from kernels.anatomy.pattern import FLOAT, QUAD, TILE, Pattern
from kernels.anatomy.scene import Mask, Scene, joined, only
from kernels.anatomy.shapes import Block, Shape
from kernels.anatomy.steps import NOWHERE, Places, Step

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

    def steps(block: Block) -> tuple[Step, ...]:
        left, top = block[0] * output, block[1] * tall
        x = left - pad + QUAD * at.thread
        end = min(top + tall, at.height)
        is_inside = (x >= 0) & (x + QUAD <= at.row)
        lead_in = range(-at.radius, at.radius, ROWS)
        rounds = range(top, end, ROWS)
        # Rows in the order in which they are read: those where the sums begin; then, at a time, the
        # rows that enter and the rows that leave.
        rows = [top + begin + r for begin in lead_in for r in range(ROWS)]
        for y in rounds:
            for begin in (y + at.radius, y - at.radius):
                rows += range(begin, begin + ROWS)

        def line(time: int) -> Places:
            return at.line(np.full(at.threads, rows[time]))

        def whole(time: int) -> Places:
            return only(joined(line(time), x), is_inside)

        def one(time: int) -> Places:
            column = x + time % QUAD
            wanted = ~is_inside & (column < at.row + at.halo_x)
            return only(joined(line(time // QUAD), at.sample(column)), wanted)

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

        def round_turn(each: int) -> Callable[[int], str]:
            return lambda time: f"{time % each + 1} of rows {time // each * ROWS + 1} and on"

        def row_turn(time: int) -> str:
            return f"row {rows[time] - top + 1}, counted from the block's first"

        size, n = at.sample_bytes, len(rounds)
        alpha = Step(
            "Load alpha",
            "global",
            "picture",
            False,
            size,
            n * parts,
            answer,
            round_turn(parts),
            width=QUAD,
        )
        return (
            Step(
                "Load four samples",
                "global",
                "picture",
                False,
                size,
                len(rows),
                whole,
                row_turn,
                width=QUAD,
            ),
            Step(
                "Load a sample at the row's end",
                "global",
                "picture",
                False,
                size,
                len(rows) * QUAD,
                one,
                lambda time: row_turn(time // QUAD),
            ),
            quads("Store sums down", True, n * ROWS, kept, round_turn(ROWS)),
            Step(
                "Read a sum down",
                "shared",
                TILE,
                False,
                FLOAT,
                n * (last + 2 * run),
                taken,
                round_turn(last + 2 * run),
            ),
            Step("Store a sum along", "shared", TILE, True, FLOAT, n * run, given, round_turn(run)),
            quads("Read four sums", False, n * parts, gathered, round_turn(parts)),
            *((alpha,) if at.job.has_alpha else ()),
            Step(
                "Store the answer",
                "global",
                "picture",
                True,
                size,
                n * parts,
                answer,
                round_turn(parts),
                width=QUAD,
            ),
        )

    stands = np.stack((lane * run, warp), 1)
    stands[lane * run >= output] = NOWHERE
    return Pattern(stands, (output, ROWS), steps, (run, 1))
