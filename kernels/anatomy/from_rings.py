"""The pattern of the rung whose warps walk down the picture, with rows in a ring."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Places
from kernels.anatomy.chunks import Chunks, wide_answer, wide_loads
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand
from kernels.anatomy.transactions import LANES

STAGES = 8  # rows in a warp's ring


def ring(at: Scene) -> Threads:
    """Describe warps that walk down the picture with their last rows in a ring.

    Each lane computes one chunk of every row; each row is staged once.
    """
    wide, tall = Chunks(at), at.shape.covers[1]
    lane, warp = at.tx, at.ty
    row_chunks = LANES + 2 * wide.halo
    left = at.x0 + warp * LANES * wide.chunk
    x, is_there = left + lane * wide.chunk, left < at.row  # whole warps
    rows = min(tall, at.height - at.y0)

    def place(row: Places, chunk: Places) -> Places:
        return QUAD * ((warp * STAGES + row % STAGES) * row_chunks + chunk)

    stages = {"row": rows + at.ksize - 1, "load": -(-row_chunks // LANES)}
    row, load = turns(stages)
    chunk = lane + load * LANES
    takes_part = is_there & (chunk < row_chunks)
    staged = left + (chunk - wide.halo) * wide.chunk, at.y0 - at.radius + row, takes_part
    kept = only(place(row, chunk), takes_part)

    reads, answers = {"row": rows + at.ksize - 1, "chunk": 1 + 2 * wide.halo}, {"row": rows}
    row, chunk = turns(reads)
    (own,) = turns(answers)
    steps = (
        *wide_loads(at, "Stage: load", stages, staged, wide.chunk),
        at.store("Stage: store", TILE, stages, kept, QUAD),
        at.load("Read a chunk", TILE, reads, only(place(row, lane + chunk), is_there), QUAD),
        *wide_answer(at, answers, (x, at.y0 + own, is_there & (x < at.row)), wide.chunk),
    )
    stands = stand(at.thread * wide.chunk, np.zeros_like(at.thread))
    return Threads(steps, stands, (wide.chunk, tall))
