"""Patterns of the rungs for separable weights that stage chunks and sum bands of rows."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Places
from kernels.anatomy.bands import Bands
from kernels.anatomy.launch_scene import Scene, joined, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand


def tile_separable(at: Scene) -> Threads:
    """Describe a block that filters one tile along rows and down columns in one launch."""
    return _tile(at, terms=1, all_read=False)


def low_rank(at: Scene) -> Threads:
    """Describe a separable tile whose sums are computed once per separable term.

    The weights are the sum of those terms.
    """
    return _tile(at, terms=at.facts["RANK"], all_read=True)


def _tile(at: Scene, terms: int, all_read: bool) -> Threads:
    """Describe threads with a band of four columns each, summed from the tile's row sums.

    all_read  also by threads beyond the row's end, as the barriers between terms require
    """
    width, height = at.shape.covers
    bands = Bands(at, width)
    rows = height + 2 * at.halo_y
    sums_at = QUAD * rows * bands.stage_stride
    quad, band = at.thread % (width // QUAD), at.thread // (width // QUAD)
    x, y = at.x0 + quad * QUAD, at.y0 + band * bands.band
    parts = bands.parts(rows)

    def row_at(row: Places) -> Places:
        return sums_at + QUAD * ((band * bands.band + row) * bands.sums_stride + quad)

    steps = (
        *bands.staging(bands.begin_rows(rows, at.x0, at.y0 - at.halo_y)),
        *bands.along(parts, parts[0], sums_at, terms=terms),
        *bands.down(row_at, (x < at.row) | all_read, terms=terms),
        bands.answer((x, y, x < at.row), at.height),
    )
    return Threads(steps, stand(quad * QUAD, band * bands.band), (QUAD, bands.band))


def ring_separable(at: Scene) -> Threads:
    """Describe a block that stages groups of rows and keeps their row sums in a ring."""
    strip, tall = at.shape.covers
    bands = Bands(at, strip)
    a_row = strip // QUAD
    group = at.threads // a_row * bands.band
    ring_bands = bands.lead + group // bands.band
    sums_at = QUAD * group * bands.stage_stride
    quad, nth = at.thread % a_row, at.thread // a_row
    first, rows = bands.lead * bands.band, min(tall, at.height - at.y0)
    top, end = at.y0 - at.radius - bands.spare, first + rows
    begins = np.arange(first - -(-first // group) * group, end, group)
    moves = [
        bands.begin_rows(
            group,
            at.x0,
            top + begin,
            max(min(bands.spare - begin, group), 0),
            max(min(end - begin, group), 0),
        )
        for begin in begins.tolist()
    ]

    # Of each group: the band of the ring that it begins with, and each thread's row.
    parts, band = bands.parts(group), np.arange(len(begins))[:, None] * (group // bands.band)
    ring_band = (band[:, None] + parts[0] // bands.band) % ring_bands
    sums_row = ring_band * bands.band + parts[0] % bands.band

    x, own = at.x0 + quad * QUAD, begins[:, None] - first + nth * bands.band
    works = (own >= 0) & (own < rows) & (x < at.row)
    (groups,) = np.nonzero(works.any(1))
    own, works = own[groups, None], works[groups, None]
    upper = band[groups, None] + nth - bands.lead

    def row_at(row: Places) -> Places:
        below, i = np.divmod(row + bands.spare, bands.band)
        place = (upper + below) % ring_bands * bands.band + i
        return sums_at + QUAD * (place * bands.sums_stride + quad)

    outer = {"group": len(groups)}
    steps = (
        *bands.staging(np.concatenate(moves, 1)),
        *bands.along(parts, sums_row, sums_at, {"group": len(begins)}),
        *bands.down(row_at, works, outer),
        bands.answer((x, at.y0 + own, works), at.y0 + rows, outer),
    )
    stands = stand(quad * QUAD, nth * bands.band)
    return Threads(steps, stands, (QUAD, bands.band), (strip, group))


def register_rows(at: Scene) -> Threads:
    """Describe the row pass in registers: 16 or 32 neighbouring sums per thread.

    They go through shared memory, so that neighbouring threads store neighbouring sums.
    """
    width, rows = at.shape.covers
    bands = Bands(at, width)
    a_row = width // QUAD
    sums_at = QUAD * rows * bands.stage_stride
    parts, quads = bands.parts(rows), {"quad": rows * a_row // at.threads}
    row, column = np.divmod(turns(quads)[0] * at.threads + at.thread, a_row)
    x, y = at.x0 + column * QUAD, at.y0 + row
    works = (x < at.row) & (y < at.height)
    sums = only(sums_at + QUAD * (row * bands.sums_stride + column), works)
    steps = (
        *bands.staging(bands.begin_rows(rows, at.x0, at.y0)),
        *bands.along(parts, parts[0], sums_at),
        at.load("Read sums", TILE, quads, sums, QUAD),
        at.store("Store sums", at.shape.writes, quads, only(at.begin(y) + x, works), QUAD),
    )
    return Threads(steps, stand(at.thread // rows * bands.part, at.thread % rows), (bands.part, 1))


def register_columns(at: Scene) -> Threads:
    """Describe the column pass in registers: a band of four columns per thread."""
    width, height = at.shape.covers
    bands = Bands(at, width)
    a_row = width // QUAD
    quad, band = at.thread % a_row, at.thread // a_row
    deep, rows = at.threads // a_row, height + 2 * at.halo_y
    loads = {"load": -(-rows // deep)}
    row = turns(loads)[0] * deep + band
    x, works = at.x0 + quad * QUAD, at.x0 + quad * QUAD < at.row
    source, place = joined(at.line(at.y0 - at.halo_y + row), x), QUAD * (row * a_row + quad)

    def row_at(row: Places) -> Places:
        return QUAD * ((band * bands.band + row) * a_row + quad)

    steps = (
        at.load("Stage: load", at.shape.reads, loads, only(source, works & (row < rows)), QUAD),
        at.store("Stage: store", TILE, loads, only(place, works & (row < rows)), QUAD),
        *bands.down(row_at, works),
        bands.answer((x, at.y0 + band * bands.band, works), at.height),
    )
    return Threads(steps, stand(quad * QUAD, band * bands.band), (QUAD, bands.band))
