"""The pattern of the gradient in one launch."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Places
from kernels.anatomy.chunks import Chunks, wide_answer, wide_loads
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand
from kernels.anatomy.transactions import LANES

BAND = 8  # rows per thread


def gradient_fused(at: Scene) -> Threads:
    """Describe the fused gradient: four columns of eight rows per thread.

    Each thread also reads the pixel of the weighted picture around them.
    """
    (width, height), wide = at.shape.covers, Chunks(at)
    rows = height + 2 + 2 * at.halo_y
    reach = -(-(at.halo_x + QUAD) // wide.chunk)  # chunks on either side of the tile,
    spare = reach * wide.chunk - at.halo_x - QUAD  # unneeded samples of the first
    part = max(wide.chunk, 8)
    parts = -(-(width + 2 * QUAD) // part)
    stage_chunks = width // wide.chunk + 2 * reach
    stage_stride, sums_stride = stage_chunks + 1, parts * part // QUAD + 1
    sums_at = QUAD * rows * stage_stride
    quads_a_part = part // QUAD
    quad, band = at.thread % LANES, at.thread // LANES

    loads = {"load": -(-rows * stage_chunks // at.threads)}
    row, chunk = np.divmod(turns(loads)[0] * at.threads + at.thread, stage_chunks)
    left = at.x0 - reach * wide.chunk
    staged = left + chunk * wide.chunk, at.y0 - 1 - at.halo_y + row, row < rows
    kept = only(QUAD * (row * stage_stride + chunk), row < rows)

    chunks = {
        "part": -(-rows * parts // at.threads),
        "chunk": -(-(spare + 2 * at.halo_x + part) // wide.chunk),
    }
    quads = {"part": chunks["part"], "quad": quads_a_part}
    item, chunk = turns(chunks)
    nth, row = np.divmod(item * at.threads + at.thread, rows)
    read = row * stage_stride + nth * (part // wide.chunk) + chunk
    write = sums_at // QUAD + row * sums_stride + nth * quads_a_part + turns(quads)[1]

    def corner(row: Places, q: Places) -> Places:
        return sums_at + QUAD * ((band * BAND + row) * sums_stride + quad + q)

    sums, answers = {"row": BAND + 2 + at.ksize - 1, "quad": 3}, {"row": BAND}
    (own,) = turns(answers)
    x, y = at.x0 + quad * QUAD, at.y0 + band * BAND + own
    works = (x < at.row) & (y < at.height)
    alpha = only(corner(own + 1 + at.radius, np.array(1)), works)
    steps = (
        *wide_loads(at, "Stage: load", loads, staged, wide.chunk),
        at.store("Stage: store", TILE, loads, kept, QUAD),
        at.load("Read a chunk", TILE, chunks, only(QUAD * read, nth < parts), QUAD),
        at.store("Store sums along the row", TILE, quads, only(QUAD * write, nth < parts), QUAD),
        at.load(
            "Read sums down the columns", TILE, sums, only(corner(*turns(sums)), x < at.row), QUAD
        ),
        *at.load_alpha("Read alpha", TILE, answers, alpha, QUAD),
        wide_answer(at, answers, (x, y, works), QUAD)[-1],
    )
    return Threads(steps, stand(quad * QUAD, band * BAND), (QUAD, BAND))
