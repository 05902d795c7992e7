"""The pattern of the rung whose threads compute a tile of samples each, out of registers."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Access, Places
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.tile_shapes import Block, Shape


def register_tile(at: Scene, _shape: Shape) -> Pattern:
    """A thread a chunk of two rows or four; it reads every chunk that those need."""
    wide = Chunks(at)
    rows = 2 if wide.chunk == 16 or wide.halo > 1 else 4
    loops = {"row": at.ksize - 1 + rows, "chunk": 1 + 2 * wide.halo}

    def steps(block: Block) -> tuple[Access, ...]:
        x = (block[0] * at.block_x + at.tx) * wide.chunk
        y = (block[1] * at.block_y + at.ty) * rows
        works = (x < at.row) & (y < at.height)

        def read(row: Places, chunk: Places) -> tuple[Places, Places, Mask]:
            return x + (chunk - wide.halo) * wide.chunk, y + row - at.radius, works

        def answer(row: Places) -> tuple[Places, Places, Mask]:
            return x, y + row, works & (y + row < at.height)

        return (*wide.loads("Load a chunk", loops, read), *wide.answer({"row": rows}, answer))

    stands = np.stack((at.tx * wide.chunk, at.ty * rows), 1)
    across, down = at.block_x * wide.chunk, at.block_y * rows
    return Pattern(stands, (across, down), steps, (wide.chunk, rows))
