"""The pattern of the rung whose warps walk down the picture, with rows in a ring."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import FLOAT, QUAD, TILE, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES

STAGES = 8  # rows of a warp's ring
WARPS = 4  # a block


def ring(at: Scene, shape: Shape) -> Pattern:
    """A lane a chunk of every row; each row of the picture goes through the ring once."""
    wide = Chunks(at)
    lane, warp = at.tx, at.ty
    strip = LANES * wide.chunk  # samples of a row that a warp makes
    row_chunks = LANES + 2 * wide.halo
    rounds = -(-row_chunks // LANES)
    window = 1 + 2 * wide.halo  # chunks that a lane reads of a row
    tall = shape.covers[1]

    def steps(block: Block) -> tuple[Step, ...]:
        left = (block[0] * WARPS + warp) * strip
        x, y0 = left + lane * wide.chunk, block[1] * tall
        is_there = left < at.row  # whole warps
        rows = min(tall, at.height - y0)
        through = max(STAGES - 1, rows + at.ksize - 1)  # so many are on their way at the start

        def staged(time: int) -> tuple[Places, Places, Mask]:
            row, part = divmod(time, rounds)
            chunk = lane + part * LANES
            y = np.full(at.threads, y0 - at.radius + row)
            return left + (chunk - wide.halo) * wide.chunk, y, is_there & (chunk < row_chunks)

        def place(row: int, chunk: Places) -> Places:
            return QUAD * ((warp * STAGES + row % STAGES) * row_chunks + chunk)

        def kept(time: int) -> Places:
            row, part = divmod(time, rounds)
            return only(place(row, lane + part * LANES), staged(time)[2])

        def read(time: int) -> Places:
            return only(place(time // window, lane + time % window), is_there)

        def answer(row: int) -> tuple[Places, Places, Mask]:
            return x, np.full(at.threads, y0 + row), is_there & (x < at.row)

        def turn(time: int) -> str:
            return f"part {time % rounds + 1} of row {time // rounds + 1}"

        def read_turn(time: int) -> str:
            return f"chunk {time % window + 1} of row {time // window + 1}"

        count = through * rounds
        return (
            *wide.reads("Stage: load", count, staged, turn),
            Step("Stage: store", "shared", TILE, True, FLOAT, count, kept, turn, width=QUAD),
            Step(
                "Read a chunk",
                "shared",
                TILE,
                False,
                FLOAT,
                (rows + at.ksize - 1) * window,
                read,
                read_turn,
                width=QUAD,
            ),
            *wide.answer(rows, answer),
        )

    stands = np.stack((at.thread * wide.chunk, np.zeros_like(at.thread)), 1)
    return Pattern(stands, (WARPS * strip, tall), steps, (wide.chunk, tall))
