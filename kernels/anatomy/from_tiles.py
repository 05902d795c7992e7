"""Patterns of rungs that stage a tile with its halo, or the whole picture, in shared memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, joined, only
from kernels.anatomy.pattern import (
    Pattern,
    alpha_load,
    answer_store,
    one_each,
    own_samples,
    staging,
    tile_taps,
)
from kernels.anatomy.tile_shapes import Block, Shape


def flat(at: Scene, _shape: Shape) -> Pattern:
    """The tile is staged as one line of samples; thread after thread takes the next."""
    tile_w, tile_h = at.block_x + 2 * at.halo_x, at.block_y + 2 * at.halo_y

    def where(load: Places) -> tuple[Places, Places, Mask]:
        place = load * at.threads + at.thread
        return place % tile_w, place // tile_w, place < tile_w * tile_h

    return _tiled(at, -(-tile_w * tile_h // at.threads), where)


def apron(at: Scene, _shape: Shape) -> Pattern:
    """The tile is staged in four parts: own place, one block right, below, and diagonally."""
    tile_w, tile_h = at.block_x + 2 * at.halo_x, at.block_y + 2 * at.halo_y

    def where(load: Places) -> tuple[Places, Places, Mask]:
        column, row = at.tx + load % 2 * at.block_x, at.ty + load // 2 * at.block_y
        return column, row, (column < tile_w) & (row < tile_h)

    return _tiled(at, 4, where)


def _tiled(
    at: Scene, count: int, where: Callable[[Places], tuple[Places, Places, Mask]]
) -> Pattern:
    """A thread a sample; the tile and its halo are staged in shared memory first."""
    tile_w = at.block_x + 2 * at.halo_x

    def steps(block: Block) -> tuple[Access, ...]:
        x, y, inside = own_samples(at, block)
        first = only(at.ty * tile_w + at.tx, inside & ~at.is_alpha(x))
        corner = block[0] * at.block_x - at.halo_x, block[1] * at.block_y - at.halo_y
        return (
            *staging(at, "picture", count, where, corner, tile_w),
            *alpha_load(at, x, y, inside),
            tile_taps(at, first, at.ksize, at.ksize, tile_w),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)


def untiled(at: Scene, _shape: Shape) -> Pattern:
    """One block; a thread takes every so many-th sample along both axes, staging and filtering."""
    across, down = -(-at.row // at.block_x), -(-at.height // at.block_y)
    rounds = {"round": across * down}

    def own(n: Places) -> tuple[Places, Places, Mask]:
        x, y = at.tx + n % across * at.block_x, at.ty + n // across * at.block_y
        return x, y, (x < at.row) & (y < at.height)

    def whole(n: Places) -> Places:
        x, y, inside = own(n)
        return only(at.begin(y) + x, inside)

    def alpha(n: Places) -> Places:
        return only(whole(n), at.is_alpha(own(n)[0]))

    def read(n: Places, tap_y: Places, tap_x: Places) -> Places:
        x, y, inside = own(n)
        row = at.source_row(y + tap_y - at.radius)
        column = at.sample(x + (tap_x - at.radius) * at.channels)
        line = only(row * at.row, row != NOWHERE)
        return only(joined(line, column), inside & ~at.is_alpha(x))

    def words(n: int, tap_y: int, tap_x: int) -> str:
        return f"{tap_words(tap_y, tap_x)} of round {n + 1}"

    # Rows that a tap can read, times samples of a row that it can.
    reach, samples = np.arange(at.ksize) - at.radius, np.arange(at.row)[:, None]
    rows = at.source_row(np.arange(at.height)[:, None] + reach)
    columns = only(at.sample(samples + reach * at.channels), ~at.is_alpha(samples))
    known = int((rows != NOWHERE).sum() * (columns != NOWHERE).sum())

    def steps(_block: Block) -> tuple[Access, ...]:
        loops = {**rounds, "row": at.ksize, "column": at.ksize}
        return (
            *staging(at, "picture", across * down, own, (0, 0), at.row),
            *((at.load("Load alpha", "picture", rounds, alpha),) if at.job.has_alpha else ()),
            at.load("Read a sample", TILE, loops, read, words=words, known=known),
            at.store("Store the answer", "picture", rounds, whole),
        )

    return one_each(at, steps)
