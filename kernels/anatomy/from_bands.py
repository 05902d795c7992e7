"""Patterns of the rungs for separable weights that stage chunks and sum bands of rows."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step, one_after_another
from kernels.anatomy.bands import Bands, Item, load_words, quads
from kernels.anatomy.launch_scene import Mask, Scene, joined, only
from kernels.anatomy.pattern import FLOAT, QUAD, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.rungs.job_facts import Facts


def tile_separable(at: Scene, shape: Shape) -> Pattern:
    return _tile(at, shape, terms=1, all_read=False)


def low_rank(at: Scene, shape: Shape) -> Pattern:
    """The tile's sums once for each of the separable weights that these are the sum of."""
    return _tile(at, shape, terms=Facts(at.job)["RANK"], all_read=True)


def _tile(at: Scene, shape: Shape, terms: int, all_read: bool) -> Pattern:
    """A thread a band of four columns, out of sums along all rows of the tile.

    all_read  also by threads beyond the row's end, which the barriers between terms need
    """
    width, height = shape.covers
    bands = Bands(at, width)
    rows = height + 2 * at.halo_y
    sums_at = QUAD * rows * bands.stage_stride
    quad, band = at.thread % (width // QUAD), at.thread // (width // QUAD)

    def row_at(row: int) -> Places:
        return sums_at + QUAD * ((band * bands.band + row) * bands.sums_stride + quad)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * width, block[1] * height
        x, y = x0 + quad * QUAD, y0 + band * bands.band
        works = x < at.row
        reads = works | all_read
        return (
            *bands.staging(bands.begin_rows(rows, x0, y0 - at.halo_y)),
            *bands.along(_parts(bands, rows), sums_at, terms),
            *bands.down(row_at, reads, terms),
            bands.answer(x, y, at.height, works),
        )

    stands = np.stack((quad * QUAD, band * bands.band), 1)
    return Pattern(stands, (width, height), steps, (QUAD, bands.band))


def _parts(bands: Bands, rows: int) -> list[Item]:
    """sum_rows: neighbouring threads are in neighbouring rows."""
    threads, count = bands.at.thread, rows * (bands.width // bands.part)
    found = []
    for begin in range(0, count, len(threads)):
        n = begin + threads
        found.append((n % rows, n % rows, n // rows, n < count))
    return found


def ring_separable(at: Scene, shape: Shape) -> Pattern:
    """A block takes in a group of rows at a time; their sums go round a ring."""
    strip, tall = shape.covers
    bands = Bands(at, strip)
    a_row = strip // QUAD
    group = at.threads // a_row * bands.band
    ring_bands = bands.lead + group // bands.band
    sums_at = QUAD * group * bands.stage_stride
    quad, nth = at.thread % a_row, at.thread // a_row

    def around(band: Places) -> Places:
        return np.where(band < ring_bands, band, band - ring_bands)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * strip, block[1] * tall
        x, rows = x0 + quad * QUAD, min(tall, at.height - y0)
        top, end = y0 - at.radius - bands.spare, bands.lead * bands.band + rows
        first = bands.lead * bands.band
        begins = range(first - -(-first // group) * group, end, group)
        moves = [
            move
            for begin in begins
            for move in bands.begin_rows(
                group,
                x0,
                top + begin,
                max(min(bands.spare - begin, group), 0),
                max(min(end - begin, group), 0),
            )
        ]
        bands_of = [number * (group // bands.band) % ring_bands for number in range(len(begins))]
        items = [
            (
                n % group,
                around(band + n % group // bands.band) * bands.band + n % bands.band,
                n // group,
                n < count,
            )
            for band in bands_of
            for count in (group * (strip // bands.part),)
            for start in range(0, count, at.threads)
            for n in (start + at.thread,)
        ]
        downs = []
        for begin, band in zip(begins, bands_of, strict=True):
            own = begin - first + nth * bands.band
            works = (own >= 0) & (own < rows) & (x < at.row)
            if not works.any():
                continue
            upper = band + nth - bands.lead
            upper = np.where(upper >= 0, around(upper), upper + ring_bands)

            def row_at(row: int, upper: Places = upper) -> Places:
                n, i = divmod(row + bands.spare, bands.band)
                place = (around(upper + n) * bands.band + i) * bands.sums_stride + quad
                return sums_at + QUAD * place

            answer = bands.answer(x, y0 + own, y0 + rows, works)
            downs.append((*bands.down(row_at, works), answer))
        return (
            *bands.staging(moves),
            *bands.along(items, sums_at),
            *(one_after_another(each, "group") for each in zip(*downs, strict=True)),
        )

    stands = np.stack((quad * QUAD, nth * bands.band), 1)
    return Pattern(stands, (strip, group), steps, (QUAD, bands.band))


def register_rows(at: Scene, shape: Shape) -> Pattern:
    """A thread sixteen sums side by side, or thirty-two; stored in another order."""
    width, rows = shape.covers
    bands = Bands(at, width)
    a_row = width // QUAD
    sums_at = QUAD * rows * bands.stage_stride
    count = rows * a_row // at.threads

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * width, block[1] * rows

        def own(time: int) -> tuple[Places, Places, Mask]:
            n = time * at.threads + at.thread
            x, y = x0 + n % a_row * QUAD, y0 + n // a_row
            return x, y, (x < at.row) & (y < at.height)

        def gather(time: int) -> Places:
            n = time * at.threads + at.thread
            return only(sums_at + QUAD * (n // a_row * bands.sums_stride + n % a_row), own(time)[2])

        def store(time: int) -> Places:
            x, y, works = own(time)
            return only(at.begin(y) + x, works)

        def turn(time: int) -> str:
            return f"quad {time + 1}"

        return (
            *bands.staging(bands.begin_rows(rows, x0, y0)),
            *bands.along(_parts(bands, rows), sums_at),
            quads("Read sums", False, count, gather, turn),
            Step("Store sums", "global", shape.writes, True, FLOAT, count, store, turn, width=QUAD),
        )

    stands = np.stack((at.thread // rows * bands.part, at.thread % rows), 1)
    return Pattern(stands, (width, rows), steps, (bands.part, 1))


def register_columns(at: Scene, shape: Shape) -> Pattern:
    """A thread a band of four columns, out of the rows' sums."""
    width, height = shape.covers
    bands = Bands(at, width)
    a_row = width // QUAD
    quad, band = at.thread % a_row, at.thread // a_row
    deep, rows = at.threads // a_row, height + 2 * at.halo_y

    def steps(block: Block) -> tuple[Step, ...]:
        y0 = block[1] * height
        x, y = block[0] * width + quad * QUAD, y0 + band * bands.band
        works = x < at.row

        def place(time: int) -> Places:
            return only(
                QUAD * ((time * deep + band) * a_row + quad), works & (time * deep + band < rows)
            )

        def source(time: int) -> Places:
            line = at.line(y0 - at.halo_y + time * deep + band)
            return only(joined(line, x), works & (time * deep + band < rows))

        def row_at(row: int) -> Places:
            return QUAD * ((band * bands.band + row) * a_row + quad)

        count = -(-rows // deep)
        load = "Stage: load"
        return (
            Step(load, "global", shape.reads, False, FLOAT, count, source, load_words, width=QUAD),
            quads("Stage: store", True, count, place, load_words),
            *bands.down(row_at, works),
            bands.answer(x, y, at.height, works),
        )

    stands = np.stack((quad * QUAD, band * bands.band), 1)
    return Pattern(stands, (width, height), steps, (QUAD, bands.band))
