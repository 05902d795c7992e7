"""Patterns of transforms along rows, in registers: SIDE threads with SIDE numbers each a line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.from_fft import in_both_parts
from kernels.anatomy.handing_over import HandingOver
from kernels.anatomy.launch_scene import Mask, Scene, joined, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import Pattern, numbers
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transform_words import every, held, part_held


def transform_rows(at: Scene, shape: Shape) -> Pattern:
    """A warp some rows of two tiles, one their real and one their imaginary part."""
    on = FftTiles(at.job)
    line = along_rows(at, on)

    def steps(block: Block) -> tuple[Step, ...]:
        y = block[0] * on.rows + at.ty
        row = at.begin(np.minimum(y, at.height - 1))  # of threads without one, too
        left = on.left(block[1]) - at.halo_x + on.colour_of(block[1])
        first = left + at.tx * at.channels

        def sample(time: int) -> Places:
            j, part = divmod(time, 2)
            return first + (on.side * j + on.valid * part) * at.channels

        def inside(time: int) -> Places:
            x = sample(time)
            return only(row + x, (x >= 0) & (x < at.row))

        def is_missing(j: int, part: int) -> Mask:
            x = sample(2 * j + part)
            return (x < 0) | ((x >= at.row) & (x < at.row + at.halo_x))

        def beyond(j: int, part: int) -> Places:
            return joined(row, at.sample(sample(2 * j + part)))

        def store(time: int) -> Places:
            begin = (block[1] * at.height + y) * on.line
            return only(begin + at.tx + on.side * time, y < at.height)

        def turn(time: int) -> str:
            return part_held(*divmod(time, 2))

        columns = on.valid + on.line
        pixel = on.left(block[1]) // at.channels - at.radius
        is_edge = pixel < 0 or pixel + columns > at.job.width
        size = at.sample_bytes
        return (
            Step("Load a sample", "global", "picture", False, size, 2 * on.side, inside, turn),
            *(line.fill_in("picture", size, is_missing, beyond) if is_edge else ()),
            *line.transform(),
            numbers("Store a frequency", shape.writes, True, on.side, store, held),
        )

    def thread_words(block: Block, thread: int) -> str:
        y = block[0] * on.rows + thread // on.side
        if y >= at.height:
            return "has no row to transform"
        return f"holds {every(on.side, 'number', thread % on.side, on.line)} of row {y:,}"

    lines = [at.tx + on.side * j - at.radius for j in range(on.side)]
    stands, also = in_both_parts(on, lines, at.ty)
    return Pattern(
        stands=stands,
        round=shape.covers,
        steps=steps,
        each=(at.channels, 1),
        also=also,
        works=lambda block: block[0] * on.rows + at.ty < at.height,
        block=lambda block: told.transform_rows(on, shape, block),
        thread=thread_words,
    )


def restore_rows(at: Scene, shape: Shape) -> Pattern:
    """A warp some rows of two tiles, one colour after another."""
    on = FftTiles(at.job)
    line = along_rows(at, on)

    def steps(block: Block) -> tuple[Step, ...]:
        y = block[1] * on.rows + at.ty
        y_there, is_row = np.minimum(y, at.height - 1), y < at.height
        row, left = at.begin(y_there), block[0] * 2 * on.valid

        def load(time: int) -> Places:
            colour, k = divmod(time, on.side)
            plane = colour * on.pairs + block[0]
            return (plane * at.height + y_there) * on.line + at.tx + on.side * k

        def store(time: int) -> Places:
            (colour, j), part = divmod(time // 2, on.side), time % 2
            n = at.tx + on.side * j
            x = left + n + part * on.valid
            own = is_row & (n < on.valid) & (x < at.job.width)
            return only(row + x * at.channels + colour, own)

        def alpha(time: int) -> Places:
            x = left + at.tx + on.side * time
            own = is_row & (x < min(left + 2 * on.valid, at.job.width))
            return only(row + x * at.channels + at.channels - 1, own)

        def turn(time: int) -> str:
            return in_colour(held(time % on.side), time // on.side)

        def part_turn(time: int) -> str:
            colour, j = divmod(time // 2, on.side)
            return in_colour(part_held(j, time % 2), colour)

        def in_colour(words: str, colour: int) -> str:
            return f"{words}, channel {colour + 1}" if on.colours > 1 else words

        def loads() -> tuple[int, int]:
            lines = on.colours * on.line
            return lines * on.rows, lines * int(is_row.sum()) // on.side

        def pixel_turn(time: int) -> str:
            return f"pixel {time + 1} of each thread"

        def alphas(name: str, is_store: bool) -> Step:
            count = -(-2 * on.valid // on.side)
            return Step(name, "global", "picture", is_store, size, count, alpha, pixel_turn)

        count, size = on.colours * on.side, at.sample_bytes
        load_all = numbers("Load a frequency", shape.reads, False, count, load, turn)
        return (
            replace(load_all, loads=loads),
            *line.transform(tuple(in_colour("", n) for n in range(on.colours))),
            Step("Store the answer", "global", "picture", True, size, 2 * count, store, part_turn),
            *((alphas("Load alpha", False),) if at.job.has_alpha else ()),
            *((alphas("Store alpha", True),) if at.job.has_alpha else ()),
        )

    def works(block: Block) -> Mask:
        right = on.valid * (1 + at.job.has_alpha)  # alpha is shared out over both tiles
        is_column = (at.tx < right) & (block[0] * 2 * on.valid + at.tx < at.job.width)
        return is_column & (block[1] * on.rows + at.ty < at.height)

    lines = [at.tx + on.side * j for j in range(on.side)]
    stands, also = in_both_parts(on, lines, at.ty)
    return Pattern(stands, shape.covers, steps, (at.channels, 1), also, works)


def along_rows(at: Scene, on: FftTiles) -> HandingOver:
    base = at.ty * on.side * (on.side + 1)
    return HandingOver(on.side, base, at.tx, on.side + 1, 1)
