"""Patterns of rungs that stage a tile with its halo, or the whole picture, in shared memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Places, Step, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, joined, only
from kernels.anatomy.pattern import (
    FLOAT,
    TILE,
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
    """The tile is staged as one line of samples."""
    return _tiled(at, _stage_flat)


def apron(at: Scene, _shape: Shape) -> Pattern:
    """The tile is staged in up to four parts."""
    return _tiled(at, _stage_apron)


def _tiled(at: Scene, stage: Callable[[Scene, Block, int, int], tuple[Step, ...]]) -> Pattern:
    """A thread a sample; the tile and its halo are staged in shared memory first."""
    tile_w, tile_h = at.block_x + 2 * at.halo_x, at.block_y + 2 * at.halo_y

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        works = inside & ~at.is_alpha(x)
        corner = only(at.ty * tile_w + at.tx, works)
        return (
            *stage(at, block, tile_w, tile_h),
            *alpha_load(at, x, y, inside),
            tile_taps(at, corner, at.ksize, at.ksize, tile_w),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)


def _stage_flat(at: Scene, block: Block, tile_w: int, tile_h: int) -> tuple[Step, ...]:
    """The tile as one line of samples; thread after thread takes the next."""
    x0, y0 = block[0] * at.block_x - at.halo_x, block[1] * at.block_y - at.halo_y
    size = tile_w * tile_h

    def tile(time: int) -> Places:
        place = time * at.threads + at.thread
        return only(place, place < size)

    def source(time: int) -> Places:
        place = tile(time)
        inside = np.maximum(place, 0)
        return only(at.source_sample(y0 + inside // tile_w, x0 + inside % tile_w), place != NOWHERE)

    sides = _sides(at, x0, y0, tile_w, tile_h)
    return staging(-(-size // at.threads), source, tile, *sides, at.sample_bytes)


def _stage_apron(at: Scene, block: Block, tile_w: int, tile_h: int) -> tuple[Step, ...]:
    """Own place, one block right, below, and diagonally."""
    x0, y0 = block[0] * at.block_x - at.halo_x, block[1] * at.block_y - at.halo_y

    def column_and_row(time: int) -> tuple[Places, Places]:
        return at.tx + time % 2 * at.block_x, at.ty + time // 2 * at.block_y

    def tile(time: int) -> Places:
        column, row = column_and_row(time)
        return only(row * tile_w + column, (column < tile_w) & (row < tile_h))

    def source(time: int) -> Places:
        column, row = column_and_row(time)
        return only(at.source_sample(y0 + row, x0 + column), tile(time) != NOWHERE)

    sides = _sides(at, x0, y0, tile_w, tile_h)
    return staging(4, source, tile, *sides, at.sample_bytes)


def _sides(at: Scene, x0: int, y0: int, tile_w: int, tile_h: int) -> tuple[Places, Places]:
    return at.source_row(y0 + np.arange(tile_h)), at.sample(x0 + np.arange(tile_w))


def untiled(at: Scene, _shape: Shape) -> Pattern:
    """One block; a thread takes every so many-th sample along both axes, staging and filtering."""
    across, down = -(-at.row // at.block_x), -(-at.height // at.block_y)
    taps = at.ksize**2

    def own(time: int) -> tuple[Places, Places, Mask]:
        x, y = at.tx + time % across * at.block_x, at.ty + time // across * at.block_y
        return x, y, (x < at.row) & (y < at.height)

    def tile(time: int) -> Places:
        x, y, inside = own(time)
        return only(y * at.row + x, inside)

    def source(time: int) -> Places:
        x, y, inside = own(time)
        return only(at.begin(y) + x, inside)

    def alpha(time: int) -> Places:
        return only(source(time), at.is_alpha(own(time)[0]))

    def read(time: int) -> Places:
        (x, y, inside), tap = own(time // taps), time % taps
        row = at.source_row(y + tap // at.ksize - at.radius)
        column = at.sample(x + (tap % at.ksize - at.radius) * at.channels)
        line = np.where(row == NOWHERE, NOWHERE, row * at.row)
        return only(joined(line, column), inside & ~at.is_alpha(x))

    def loads() -> tuple[int, int]:
        """Rows that a tap can read, times samples of a row that it can."""
        reach, size = (
            np.arange(at.ksize) - at.radius,
            at.row - at.row // at.channels * at.job.has_alpha,
        )
        rows = at.source_row(np.arange(at.height)[:, None] + reach)
        columns = at.sample(np.arange(at.row)[:, None] + reach * at.channels)
        columns[at.is_alpha(np.arange(at.row))] = NOWHERE
        return int((rows != NOWHERE).sum() * (columns != NOWHERE).sum()), size * at.height

    def steps(_block: Block) -> tuple[Step, ...]:
        rounds = across * down
        alphas = (Step("Load alpha", "global", "picture", False, at.sample_bytes, rounds, alpha),)
        return (
            *staging(
                rounds, source, tile, np.arange(at.height), np.arange(at.row), at.sample_bytes
            ),
            *(alphas if at.job.has_alpha else ()),
            Step(
                "Read a sample",
                "shared",
                TILE,
                False,
                FLOAT,
                rounds * taps,
                read,
                lambda time: f"{tap_words(time % taps, at.ksize)} of round {time // taps + 1}",
                loads,
            ),
            Step("Store the answer", "global", "picture", True, at.sample_bytes, rounds, source),
        )

    return one_each(at, steps)
