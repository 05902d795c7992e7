"""The pattern of the rung whose threads compute a tile of samples each, out of registers."""

from __future__ import annotations

from kernels.anatomy.chunks import Chunks, wide_answer, wide_loads
from kernels.anatomy.launch_scene import Scene, turns
from kernels.anatomy.pattern import Threads, stand


def register_tile(at: Scene) -> Threads:
    """Describe a thread with one chunk of two or four rows.

    It loads every chunk that those rows need.
    """
    wide = Chunks(at)
    rows = 2 if wide.chunk == 16 or wide.halo > 1 else 4
    x, y = at.x0 + at.tx * wide.chunk, at.y0 + at.ty * rows
    works = (x < at.row) & (y < at.height)

    reads, answers = {"row": at.ksize - 1 + rows, "chunk": 1 + 2 * wide.halo}, {"row": rows}
    row, chunk = turns(reads)
    (own,) = turns(answers)
    wanted = x + (chunk - wide.halo) * wide.chunk, y + row - at.radius, works
    answer = x, y + own, works & (y + own < at.height)
    steps = (
        *wide_loads(at, "Load a chunk", reads, wanted, wide.chunk),
        *wide_answer(at, answers, answer, wide.chunk),
    )
    return Threads(steps, stand(at.tx * wide.chunk, at.ty * rows), (wide.chunk, rows))
