"""Patterns of the rungs for separable weights that stage chunks and sum bands of rows."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.bands import Bands, Items
from kernels.anatomy.launch_scene import Mask, Scene, joined, only
from kernels.anatomy.pattern import QUAD, Pattern
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

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * width, block[1] * height
        x, y = x0 + quad * QUAD, y0 + band * bands.band
        works = x < at.row

        def row_at(row: Places) -> Places:
            place = (band * bands.band + row) * bands.sums_stride + quad
            return only(sums_at + QUAD * place, works | all_read)

        return (
            *bands.staging(bands.begin_rows(rows, x0, y0 - at.halo_y)),
            *bands.along(bands.parts(rows), sums_at, terms),
            *bands.down(row_at, terms=terms),
            bands.answer(lambda: (x, y, works), at.height),
        )

    stands = np.stack((quad * QUAD, band * bands.band), 1)
    return Pattern(stands, (width, height), steps, (QUAD, bands.band))


def ring_separable(at: Scene, shape: Shape) -> Pattern:
    """A block takes in a group of rows at a time; their sums go round a ring."""
    strip, tall = shape.covers
    bands = Bands(at, strip)
    a_row = strip // QUAD
    group = at.threads // a_row * bands.band
    ring_bands = bands.lead + group // bands.band
    sums_at = QUAD * group * bands.stage_stride
    quad, nth = at.thread % a_row, at.thread // a_row
    first = bands.lead * bands.band
    one = bands.parts(group)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * strip, block[1] * tall
        x, rows = x0 + quad * QUAD, min(tall, at.height - y0)
        top, end = y0 - at.radius - bands.spare, first + rows
        begins = range(first - -(-first // group) * group, end, group)
        moves = [
            bands.begin_rows(
                group,
                x0,
                top + begin,
                max(min(bands.spare - begin, group), 0),
                max(min(end - begin, group), 0),
            )
            for begin in begins
        ]
        # Of each group: the band of the ring that it begins with, and each thread's row.
        band = np.arange(len(begins))[:, None, None] * (group // bands.band)
        ring_row = (band + one.sums_row // bands.band) % ring_bands * bands.band
        items = Items(
            np.tile(one.stage_row, (len(begins), 1)),
            (ring_row + one.sums_row % bands.band).reshape(-1, at.threads),
            np.tile(one.part, (len(begins), 1)),
            np.tile(one.takes_part, (len(begins), 1)),
        )
        own = np.array(begins)[:, None] - first + nth * bands.band
        works = (own >= 0) & (own < rows) & (x < at.row)
        groups = np.flatnonzero(works.any(1))
        upper = band[:, 0] + nth - bands.lead

        def row_at(n: Places, row: Places) -> Places:
            n, (below, i) = groups[n], np.divmod(row + bands.spare, bands.band)
            place = (upper[n, at.thread] + below) % ring_bands * bands.band + i
            return only(sums_at + QUAD * (place * bands.sums_stride + quad), works[n, at.thread])

        def answer(n: Places) -> tuple[Places, Places, Mask]:
            return x, y0 + own[groups[n], at.thread], works[groups[n], at.thread]

        outer = {"group": len(groups)}
        return (
            *bands.staging(*moves),
            *bands.along(items, sums_at),
            *bands.down(row_at, outer),
            bands.answer(answer, y0 + rows, outer),
        )

    stands = np.stack((quad * QUAD, nth * bands.band), 1)
    return Pattern(stands, (strip, group), steps, (QUAD, bands.band))


def register_rows(at: Scene, shape: Shape) -> Pattern:
    """A thread sixteen sums side by side, or thirty-two; stored in another order."""
    width, rows = shape.covers
    bands = Bands(at, width)
    a_row = width // QUAD
    sums_at = QUAD * rows * bands.stage_stride
    quads = {"quad": rows * a_row // at.threads}

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * width, block[1] * rows

        def own(quad: Places) -> tuple[Places, Places, Mask]:
            row, column = np.divmod(quad * at.threads + at.thread, a_row)
            return column, row, (x0 + column * QUAD < at.row) & (y0 + row < at.height)

        def gather(quad: Places) -> Places:
            column, row, works = own(quad)
            return only(sums_at + QUAD * (row * bands.sums_stride + column), works)

        def store(quad: Places) -> Places:
            column, row, works = own(quad)
            return only(at.begin(y0 + row) + x0 + column * QUAD, works)

        return (
            *bands.staging(bands.begin_rows(rows, x0, y0)),
            *bands.along(bands.parts(rows), sums_at),
            at.load("Read sums", TILE, quads, gather, QUAD),
            at.store("Store sums", shape.writes, quads, store, QUAD),
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
    loads = {"load": -(-rows // deep)}

    def steps(block: Block) -> tuple[Access, ...]:
        y0 = block[1] * height
        x, y = block[0] * width + quad * QUAD, y0 + band * bands.band
        works = x < at.row

        def place(load: Places) -> Places:
            row = load * deep + band
            return only(QUAD * (row * a_row + quad), works & (row < rows))

        def source(load: Places) -> Places:
            row = load * deep + band
            return only(joined(at.line(y0 - at.halo_y + row), x), works & (row < rows))

        def row_at(row: Places) -> Places:
            return only(QUAD * ((band * bands.band + row) * a_row + quad), works)

        return (
            at.load("Stage: load", shape.reads, loads, source, QUAD),
            at.store("Stage: store", TILE, loads, place, QUAD),
            *bands.down(row_at),
            bands.answer(lambda: (x, y, works), at.height),
        )

    stands = np.stack((quad * QUAD, band * bands.band), 1)
    return Pattern(stands, (width, height), steps, (QUAD, bands.band))
