"""The pattern of the gradient in one launch."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.bands import load_words, quads
from kernels.anatomy.chunks import Chunks
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
    window = -(-(spare + 2 * at.halo_x + part) // wide.chunk)  # chunks of a part
    sums_at = QUAD * rows * stage_stride
    quads_a_part = part // QUAD
    quad, band = at.thread % LANES, at.thread // LANES
    loads, items = -(-rows * stage_chunks // at.threads), -(-rows * parts // at.threads)
    tall = BAND + 2 + at.ksize - 1

    def corner(row: int, q: int) -> Places:
        return sums_at + QUAD * ((band * BAND + row) * sums_stride + quad + q)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * width, block[1] * height
        left, top = x0 - reach * wide.chunk, y0 - 1 - at.halo_y
        x, y = x0 + quad * QUAD, y0 + band * BAND
        works = x < at.row

        def staged(time: int) -> tuple[Places, Places, Mask]:
            n = time * at.threads + at.thread
            chunk, row = n % stage_chunks, n // stage_chunks
            return left + chunk * wide.chunk, top + row, n < rows * stage_chunks

        def kept(time: int) -> Places:
            n = time * at.threads + at.thread
            place = n // stage_chunks * stage_stride + n % stage_chunks
            return only(QUAD * place, n < rows * stage_chunks)

        def read(time: int) -> Places:
            n = time // window * at.threads + at.thread
            chunk = n % rows * stage_stride + n // rows * (part // wide.chunk) + time % window
            return only(QUAD * chunk, n < rows * parts)

        def write(time: int) -> Places:
            item, q = divmod(time, quads_a_part)
            n = item * at.threads + at.thread
            place = n % rows * sums_stride + n // rows * quads_a_part + q
            return only(sums_at + QUAD * place, n < rows * parts)

        def down(time: int) -> Places:
            return only(corner(time // 3, time % 3), works)

        def alpha(time: int) -> Places:
            return only(corner(time + 1 + at.radius, 1), works & (y + time < at.height))

        def answer(time: int) -> Places:
            return only(at.begin(y + time) + x, works & (y + time < at.height))

        def row_turn(time: int) -> str:
            return f"row {time + 1}"

        alphas = quads("Read alpha", False, BAND, alpha, row_turn)
        return (
            *wide.reads("Stage: load", loads, staged, load_words),
            quads("Stage: store", True, loads, kept, load_words),
            quads(
                "Read a chunk",
                False,
                items * window,
                read,
                lambda time: f"chunk {time % window + 1} of part {time // window + 1}",
            ),
            quads(
                "Store sums along the row",
                True,
                items * quads_a_part,
                write,
                lambda time: f"quad {time % quads_a_part + 1} of part {time // quads_a_part + 1}",
            ),
            quads(
                "Read sums down the columns",
                False,
                3 * tall,
                down,
                lambda time: f"quad {time % 3 + 1} of row {time // 3 + 1}",
            ),
            *((alphas,) if at.job.has_alpha else ()),
            Step(
                "Store the answer",
                "global",
                "picture",
                True,
                at.sample_bytes,
                BAND,
                answer,
                row_turn,
                width=QUAD,
            ),
        )

    stands = np.stack((quad * QUAD, band * BAND), 1)
    return Pattern(stands, (width, height), steps, (QUAD, BAND))
