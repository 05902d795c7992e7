"""Patterns of transforms along rows, in registers: SIDE threads with SIDE numbers each a line."""

from __future__ import annotations

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import Places
from kernels.anatomy.from_fft import in_both_parts
from kernels.anatomy.handing_over import HandingOver
from kernels.anatomy.launch_scene import Scene, joined, only, turns
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import COMPLEX, Threads
from kernels.anatomy.transform_words import every, held, part_held


def transform_rows(at: Scene) -> Threads:
    """Describe forward transforms along rows, each of a pair of tiles.

    One tile of the pair is the real part, the other the imaginary part.
    """
    on = FftTiles(at.facts)
    line = along_rows(at, on)
    y = at.block[0] * on.rows + at.ty
    row = at.begin(np.minimum(y, at.height - 1))  # also for threads without a row
    left = on.left(at.block[1]) - at.halo_x + on.colour_of(at.block[1])
    n = at.tx + on.side * np.arange(on.side)[:, None]  # of the line's numbers
    x = left + (n[:, None] + on.valid * np.arange(2)[:, None]) * at.channels
    inside = only(row + x, (x >= 0) & (x < at.row))
    kept = only((at.block[1] * at.height + y) * on.line + n, y < at.height)

    def beyond(x: Places) -> Places:
        return joined(row, at.sample(x))

    pixel = on.left(at.block[1]) // at.channels - at.radius
    is_edge = pixel < 0 or pixel + on.valid + on.line > at.job.width
    where, size = (x.swapaxes(0, 1), at.row, at.halo_x), at.sample_bytes
    parts, loops = {"number": on.side, "part": 2}, {"number": on.side}
    steps = (
        at.load("Load a sample", "picture", parts, inside, words=part_held),
        *(line.fill_in("picture", size, where, beyond) if is_edge else ()),
        *line.transform(),
        at.store("Store a frequency", at.shape.writes, loops, kept, 1, COMPLEX, held),
    )

    def thread_words(thread: int) -> str:
        if y[thread] >= at.height:
            return "has no row to transform"
        numbers = every(on.side, "number", thread % on.side, on.line)
        return f"holds {numbers} of row {y[thread]:,}"

    return Threads(
        steps,
        in_both_parts(on, n - at.radius, at.ty),
        each=(at.channels, 1),
        block=told.transform_rows(on, at.shape, at.block),
        thread=thread_words,
    )


def restore_rows(at: Scene) -> Threads:
    """Describe inverse transforms along the rows of a pair of tiles, colour after colour."""
    on = FftTiles(at.facts)
    y = at.block[1] * on.rows + at.ty
    y_there, is_row = np.minimum(y, at.height - 1), y < at.height
    row, left = at.begin(y_there), at.block[0] * 2 * on.valid

    loops = {"colour": on.colours, "number": on.side}
    colour, k = turns(loops)
    load = ((colour * on.pairs + at.block[0]) * at.height + y_there) * on.line + at.tx + on.side * k

    parts = {**loops, "part": 2}
    colour, j, part = turns(parts)
    n = at.tx + on.side * j
    x = left + n + part * on.valid
    store = only(row + x * at.channels + colour, is_row & (n < on.valid) & (x < at.job.width))

    pixels = {"pixel": -(-2 * on.valid // on.side) * at.job.has_alpha}
    x = left + at.tx + on.side * turns(pixels)[0]
    own = is_row & (x < min(left + 2 * on.valid, at.job.width))
    alpha = only(row + x * at.channels + at.channels - 1, own)

    def in_colour(words: str, colour: int) -> str:
        return f"{words}, channel {colour + 1}" if on.colours > 1 else words

    def words(colour: int, j: int) -> str:
        return in_colour(held(j), colour)

    def part_words(colour: int, j: int, part: int) -> str:
        return in_colour(part_held(j, part), colour)

    steps = (
        at.load("Load a frequency", at.shape.reads, loops, load, 1, COMPLEX, words),
        *along_rows(at, on).transform(tuple(in_colour("", n) for n in range(on.colours))),
        at.store("Store the answer", "picture", parts, store, words=part_words),
        at.load("Load alpha", "picture", pixels, alpha),
        at.store("Store alpha", "picture", pixels, alpha),
    )
    lines = at.tx + on.side * np.arange(on.side)[:, None]
    return Threads(steps, in_both_parts(on, lines, at.ty), (at.channels, 1))


def along_rows(at: Scene, on: FftTiles) -> HandingOver:
    """Return how the threads of a row exchange numbers, with one float of padding per thread."""
    base = at.ty * on.side * (on.side + 1)
    return HandingOver(at, on.side, base, at.tx, on.side + 1, 1)
