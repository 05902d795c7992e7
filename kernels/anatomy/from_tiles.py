"""Patterns of rungs that stage a tile with its halo, or the whole picture, in shared memory."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Places, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, joined, only, turns
from kernels.anatomy.pattern import Threads, alpha_load, answer_store, one_each, staging, tile_taps


def flat(at: Scene) -> Threads:
    """Describe a tile that is staged as one line of samples, thread after thread."""
    tile_w, tile_h = at.block_x + 2 * at.halo_x, at.block_y + 2 * at.halo_y
    place = np.arange(0, tile_w * tile_h, at.threads)[:, None] + at.thread
    return _tiled(at, (place % tile_w, place // tile_w, place < tile_w * tile_h))


def apron(at: Scene) -> Threads:
    """Describe a tile that is staged in four parts: own place, right, below, and diagonally."""
    tile_w, tile_h = at.block_x + 2 * at.halo_x, at.block_y + 2 * at.halo_y
    part = np.arange(4)[:, None]
    column, row = at.tx + part % 2 * at.block_x, at.ty + part // 2 * at.block_y
    return _tiled(at, (column, row, (column < tile_w) & (row < tile_h)))


def _tiled(at: Scene, tile: tuple[Places, Places, Mask]) -> Threads:
    """Describe one thread per sample, once the tile and its halo are in shared memory."""
    tile_w = at.block_x + 2 * at.halo_x
    first = only(at.ty * tile_w + at.tx, at.inside & ~at.is_alpha(at.x))
    return one_each(
        at,
        *staging(at, "picture", (at.x0 - at.halo_x, at.y0 - at.halo_y), tile, tile_w),
        *alpha_load(at),
        tile_taps(at, first, at.ksize, at.ksize, tile_w),
        answer_store(at),
    )


def untiled(at: Scene) -> Threads:
    """Describe one block for the whole picture.

    Each thread stages and filters samples a block's width and height apart.
    """
    across, down = -(-at.row // at.block_x), -(-at.height // at.block_y)
    rounds = {"round": across * down}
    (n,) = turns(rounds)
    x, y = at.tx + n % across * at.block_x, at.ty + n // across * at.block_y
    inside = (x < at.row) & (y < at.height)
    works, own = inside & ~at.is_alpha(x), only(at.begin(y) + x, inside)

    def read(n: Places, tap_y: Places, tap_x: Places) -> Places:
        row = at.source_row(y[n, at.thread] + tap_y - at.radius)
        column = at.sample(x[n, at.thread] + (tap_x - at.radius) * at.channels)
        return only(joined(only(row * at.row, row != NOWHERE), column), works[n, at.thread])

    def words(n: int, tap_y: int, tap_x: int) -> str:
        return f"{tap_words(tap_y, tap_x)} of round {n + 1}"

    # Rows that a tap can read, times samples of a row that it can.
    reach, samples = np.arange(at.ksize) - at.radius, np.arange(at.row)[:, None]
    rows = at.source_row(np.arange(at.height)[:, None] + reach)
    columns = only(at.sample(samples + reach * at.channels), ~at.is_alpha(samples))
    known = int((rows != NOWHERE).sum() * (columns != NOWHERE).sum())
    loops = {**rounds, "row": at.ksize, "column": at.ksize}
    return one_each(
        at,
        *staging(at, "picture", (0, 0), (x, y, inside), at.row),
        *at.load_alpha("Load alpha", "picture", rounds, only(own, at.is_alpha(x))),
        at.load("Read a sample", TILE, loops, read, words=words, known=known),
        at.store("Store the answer", "picture", rounds, own),
    )
