"""Patterns of the two passes of separable weights."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Places
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import Threads, staging, stand, tile_taps


def rows(at: Scene) -> Threads:
    """Describe the row pass on a tile with a halo to its left and right."""
    tile_w = at.block_x + 2 * at.halo_x
    column = np.arange(0, tile_w, at.block_x)[:, None] + at.tx
    tile = column, at.ty, (column < tile_w) & (at.y < at.height)
    return _one_way(at, (at.tx, at.ty), tile, tile_w)


def columns(at: Scene) -> Threads:
    """Describe the column pass on a tile with a halo above and below."""
    tile_h = at.block_y + 2 * at.halo_y
    row = np.arange(0, tile_h, at.block_y)[:, None] + at.ty
    tile = at.tx, row, (row < tile_h) & (at.x < at.row)
    return _one_way(at, (at.tx, at.ty), tile, at.block_x, is_down=True)


def rows_flat(at: Scene) -> Threads:
    """Describe the row pass on a strip of one row, whatever the shape of the block."""
    strip = at.threads + 2 * at.halo_x
    place = np.arange(0, strip, at.threads)[:, None] + at.thread
    none = np.zeros_like(at.thread)
    return _one_way(at, (at.thread, none), (place, none, place < strip), strip)


def columns_flat(at: Scene) -> Threads:
    """Describe the column pass with threads and tile counted along one line."""
    width, height = at.shape.covers
    size, has_own = width * (height + 2 * at.halo_y), at.thread < width * height
    place = np.arange(0, size, at.threads)[:, None] + at.thread
    tile = place % width, place // width, (place < size) & (at.x0 + place % width < at.row)
    own = only(at.thread % width, has_own), only(at.thread // width, has_own)
    return _one_way(at, own, tile, width, is_down=True)


def _one_way(
    at: Scene,
    own: tuple[Places, Places],
    tile: tuple[Places, Places, Mask],
    pitch: int,
    is_down: bool = False,
) -> Threads:
    """Describe one thread per sample, which reads a tile with a halo on two sides.

    own   sample and row of the tile that each thread computes, or NOWHERE
    tile  as for `staging`
    """
    halo_x, halo_y = (0, at.halo_y) if is_down else (at.halo_x, 0)
    down, across = (at.ksize, 1) if is_down else (1, at.ksize)
    x, y = at.x0 + own[0], at.y0 + own[1]
    inside = (own[0] != NOWHERE) & (x < at.row) & (y < at.height)
    first = only(own[1] * pitch + own[0], inside)
    alpha = only(first + halo_y * pitch + halo_x, inside & at.is_alpha(x))
    steps = (
        *staging(at, at.shape.reads, (at.x0 - halo_x, at.y0 - halo_y), tile, pitch),
        tile_taps(at, first, down, across, pitch),
        *at.load_alpha("Read alpha", TILE, {}, alpha),
        at.store("Store the answer", at.shape.writes, {}, only(at.begin(y) + x, inside)),
    )
    return Threads(steps, stand(*own))
