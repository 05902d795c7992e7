"""Patterns of the two passes of separable weights."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Places, Step
from kernels.anatomy.launch_scene import Scene, joined, only
from kernels.anatomy.pattern import (
    FLOAT,
    Pattern,
    answer_store,
    one_each,
    own_samples,
    staging,
    tile_alpha,
    tile_taps,
)
from kernels.anatomy.tile_shapes import Block, Shape


def rows(at: Scene, shape: Shape) -> Pattern:
    tile_w = at.block_x + 2 * at.halo_x

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        x0 = block[0] * at.block_x - at.halo_x

        def tile(time: int) -> Places:
            column = at.tx + time * at.block_x
            return only(at.ty * tile_w + column, (column < tile_w) & (y < at.height))

        def source(time: int) -> Places:
            column = at.sample(x0 + at.tx + time * at.block_x)
            return only(joined(at.begin(y), column), tile(time) != NOWHERE)

        left = only(at.ty * tile_w + at.tx, inside)
        return (
            *staging(
                -(-tile_w // at.block_x),
                source,
                tile,
                y[(at.tx == 0) & (y < at.height)],
                at.sample(x0 + np.arange(tile_w)),
                at.sample_bytes,
            ),
            tile_taps(at, left, 1, at.ksize, tile_w),
            *tile_alpha(at, left, x, at.halo_x),
            answer_store(at, x, y, inside, shape.writes),
        )

    return one_each(at, steps)


def columns(at: Scene, shape: Shape) -> Pattern:
    tile_h = at.block_y + 2 * at.halo_y

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        y0 = block[1] * at.block_y - at.halo_y

        def tile(time: int) -> Places:
            row = at.ty + time * at.block_y
            return only(row * at.block_x + at.tx, (row < tile_h) & (x < at.row))

        def source(time: int) -> Places:
            line = at.line(y0 + at.ty + time * at.block_y)
            return only(joined(line, x), tile(time) != NOWHERE)

        top = only(at.ty * at.block_x + at.tx, inside)
        return (
            *staging(
                -(-tile_h // at.block_y),
                source,
                tile,
                at.source_row(y0 + np.arange(tile_h)),
                x[(at.ty == 0) & (x < at.row)],
                FLOAT,
                shape.reads,
            ),
            tile_taps(at, top, at.ksize, 1, at.block_x),
            *tile_alpha(at, top, x, at.halo_y * at.block_x),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)


def rows_flat(at: Scene, shape: Shape) -> Pattern:
    strip = at.threads + 2 * at.halo_x

    def steps(block: Block) -> tuple[Step, ...]:
        x0 = block[0] * at.threads - at.halo_x
        x, y = x0 + at.halo_x + at.thread, np.full(at.threads, block[1])
        inside = x < at.row

        def tile(time: int) -> Places:
            place = at.thread + time * at.threads
            return only(place, place < strip)

        def source(time: int) -> Places:
            place = at.sample(x0 + at.thread + time * at.threads)
            return only(joined(at.begin(y), place), tile(time) != NOWHERE)

        left = only(at.thread, inside)
        return (
            *staging(
                -(-strip // at.threads),
                source,
                tile,
                np.array([block[1]]),
                at.sample(x0 + np.arange(strip)),
                at.sample_bytes,
            ),
            tile_taps(at, left, 1, at.ksize, strip),
            *tile_alpha(at, left, x, at.halo_x),
            answer_store(at, x, y, inside, shape.writes),
        )

    stands = np.stack((at.thread, np.zeros_like(at.thread)), 1)
    return Pattern(stands, (at.threads, 1), steps)


def columns_flat(at: Scene, shape: Shape) -> Pattern:
    columns = min(at.threads, 32)
    rows = at.threads // columns
    size = columns * (rows + 2 * at.halo_y)
    has_own = at.thread < rows * columns

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * columns, block[1] * rows - at.halo_y
        x, y = x0 + at.thread % columns, block[1] * rows + at.thread // columns
        inside = (x < at.row) & (y < at.height) & has_own

        def tile(time: int) -> Places:
            place = at.thread + time * at.threads
            return only(place, (place < size) & (x0 + place % columns < at.row))

        def source(time: int) -> Places:
            place = at.thread + time * at.threads
            found = joined(at.line(y0 + place // columns), x0 + place % columns)
            return only(found, tile(time) != NOWHERE)

        top = only(at.thread, inside)
        return (
            *staging(
                -(-size // at.threads),
                source,
                tile,
                at.source_row(y0 + np.arange(size // columns)),
                x0 + np.arange(min(columns, at.row - x0)),
                FLOAT,
                shape.reads,
            ),
            tile_taps(at, top, at.ksize, 1, columns),
            *tile_alpha(at, top, x, at.halo_y * columns),
            answer_store(at, x, y, inside),
        )

    stands = np.stack((at.thread % columns, at.thread // columns), 1)
    stands[~has_own] = NOWHERE
    return Pattern(stands, (columns, rows), steps)
