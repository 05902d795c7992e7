"""The pattern of the rung on tensor cores whose warps walk down the picture."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.matrices import FOUR, Matrices, turn_of
from kernels.anatomy.pattern import FLOAT, Pattern
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
    fills = -(-entries // at.threads)
    is_floating = at.job.pixel_type in ("float16", "float32")
    # Which blocks of a band each product needs, in their order: along the rows, down the columns.
    bands = [s - m for s in range(deep + tiles - 1) for m in range(tiles) if 0 <= s - m < deep]
    bands += [deep + s for s in reversed(range(deep))]

    def filling(time: int) -> tuple[Places, int]:
        time, part = divmod(time, 2)
        return time * at.threads + at.thread, part

    def weights(time: int) -> Places:
        """Words of the two bands: one twice, one eight pairs before, one in between."""
        n, part = filling(time // 4)
        word = n // LANES // deep * on.words + 15 + 2 * on.t - on.g + n // LANES % deep * 16
        word = 2 * (word + part * 2 * on.words) + (0, -16, 1, 0)[time % 4]
        return only(word, n < entries)

    def entry(time: int) -> Places:
        n, part = filling(time)
        return only(TABLE_ENTRY * ((n // LANES * 2 + part) * LANES + at.tx), n < entries)

    def band(time: int) -> Places:
        number, part = divmod(time, 2)
        return TABLE_ENTRY * ((bands[number % len(bands)] * 2 + part) * LANES + at.tx)

    def halves(time: int) -> Places:
        time, part = divmod(time, parts)
        time, own_plane = divmod(time, on.planes)
        n = time % share * at.threads + at.thread
        place = n // (staged // FOUR) * stride + n % (staged // FOUR) * FOUR
        return only(tile_at + place + (own_plane * parts + part) * plane_size, n < fours)

    def matrix(time: int) -> Places:
        time, part = divmod(time, parts)
        time, number = divmod(time, 4)
        s = time % (deep + tiles - 1)
        corner = tile_at + (plane * parts + part) * plane_size + 16 * (tiles * group + s)
        return corner + on.in_block(number // 2, number % 2, stride)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * columns, block[1] * tall
        y_end = min(y0 + tall, at.height)
        top = y0 - on.reach
        times = len(range(top, y_end + 16 * (deep - 1) - on.reach, 16))
        done = [y0 + 16 * n for n in range(times - deep + 1)]

        def pixels(time: int) -> tuple[Places, Places, Mask]:
            n = time % share * at.threads + at.thread
            x = x0 - on.reach + n % (staged // FOUR) * FOUR
            return x, top + time // share * 16 + n // (staged // FOUR), n < fours

        x = x0 + 16 * tiles * group + 2 * on.t
        rows = [y + below for y in done for below in (0, 8)]
        across = range(0, 16 * tiles, 8)
        return (
            Step(
                "Load a word of a band",
                "global",
                "weights",
                False,
                FLOAT,
                fills * 8,
                weights,
                turn_of("word", 8, "entry"),
            ),
            on.shared("Store a band's words", True, fills * 2, entry, TABLE_ENTRY),
            *on.pixels("Stage: load", share * (times + 1), pixels),
            *on.peaks(peaks_at, at.block_y, times, is_floating),
            on.shared("Stage: store halves", True, times * share * on.planes * parts, halves, FOUR),
            on.shared_by_all(
                "Read a matrix of samples",
                times * (deep + tiles - 1) * 4 * parts,
                matrix,
                2,
            ),
            on.shared_by_all("Read a band", times * len(bands) * 2, band, TABLE_ENTRY),
            *on.answer(x, on.g, across, rows, [plane], y_end),
            *on.alpha(x0, y0, columns, tall, y_end),
        )

    stands = np.stack(((16 * tiles * group + 2 * on.t) * at.channels + plane, on.g), 1)
    further = [
        ((8 * n + second) * at.channels, 8 * below)
        for below in (0, 1)
        for n in range(2 * tiles)
        for second in (0, 1)
    ][1:]
    also = np.stack([stands + np.array(each) for each in further])
    return Pattern(stands, (columns * at.channels, 16), steps, (1, 1), also)
