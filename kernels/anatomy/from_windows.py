"""The pattern of the rung whose threads make long runs of samples out of a shared tile."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.bands import load_words, quads
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
    count = -(-chunks * tile_h // at.threads)
    first_quad, last_quad = wide.spare // QUAD, (wide.spare + run + 2 * at.halo_x - 1) // QUAD
    row_quads = last_quad - first_quad + 1

    def place_of(quad: Places) -> Places:
        return quad + quad // quads_a_run

    own = at.ty * pitch + place_of(at.tx * quads_a_run)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * at.block_x * run - left, block[1] * at.block_y - at.radius
        y = y0 + at.radius + at.ty

        def staged(time: int) -> tuple[Places, Places, Mask]:
            chunk = time * at.threads + at.thread
            x, row = x0 + chunk % chunks * wide.chunk, y0 + chunk // chunks
            return x, row, chunk < chunks * tile_h

        def kept(time: int) -> Places:
            load, quad = divmod(time, quads_a_chunk)
            chunk = load * at.threads + at.thread
            place = chunk // chunks * pitch + place_of(chunk % chunks * quads_a_chunk + quad)
            return only(QUAD * place, chunk < chunks * tile_h)

        def read(time: int) -> Places:
            row, quad = time // row_quads, np.array(first_quad + time % row_quads)
            return QUAD * (own + row * pitch + place_of(quad))

        def sums(time: int) -> Places:
            return QUAD * (own + time)

        def answer(time: int) -> tuple[Places, Places, Mask]:
            x = x0 + left + (time * at.block_x + at.tx) * wide.chunk
            return x, y, (x < at.row) & (y < at.height)

        def gathered(time: int) -> Places:
            part, quad = divmod(time, quads_a_chunk)
            chunk = part * at.block_x + at.tx
            place = at.ty * pitch + place_of(chunk * quads_a_chunk + quad)
            return only(QUAD * place, answer(part)[2])

        return (
            *wide.reads("Stage: load", count, staged, load_words),
            quads(
                "Stage: store in the tile",
                True,
                count * quads_a_chunk,
                kept,
                lambda time: f"quad {time % quads_a_chunk + 1} of load {time // quads_a_chunk + 1}",
            ),
            quads(
                "Read four samples",
                False,
                at.ksize * row_quads,
                read,
                lambda time: f"quad {time % row_quads + 1} of row {time // row_quads + 1}",
                lambda: (at.ksize * row_quads * QUAD * at.threads, 0),
            ),
            quads("Store sums", True, quads_a_run, sums, lambda time: f"quad {time + 1}"),
            quads(
                "Read sums",
                False,
                run // wide.chunk * quads_a_chunk,
                gathered,
                lambda time: (
                    f"quad {time % quads_a_chunk + 1} of chunk {time // quads_a_chunk + 1}"
                ),
            ),
            *wide.answer(run // wide.chunk, answer),
        )

    stands = np.stack((at.tx * run, at.ty), 1)
    return Pattern(stands, (at.block_x * run, at.block_y), steps, (run, 1))
