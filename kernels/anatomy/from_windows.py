"""The pattern of the rung whose threads compute long runs of samples out of a shared tile."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.chunks import Chunks
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import QUAD, Pattern
from kernels.anatomy.tile_shapes import Block, Shape


def window_tile(at: Scene, _shape: Shape) -> Pattern:
    """The tile lies in quads of four floats, with a gap behind every run."""
    wide = Chunks(at)
    run = 32 if at.ksize <= 47 else 16
    left = wide.halo * wide.chunk
    tile_w, tile_h = at.block_x * run + 2 * left, at.block_y + 2 * at.halo_y
    chunks = tile_w // wide.chunk
    quads_a_chunk, quads_a_run = wide.chunk // QUAD, run // QUAD
    pitch = tile_w // QUAD * (quads_a_run + 1) // quads_a_run + 1  # quads
    first_quad, last_quad = wide.spare // QUAD, (wide.spare + run + 2 * at.halo_x - 1) // QUAD
    loads = {"load": -(-chunks * tile_h // at.threads)}
    answers = {"chunk": run // wide.chunk}

    def place_of(quad: Places) -> Places:
        return quad + quad // quads_a_run

    own = at.ty * pitch + place_of(at.tx * quads_a_run)

    def kept(load: Places, quad: Places) -> Places:
        row, chunk = np.divmod(load * at.threads + at.thread, chunks)
        return only(QUAD * (row * pitch + place_of(chunk * quads_a_chunk + quad)), row < tile_h)

    def read(row: Places, quad: Places) -> Places:
        return QUAD * (own + row * pitch + place_of(first_quad + quad))

    def sums(quad: Places) -> Places:
        return QUAD * (own + quad)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * at.block_x * run - left, block[1] * at.block_y - at.radius
        y = y0 + at.radius + at.ty

        def staged(load: Places) -> tuple[Places, Places, Mask]:
            row, chunk = np.divmod(load * at.threads + at.thread, chunks)
            return x0 + chunk * wide.chunk, y0 + row, row < tile_h

        def answer(chunk: Places) -> tuple[Places, Places, Mask]:
            x = x0 + left + (chunk * at.block_x + at.tx) * wide.chunk
            return x, y, (x < at.row) & (y < at.height)

        def gathered(chunk: Places, quad: Places) -> Places:
            nth = (chunk * at.block_x + at.tx) * quads_a_chunk + quad
            return only(QUAD * (at.ty * pitch + place_of(nth)), answer(chunk)[2])

        reads, quads = {"row": at.ksize, "quad": last_quad - first_quad + 1}, {"quad": quads_a_run}
        return (
            *wide.loads("Stage: load", loads, staged),
            at.store(
                "Stage: store in the tile", TILE, {**loads, "quad": quads_a_chunk}, kept, QUAD
            ),
            at.load("Read four samples", TILE, reads, read, QUAD),
            at.store("Store sums", TILE, quads, sums, QUAD),
            at.load("Read sums", TILE, {**answers, "quad": quads_a_chunk}, gathered, QUAD),
            *wide.answer(answers, answer),
        )

    stands = np.stack((at.tx * run, at.ty), 1)
    return Pattern(stands, (at.block_x * run, at.block_y), steps, (run, 1))
