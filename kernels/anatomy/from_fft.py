"""Patterns of the passes around cuFFT's: rows of tiles gathered, multiplied, and cropped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import NOWHERE, Places, Step
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import (
    FLOAT,
    Pattern,
    alpha_load,
    answer_store,
    numbers,
    one_each,
    own_samples,
)
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transform_words import every, held, part_held

FAR = np.iinfo(np.int64).max


def in_both_parts(on: FftTiles, lines: list[Places], row: Places) -> tuple[Places, Places]:
    """Where threads stand that have these numbers of a line, and where else: at the samples, of two
    tiles, that come out right.

    lines  a number of each thread, counted from the first that does
    row    of each thread
    """
    step = on.valid * on.channels
    found = [
        only(n * on.channels + part * step, (n >= 0) & (n < on.valid))
        for part in (0, 1)
        for n in lines
    ]
    # Those that there are before those that there are not.
    x = np.sort(np.where(np.stack(found) == NOWHERE, FAR, np.stack(found)), 0)
    x[x == FAR] = NOWHERE
    places = np.stack((x, np.where(x == NOWHERE, NOWHERE, row)), -1)
    return places[0], places[1:]


def gather(at: Scene, shape: Shape) -> Pattern:
    """A block a row of two tiles, one its real and one its imaginary part; a thread every 64th."""
    on = FftTiles(at.job)
    turns = -(-on.line // at.threads)

    def number(time: int) -> Places:
        return time * at.threads + at.thread

    def steps(block: Block) -> tuple[Step, ...]:
        pair, _ = on.tile_of(block[1])
        colour, y = on.colour_of(pair), shape.tile(block).top
        left = on.left(pair) - at.halo_x + colour
        begin = (block[1] * on.line + block[0]) * on.line
        rows = np.full(at.threads, y)

        def source(time: int) -> Places:
            n, part = number(time // 2), time % 2
            x = left + (n + part * on.valid) * at.channels
            return only(at.source_sample(rows, x), n < on.line)

        def store(time: int) -> Places:
            return only(begin + number(time), number(time) < on.line)

        def part_turn(time: int) -> str:
            return part_held(*divmod(time, 2))

        size = at.sample_bytes
        return (
            Step("Load a sample", "global", "picture", False, size, 2 * turns, source, part_turn),
            numbers("Store a number", shape.writes, True, turns, store, held),
        )

    lines = [number(time) - at.radius for time in range(turns)]
    stands, also = in_both_parts(on, lines, np.zeros_like(at.thread))
    return Pattern(
        stands=stands,
        round=shape.covers,
        steps=steps,
        each=(at.channels, 1),
        also=also,
        works=lambda _: at.thread < on.line,
        block=lambda block: told.gather(on, shape, block),
        thread=lambda _, thread: (
            f"gathers {every(at.threads, 'number', thread, on.line)} of the row"
        ),
    )


def multiply(at: Scene, shape: Shape) -> Pattern:
    """A block a row of a tile's frequencies; a thread every 64th of them."""
    on = FftTiles(at.job)
    turns = -(-on.line // at.threads)

    def steps(block: Block) -> tuple[Step, ...]:
        def places(row: int) -> Callable[[int], Places]:
            def of_row(time: int) -> Places:
                n = time * at.threads + at.thread
                return only(row * on.line + n, n < on.line)

            return of_row

        own, weights = places(block[1] * on.line + block[0]), places(block[0])
        return (
            numbers("Load a number", shape.reads, False, turns, own, held),
            numbers("Load a weight", "weights", False, turns, weights, held),
            numbers("Store a number", shape.writes, True, turns, own, held),
        )

    return Pattern(
        stands=np.full((at.threads, 2), NOWHERE),
        round=shape.covers,
        steps=steps,
        works=lambda _: at.thread < on.line,
        block=lambda block: told.multiply(on, block),
        thread=lambda _, thread: (
            f"multiplies {every(at.threads, 'frequency', thread, on.line)} of the row"
        ),
        picked=lambda x, _: on.frequency_across(x) % at.threads,
    )


def crop(at: Scene, shape: Shape) -> Pattern:
    """Out of tiles of complex numbers, of which two neighbours along a row are the two parts."""
    on = FftTiles(at.job)

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        pixel, colour = x // at.channels, x % at.channels
        tile = (colour * on.tiles + y // on.valid) * on.pairs + pixel // (2 * on.valid)
        n = pixel % (2 * on.valid)
        number = (tile * on.line + y % on.valid) * on.line + n % on.valid
        taken = only(2 * number + (n >= on.valid), inside & ~at.is_alpha(x))
        return (
            Step(
                "Load a part of a number", "global", shape.reads, False, FLOAT, 1, lambda _: taken
            ),
            *alpha_load(at, x, y, inside),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)
