"""The pattern of the gradient in one launch."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.chunks import Chunks, wide_answer
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import QUAD, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES

BAND = 8  # rows of a thread


def gradient_fused(at: Scene, shape: Shape) -> Pattern:
    """A thread four columns of eight rows, and a pixel of the weighted picture around them."""
    width, height = shape.covers
    wide = Chunks(at)
    rows = height + 2 + 2 * at.halo_y
    reach = -(-(at.halo_x + QUAD) // wide.chunk)  # chunks on either side of the tile,
    spare = reach * wide.chunk - at.halo_x - QUAD  # so many samples of the first not needed
    part = max(wide.chunk, 8)
    parts = -(-(width + 2 * QUAD) // part)
    stage_chunks = width // wide.chunk + 2 * reach
    stage_stride, sums_stride = stage_chunks + 1, parts * part // QUAD + 1
    sums_at = QUAD * rows * stage_stride
    quads_a_part = part // QUAD
    quad, band = at.thread % LANES, at.thread // LANES
    loads, items = {"load": -(-rows * stage_chunks // at.threads)}, -(-rows * parts // at.threads)
    chunks = {"part": items, "chunk": -(-(spare + 2 * at.halo_x + part) // wide.chunk)}
    quads = {"part": items, "quad": quads_a_part}

    def kept(load: Places) -> Places:
        row, chunk = np.divmod(load * at.threads + at.thread, stage_chunks)
        return only(QUAD * (row * stage_stride + chunk), row < rows)

    def read(item: Places, chunk: Places) -> Places:
        nth, row = np.divmod(item * at.threads + at.thread, rows)
        place = row * stage_stride + nth * (part // wide.chunk) + chunk
        return only(QUAD * place, nth < parts)

    def write(item: Places, q: Places) -> Places:
        nth, row = np.divmod(item * at.threads + at.thread, rows)
        return only(sums_at + QUAD * (row * sums_stride + nth * quads_a_part + q), nth < parts)

    def corner(row: Places, q: Places) -> Places:
        return sums_at + QUAD * ((band * BAND + row) * sums_stride + quad + q)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * width, block[1] * height
        x, y = x0 + quad * QUAD, y0 + band * BAND

        def staged(load: Places) -> tuple[Places, Places, Mask]:
            row, chunk = np.divmod(load * at.threads + at.thread, stage_chunks)
            return x0 + (chunk - reach) * wide.chunk, y0 - 1 - at.halo_y + row, row < rows

        def down(row: Places, q: Places) -> Places:
            return only(corner(row, q), x < at.row)

        def own(row: Places) -> tuple[Places, Places, Mask]:
            return x, y + row, (x < at.row) & (y + row < at.height)

        def alpha(row: Places) -> Places:
            return only(corner(row + 1 + at.radius, np.array(1)), own(row)[2])

        sums = {"row": BAND + 2 + at.ksize - 1, "quad": 3}
        alphas = at.load("Read alpha", TILE, {"row": BAND}, alpha, QUAD)
        return (
            *wide.loads("Stage: load", loads, staged),
            at.store("Stage: store", TILE, loads, kept, QUAD),
            at.load("Read a chunk", TILE, chunks, read, QUAD),
            at.store("Store sums along the row", TILE, quads, write, QUAD),
            at.load("Read sums down the columns", TILE, sums, down, QUAD),
            *((alphas,) if at.job.has_alpha else ()),
            wide_answer(at, {"row": BAND}, own, QUAD)[-1],
        )

    stands = np.stack((quad * QUAD, band * BAND), 1)
    return Pattern(stands, (width, height), steps, (QUAD, BAND))
