"""The pattern of the rung on tensor cores whose warps walk down the picture."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.matrices import FOUR, Matrices
from kernels.anatomy.pattern import Threads, stand
from kernels.anatomy.transactions import LANES

TABLE_ENTRY = 8  # halves: four words


def tensor_separable(at: Scene) -> Threads:
    """Describe sixteen rows at a time: staged as halves, filtered along, then down."""
    on = Matrices(at)
    deep = on.deep
    groups, tall = at.block_y // on.planes, at.shape.covers[1]
    plane, group = at.ty // groups, at.ty % groups
    x0, columns = at.x0 // at.channels, at.shape.covers[0] // at.channels
    tiles, staged = columns // 16 // groups, columns + 16 * (deep - 1)
    stride, parts = 8 * (staged // 8 | 1), 1 if on.fits_half else 2
    plane_size = 16 * stride
    entries = 2 * deep * LANES  # pairs of entries: for rows, then for columns
    tile_at = 2 * entries * TABLE_ENTRY
    peaks_at = tile_at + on.planes * parts * plane_size
    y_end, top = min(at.y0 + tall, at.height), at.y0 - on.reach
    times = len(range(top, y_end + 16 * (deep - 1) - on.reach, 16))
    rounds, quarters = {"round": times}, 16 * staged // FOUR
    # Which blocks of a band each product needs, in their order: along the rows, down the columns.
    bands = [s - m for s in range(deep + tiles - 1) for m in range(tiles) if 0 <= s - m < deep]
    bands += [deep + s for s in reversed(range(deep))]

    # Words of the two bands: one twice, one eight pairs before, one in between.
    fills = {"entry": -(-entries // at.threads), "half": 2}
    time, part = turns(fills)
    pair = (time * at.threads + at.thread) // LANES
    is_entry = pair < entries // LANES
    entry = only(TABLE_ENTRY * ((pair * 2 + part) * LANES + at.tx), is_entry)
    word = pair // deep * on.words + 15 + 2 * on.t - on.g + pair % deep * 16 + part * 2 * on.words
    words = only((2 * word)[:, :, None] + np.array((0, -16, 1, 0))[:, None], is_entry[..., None, :])

    loads = {"round": times + 1, "load": -(-quarters // at.threads)}
    time, load = turns(loads)
    row, n = np.divmod(load * at.threads + at.thread, staged // FOUR)
    pixels = x0 - on.reach + n * FOUR, top + time * 16 + row, row < 16

    kept = {**rounds, "load": loads["load"], "plane": on.planes, "half": parts}
    _, load, own_plane, part = turns(kept)
    row, n = np.divmod(load * at.threads + at.thread, staged // FOUR)
    place = tile_at + row * stride + n * FOUR + (own_plane * parts + part) * plane_size
    halves = only(place, row < 16)

    def matrix(_: Places, s: Places, number: Places, part: Places) -> Places:
        corner = tile_at + (plane * parts + part) * plane_size + 16 * (tiles * group + s)
        return corner + on.in_block(number // 2, number % 2, stride)

    products = {**rounds, "product": len(bands), "half": 2}
    _, number, part = turns(products)
    band = TABLE_ENTRY * ((np.array(bands)[number] * 2 + part) * LANES + at.tx)

    matrices = {**rounds, "tile": deep + tiles - 1, "matrix": 4, "half": parts}
    x, is_floating = 16 * tiles * group + 2 * on.t, at.job.pixel_type in ("float16", "float32")
    rows = [at.y0 + 16 * n + below for n in range(times - deep + 1) for below in (0, 8)]
    eights = range(0, 16 * tiles, 8)
    steps = (
        at.load("Load a word of a band", "weights", {**fills, "word": 4}, words),
        on.store_halves("Store a band's words", fills, entry, TABLE_ENTRY),
        *on.loads(loads, pixels),
        *on.peaks(peaks_at, times, is_floating),
        on.store_halves("Stage: store halves", kept, halves, FOUR),
        on.read_halves("Read a matrix of samples", matrices, matrix, 2),
        on.read_halves("Read a band", products, band, TABLE_ENTRY),
        on.answer(x0 + x, on.g, eights, rows, plane[None], y_end),
        *on.alpha(columns, tall, y_end),
    )
    below, n, second = turns({"row": 2, "column": 2 * tiles, "pixel": 2})
    stands = stand((x + 8 * n + second) * at.channels + plane, on.g + 8 * below)
    return Threads(steps, stands.reshape(-1, at.threads, 2), round=(columns * at.channels, 16))
