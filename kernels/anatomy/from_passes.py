"""Patterns of the two passes of separable weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import Pattern, answer_store, staging, tile_taps
from kernels.anatomy.tile_shapes import Block, Shape

Where = Callable[[Places], tuple[Places, Places, Mask]]


def rows(at: Scene, shape: Shape) -> Pattern:
    tile_w = at.block_x + 2 * at.halo_x

    def where(load: Places) -> tuple[Places, Places, Mask]:
        column = at.tx + load * at.block_x
        return column, at.ty, column < tile_w

    return _one_way(at, shape, (at.tx, at.ty), -(-tile_w // at.block_x), where, tile_w)


def columns(at: Scene, shape: Shape) -> Pattern:
    tile_h = at.block_y + 2 * at.halo_y

    def where(load: Places) -> tuple[Places, Places, Mask]:
        row = at.ty + load * at.block_y
        return at.tx, row, row < tile_h

    loads = -(-tile_h // at.block_y)
    return _one_way(at, shape, (at.tx, at.ty), loads, where, at.block_x, is_down=True)


def rows_flat(at: Scene, shape: Shape) -> Pattern:
    strip = at.threads + 2 * at.halo_x

    def where(load: Places) -> tuple[Places, Places, Mask]:
        place = at.thread + load * at.threads
        return place, np.zeros_like(place), place < strip

    own = at.thread, np.zeros_like(at.thread)
    return _one_way(at, shape, own, -(-strip // at.threads), where, strip)


def columns_flat(at: Scene, shape: Shape) -> Pattern:
    width, height = shape.covers
    size = width * (height + 2 * at.halo_y)
    has_own = at.thread < width * height

    def where(load: Places) -> tuple[Places, Places, Mask]:
        place = at.thread + load * at.threads
        return place % width, place // width, place < size

    own = only(at.thread % width, has_own), only(at.thread // width, has_own)
    return _one_way(at, shape, own, -(-size // at.threads), where, width, is_down=True)


def _one_way(
    at: Scene,
    shape: Shape,
    own: tuple[Places, Places],
    loads: int,
    where: Where,
    pitch: int,
    is_down: bool = False,
) -> Pattern:
    """A thread a sample, out of a tile with a halo on two sides.

    own  sample and row of the tile that each thread computes, or NOWHERE
    """
    halo_x, halo_y = (0, at.halo_y) if is_down else (at.halo_x, 0)
    down, across = (at.ksize, 1) if is_down else (1, at.ksize)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * shape.covers[0], block[1] * shape.covers[1]
        x, y = x0 + own[0], y0 + own[1]
        inside = (own[0] != NOWHERE) & (x < at.row) & (y < at.height)

        def staged(load: Places) -> tuple[Places, Places, Mask]:
            """What lies beyond the end of the axis without a halo is left out."""
            column, row, takes_part = where(load)
            is_there = x0 + column < at.row if is_down else y0 + row < at.height
            return column, row, takes_part & is_there

        first = only(own[1] * pitch + own[0], inside)
        alpha = only(first + halo_y * pitch + halo_x, inside & at.is_alpha(x))
        return (
            *staging(at, shape.reads, loads, staged, (x0 - halo_x, y0 - halo_y), pitch),
            tile_taps(at, first, down, across, pitch),
            *((at.load("Read alpha", TILE, {}, lambda: alpha),) if at.job.has_alpha else ()),
            answer_store(at, x, y, inside, shape.writes),
        )

    return Pattern(np.stack(own, 1), shape.covers, steps)
