"""The pattern of the rung whose threads make a tile of samples each, out of registers."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.tile_shapes import Block, Shape


def register_tile(at: Scene, _shape: Shape) -> Pattern:
    """A thread a chunk of two rows or four; it reads every chunk that those need."""
    wide = Chunks(at)
    rows = 2 if wide.chunk == 16 or wide.halo > 1 else 4
    window = 1 + 2 * wide.halo  # chunks it reads of a row

    def steps(block: Block) -> tuple[Step, ...]:
        x = (block[0] * at.block_x + at.tx) * wide.chunk
        y = (block[1] * at.block_y + at.ty) * rows
        works = (x < at.row) & (y < at.height)

        def read(time: int) -> tuple[Places, Places, Mask]:
            row, chunk = divmod(time, window)
            return x + (chunk - wide.halo) * wide.chunk, y + row - at.radius, works

        def turn(time: int) -> str:
            return f"chunk {time % window + 1} of row {time // window + 1}"

        def answer(row: int) -> tuple[Places, Places, Mask]:
            return x, y + row, works & (y + row < at.height)

        reads = wide.reads("Load a chunk", (at.ksize - 1 + rows) * window, read, turn)
        return (*reads, *wide.answer(rows, answer))

    stands = np.stack((at.tx * wide.chunk, at.ty * rows), 1)
    across, down = at.block_x * wide.chunk, at.block_y * rows
    return Pattern(stands, (across, down), steps, (wide.chunk, rows))
