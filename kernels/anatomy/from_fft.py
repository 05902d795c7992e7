"""Patterns of the passes around cuFFT's: rows of tiles gathered, multiplied, and cropped."""

from __future__ import annotations

from functools import partial

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import NOWHERE, Access, Places
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import (
    COMPLEX,
    Pattern,
    alpha_load,
    answer_store,
    one_each,
    own_samples,
)
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transform_words import every, held, part_held

FAR = np.iinfo(np.int64).max


def in_both_parts(on: FftTiles, lines: Places, row: Places) -> tuple[Places, Places]:
    """Where threads stand that have these numbers of a line, and where else: at the samples, of two
    tiles, that come out right.

    lines  (n, threads) numbers of each thread, counted from the first that does
    row    of each thread
    """
    step = on.valid * on.channels
    is_right = (lines >= 0) & (lines < on.valid)
    found = [np.where(is_right, lines * on.channels + part * step, FAR) for part in (0, 1)]
    # Those that there are before those that there are not.
    x = np.sort(np.concatenate(found), 0)
    x[x == FAR] = NOWHERE
    places = np.stack((x, np.where(x == NOWHERE, NOWHERE, row)), -1)
    return places[0], places[1:]


def gather(at: Scene, shape: Shape) -> Pattern:
    """A block a row of two tiles, one its real and one its imaginary part; a thread every 64th."""
    on = FftTiles(at.job)
    turns = -(-on.line // at.threads)

    def steps(block: Block) -> tuple[Access, ...]:
        pair, _ = on.tile_of(block[1])
        colour, y = on.colour_of(pair), shape.tile(block).top
        left = on.left(pair) - at.halo_x + colour
        begin = (block[1] * on.line + block[0]) * on.line

        def source(time: Places, part: Places) -> Places:
            n = time * at.threads + at.thread
            x = left + (n + part * on.valid) * at.channels
            return only(at.source_sample(np.array(y), x), n < on.line)

        def store(time: Places) -> Places:
            n = time * at.threads + at.thread
            return only(begin + n, n < on.line)

        parts, loops = {"number": turns, "part": 2}, {"number": turns}
        return (
            at.load("Load a sample", "picture", parts, source, words=part_held),
            at.store("Store a number", shape.writes, loops, store, 1, COMPLEX, held),
        )

    lines = np.arange(turns)[:, None] * at.threads + at.thread - at.radius
    stands, also = in_both_parts(on, lines, np.zeros_like(at.thread))
    return Pattern(
        stands=stands,
        round=shape.covers,
        steps=steps,
        each=(at.channels, 1),
        also=also,
        block=lambda block: told.gather(on, shape, block),
        thread=lambda _, thread: (
            f"gathers {every(at.threads, 'number', thread, on.line)} of the row"
        ),
    )


def multiply(at: Scene, shape: Shape) -> Pattern:
    """A block a row of a tile's frequencies; a thread every 64th of them."""
    on = FftTiles(at.job)
    loops = {"number": -(-on.line // at.threads)}

    def of_row(row: int, time: Places) -> Places:
        n = time * at.threads + at.thread
        return only(row * on.line + n, n < on.line)

    def steps(block: Block) -> tuple[Access, ...]:
        own = partial(of_row, block[1] * on.line + block[0])
        weights = partial(of_row, block[0])
        return (
            at.load("Load a number", shape.reads, loops, own, 1, COMPLEX, held),
            at.load("Load a weight", "weights", loops, weights, 1, COMPLEX, held),
            at.store("Store a number", shape.writes, loops, own, 1, COMPLEX, held),
        )

    return Pattern(
        stands=np.full((at.threads, 2), NOWHERE),
        round=shape.covers,
        steps=steps,
        block=lambda block: told.multiply(on, block),
        thread=lambda _, thread: (
            f"multiplies {every(at.threads, 'frequency', thread, on.line)} of the row"
        ),
        picked=lambda x, _: on.frequency_across(x) % at.threads,
    )


def crop(at: Scene, shape: Shape) -> Pattern:
    """Out of tiles of complex numbers, of which two neighbours along a row are the two parts."""
    on = FftTiles(at.job)

    def steps(block: Block) -> tuple[Access, ...]:
        x, y, inside = own_samples(at, block)
        pixel, colour = x // at.channels, x % at.channels
        tile = (colour * on.tiles + y // on.valid) * on.pairs + pixel // (2 * on.valid)
        n = pixel % (2 * on.valid)
        number = (tile * on.line + y % on.valid) * on.line + n % on.valid
        taken = only(2 * number + (n >= on.valid), inside & ~at.is_alpha(x))
        return (
            at.load("Load a part of a number", shape.reads, {}, lambda: taken),
            *alpha_load(at, x, y, inside),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)
