"""Patterns of transforms along rows, in registers: SIDE threads with SIDE numbers each a line."""

from __future__ import annotations

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import Access, Places
from kernels.anatomy.from_fft import in_both_parts
from kernels.anatomy.handing_over import Axis, HandingOver
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import COMPLEX, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transform_words import every, held, part_held


def transform_rows(at: Scene, shape: Shape) -> Pattern:
    """A warp some rows of two tiles, one their real and one their imaginary part."""
    on = FftTiles(at.job)
    line = along_rows(at, on)

    def steps(block: Block) -> tuple[Access, ...]:
        y = block[0] * on.rows + at.ty
        row = at.begin(np.minimum(y, at.height - 1))  # of threads without one, too
        left = on.left(block[1]) - at.halo_x + on.colour_of(block[1])
        first = left + at.tx * at.channels

        def sample(j: Places, part: Places) -> Places:
            return first + (on.side * j + on.valid * part) * at.channels

        def store(k: Places) -> Places:
            begin = (block[1] * at.height + y) * on.line
            return only(begin + at.tx + on.side * k, y < at.height)

        pixel = on.left(block[1]) // at.channels - at.radius
        is_edge = pixel < 0 or pixel + on.valid + on.line > at.job.width
        samples = Axis(sample, at.row, at.halo_x, lambda x: row + x, at.sample)
        return (
            *line.begin("Load a sample", "picture", at.sample_bytes, 2, samples, is_edge),
            *line.transform(),
            at.store(
                "Store a frequency", shape.writes, {"number": on.side}, store, 1, COMPLEX, held
            ),
        )

    def thread_words(block: Block, thread: int) -> str:
        y = block[0] * on.rows + thread // on.side
        if y >= at.height:
            return "has no row to transform"
        return f"holds {every(on.side, 'number', thread % on.side, on.line)} of row {y:,}"

    lines = at.tx + on.side * np.arange(on.side)[:, None] - at.radius
    stands, also = in_both_parts(on, lines, at.ty)
    return Pattern(
        stands=stands,
        round=shape.covers,
        steps=steps,
        each=(at.channels, 1),
        also=also,
        block=lambda block: told.transform_rows(on, shape, block),
        thread=thread_words,
    )


def restore_rows(at: Scene, shape: Shape) -> Pattern:
    """A warp some rows of two tiles, one colour after another."""
    on = FftTiles(at.job)
    line = along_rows(at, on)

    def in_colour(words: str, colour: int) -> str:
        return f"{words}, channel {colour + 1}" if on.colours > 1 else words

    def steps(block: Block) -> tuple[Access, ...]:
        y = block[1] * on.rows + at.ty
        y_there, is_row = np.minimum(y, at.height - 1), y < at.height
        row, left = at.begin(y_there), block[0] * 2 * on.valid

        def load(colour: Places, k: Places) -> Places:
            plane = colour * on.pairs + block[0]
            return (plane * at.height + y_there) * on.line + at.tx + on.side * k

        def store(colour: Places, j: Places, part: Places) -> Places:
            n = at.tx + on.side * j
            x = left + n + part * on.valid
            own = is_row & (n < on.valid) & (x < at.job.width)
            return only(row + x * at.channels + colour, own)

        def alpha(n: Places) -> Places:
            x = left + at.tx + on.side * n
            own = is_row & (x < min(left + 2 * on.valid, at.job.width))
            return only(row + x * at.channels + at.channels - 1, own)

        loops, pixels = {"colour": on.colours, "number": on.side}, -(-2 * on.valid // on.side)
        alphas = "picture", {"pixel": pixels * at.job.has_alpha}, alpha
        return (
            at.load(
                "Load a frequency",
                shape.reads,
                loops,
                load,
                item_bytes=COMPLEX,
                words=lambda colour, j: in_colour(held(j), colour),
            ),
            *line.transform(tuple(in_colour("", n) for n in range(on.colours))),
            at.store(
                "Store the answer",
                "picture",
                {**loops, "part": 2},
                store,
                words=lambda colour, j, part: in_colour(part_held(j, part), colour),
            ),
            at.load("Load alpha", *alphas),
            at.store("Store alpha", *alphas),
        )

    lines = at.tx + on.side * np.arange(on.side)[:, None]
    stands, also = in_both_parts(on, lines, at.ty)
    return Pattern(stands, shape.covers, steps, (at.channels, 1), also)


def along_rows(at: Scene, on: FftTiles) -> HandingOver:
    base = at.ty * on.side * (on.side + 1)
    return HandingOver(at, on.side, base, at.tx, on.side + 1, 1)
