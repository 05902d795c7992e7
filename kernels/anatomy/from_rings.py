"""The pattern of the rung whose warps walk down the picture, with rows in a ring."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import QUAD, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES

STAGES = 8  # rows of a warp's ring
WARPS = 4  # a block


def ring(at: Scene, shape: Shape) -> Pattern:
    """A lane a chunk of every row; each row of the picture goes through the ring once."""
    wide = Chunks(at)
    lane, warp = at.tx, at.ty
    strip = LANES * wide.chunk  # samples of a row that a warp computes
    row_chunks = LANES + 2 * wide.halo
    window = 1 + 2 * wide.halo  # chunks that a lane reads of a row
    tall = shape.covers[1]

    def place(row: Places, chunk: Places) -> Places:
        return QUAD * ((warp * STAGES + row % STAGES) * row_chunks + chunk)

    def steps(block: Block) -> tuple[Access, ...]:
        left = (block[0] * WARPS + warp) * strip
        x, y0 = left + lane * wide.chunk, block[1] * tall
        is_there = left < at.row  # whole warps
        rows = min(tall, at.height - y0)

        def staged(row: Places, load: Places) -> tuple[Places, Places, Mask]:
            chunk = lane + load * LANES
            x = left + (chunk - wide.halo) * wide.chunk
            return x, y0 - at.radius + row, is_there & (chunk < row_chunks)

        def kept(row: Places, load: Places) -> Places:
            return only(place(row, lane + load * LANES), staged(row, load)[2])

        def read(row: Places, chunk: Places) -> Places:
            return only(place(row, lane + chunk), is_there)

        def answer(row: Places) -> tuple[Places, Places, Mask]:
            return x, y0 + row, is_there & (x < at.row)

        # So many are on their way at the start.
        stages = {"row": max(STAGES - 1, rows + at.ksize - 1), "load": -(-row_chunks // LANES)}
        reads = {"row": rows + at.ksize - 1, "chunk": window}
        return (
            *wide.loads("Stage: load", stages, staged),
            at.store("Stage: store", TILE, stages, kept, QUAD),
            at.load("Read a chunk", TILE, reads, read, QUAD),
            *wide.answer({"row": rows}, answer),
        )

    stands = np.stack((at.thread * wide.chunk, np.zeros_like(at.thread)), 1)
    return Pattern(stands, (WARPS * strip, tall), steps, (wide.chunk, tall))
