"""Patterns of the passes around cuFFT's: rows of tiles gathered, multiplied, and cropped."""

from __future__ import annotations

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import NOWHERE, Places
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import COMPLEX, Threads, alpha_load, answer_store, one_each, stand
from kernels.anatomy.transform_words import every, held, part_held

FAR = np.iinfo(np.int64).max


def in_both_parts(on: FftTiles, lines: Places, row: Places) -> Places:
    """Return where threads stand that hold these numbers of a line, in both tiles of a pair.

    Only numbers that come out right count: the others are halo.

    lines  (n, threads) numbers of each thread, counted from the first valid one
    row    of each thread
    """
    step = on.valid * on.channels
    is_right = (lines >= 0) & (lines < on.valid)
    found = [np.where(is_right, lines * on.channels + part * step, FAR) for part in (0, 1)]
    # Samples first, then the places without one.
    x = np.sort(np.concatenate(found), 0)
    return stand(only(x, x != FAR), row)


def gather(at: Scene) -> Threads:
    """Describe a block that gathers one row of a pair of tiles: real part and imaginary part.

    Of n threads, each gathers every n-th number.
    """
    on = FftTiles(at.facts)
    pair, _ = on.tile_of(at.block[1])
    left = on.left(pair) - at.halo_x + on.colour_of(pair)
    n = np.arange(0, on.line, at.threads)[:, None] + at.thread
    part = np.arange(2)[:, None]
    y, x = (
        np.array(at.shape.tile(at.block).top),
        left + (n[:, None] + part * on.valid) * at.channels,
    )
    source = only(at.source_sample(y, x), n[:, None] < on.line)
    kept = only((at.block[1] * on.line + at.block[0]) * on.line + n, n < on.line)
    loops = {"number": len(n)}
    steps = (
        at.load("Load a sample", "picture", {**loops, "part": 2}, source, words=part_held),
        at.store("Store a number", at.shape.writes, loops, kept, 1, COMPLEX, held),
    )
    return Threads(
        steps,
        in_both_parts(on, n - at.radius, np.zeros_like(at.thread)),
        each=(at.channels, 1),
        block=told.gather(on, at.shape, at.block),
        thread=lambda thread: f"gathers {every(at.threads, 'number', thread, on.line)} of the row",
    )


def multiply(at: Scene) -> Threads:
    """Describe a block that multiplies one row of a tile's frequencies by the spectrum.

    Of n threads, each multiplies every n-th frequency.
    """
    on = FftTiles(at.facts)
    n = np.arange(0, on.line, at.threads)[:, None] + at.thread
    loops = {"number": len(n)}
    own = only((at.block[1] * on.line + at.block[0]) * on.line + n, n < on.line)
    weights = only(at.block[0] * on.line + n, n < on.line)
    steps = (
        at.load("Load a number", at.shape.reads, loops, own, 1, COMPLEX, held),
        at.load("Load a weight", "weights", loops, weights, 1, COMPLEX, held),
        at.store("Store a number", at.shape.writes, loops, own, 1, COMPLEX, held),
    )
    return Threads(
        steps,
        np.full((at.threads, 2), NOWHERE),
        block=told.multiply(on, at.block),
        thread=lambda thread: (
            f"multiplies {every(at.threads, 'frequency', thread, on.line)} of the row"
        ),
        picked=lambda x, _: on.frequency_across(x) % at.threads,
    )


def crop(at: Scene) -> Threads:
    """Describe threads that copy one sample each out of the complex tiles, into the picture.

    Two neighbouring tiles of a row are the real and the imaginary part.
    """
    on = FftTiles(at.facts)
    pixel, colour = at.x // at.channels, at.x % at.channels
    tile = (colour * on.tiles + at.y // on.valid) * on.pairs + pixel // (2 * on.valid)
    n = pixel % (2 * on.valid)
    number = (tile * on.line + at.y % on.valid) * on.line + n % on.valid
    taken = only(2 * number + (n >= on.valid), at.inside & ~at.is_alpha(at.x))
    load = at.load("Load a part of a number", at.shape.reads, {}, taken)
    return one_each(at, load, *alpha_load(at), answer_store(at))
