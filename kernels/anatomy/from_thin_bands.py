"""The pattern of the rung on tensor cores whose warps walk down the picture."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Access, Places
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.matrices import FOUR, Matrices
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES

TABLE_ENTRY = 8  # halves: four words


def tensor_separable(at: Scene, shape: Shape) -> Pattern:
    """Sixteen rows at a time: staged as halves, filtered along rows, then down the columns."""
    on = Matrices(at)
    deep = on.deep
    tiles = 1 if at.ksize > 31 and (on.planes > 1 or at.ksize <= 63) else 2
    groups, tall = at.block_y // on.planes, shape.covers[1]
    plane, group = at.ty // groups, at.ty % groups
    columns = shape.covers[0] // at.channels
    staged = columns + 16 * (deep - 1)
    stride, parts = 8 * (staged // 8 | 1), 1 if on.fits_half else 2
    plane_size, fours = 16 * stride, 16 * staged // FOUR
    share = -(-fours // at.threads)
    entries = 2 * deep * LANES  # pairs of them: of rows, then of columns
    tile_at = 2 * entries * TABLE_ENTRY
    peaks_at = tile_at + on.planes * parts * plane_size
    fills = {"entry": -(-entries // at.threads), "half": 2}
    is_floating = at.job.pixel_type in ("float16", "float32")
    # Which blocks of a band each product needs, in their order: along the rows, down the columns.
    bands = [s - m for s in range(deep + tiles - 1) for m in range(tiles) if 0 <= s - m < deep]
    bands += [deep + s for s in reversed(range(deep))]

    def weights(time: Places, part: Places, word: Places) -> Places:
        """Words of the two bands: one twice, one eight pairs before, one in between."""
        pair = (time * at.threads + at.thread) // LANES
        first = pair // deep * on.words + 15 + 2 * on.t - on.g + pair % deep * 16
        place = 2 * (first + part * 2 * on.words) + np.array((0, -16, 1, 0))[word]
        return only(place, pair < entries // LANES)

    def entry(time: Places, part: Places) -> Places:
        pair = (time * at.threads + at.thread) // LANES
        place = TABLE_ENTRY * ((pair * 2 + part) * LANES + at.tx)
        return only(place, pair < entries // LANES)

    def band(_: Places, number: Places, part: Places) -> Places:
        return TABLE_ENTRY * ((np.array(bands)[number] * 2 + part) * LANES + at.tx)

    def halves(_: Places, load: Places, own_plane: Places, part: Places) -> Places:
        row, n = np.divmod(load * at.threads + at.thread, staged // FOUR)
        place = tile_at + row * stride + n * FOUR + (own_plane * parts + part) * plane_size
        return only(place, row < 16)

    def matrix(_: Places, s: Places, number: Places, part: Places) -> Places:
        corner = tile_at + (plane * parts + part) * plane_size + 16 * (tiles * group + s)
        return corner + on.in_block(number // 2, number % 2, stride)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * columns, block[1] * tall
        y_end = min(y0 + tall, at.height)
        top = y0 - on.reach
        times = len(range(top, y_end + 16 * (deep - 1) - on.reach, 16))
        rows = [y0 + 16 * n + below for n in range(times - deep + 1) for below in (0, 8)]

        def pixels(time: Places, load: Places) -> tuple[Places, Places, Mask]:
            row, n = np.divmod(load * at.threads + at.thread, staged // FOUR)
            return x0 - on.reach + n * FOUR, top + time * 16 + row, row < 16

        x = x0 + 16 * tiles * group + 2 * on.t
        rounds, products = {"round": times}, {"product": len(bands), "half": 2}
        kept = {**rounds, "load": share, "plane": on.planes, "half": parts}
        matrices = {**rounds, "tile": deep + tiles - 1, "matrix": 4, "half": parts}
        return (
            at.load("Load a word of a band", "weights", {**fills, "word": 4}, weights),
            on.store_halves("Store a band's words", fills, entry, TABLE_ENTRY),
            *on.loads({"round": times + 1, "load": share}, pixels),
            *on.peaks(peaks_at, at.block_y, times, is_floating),
            on.store_halves("Stage: store halves", kept, halves, FOUR),
            on.read_halves("Read a matrix of samples", matrices, matrix, 2),
            on.read_halves("Read a band", {**rounds, **products}, band, TABLE_ENTRY),
            on.answer(x, on.g, range(0, 16 * tiles, 8), rows, [plane], y_end),
            *on.alpha(x0, y0, columns, tall, y_end),
        )

    stands = np.stack(((16 * tiles * group + 2 * on.t) * at.channels + plane, on.g), 1)
    further = [
        ((8 * n + second) * at.channels, 8 * below)
        for below in (0, 1)
        for n in range(2 * tiles)
        for second in (0, 1)
    ][1:]
    also = stands[None] + np.array(further)[:, None]
    return Pattern(stands, (columns * at.channels, 16), steps, (1, 1), also)
