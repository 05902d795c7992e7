"""Patterns of the rungs for separable weights that stage chunks and sum bands of rows."""

from __future__ import annotations

from kernels.anatomy.accesses import Places
from kernels.anatomy.bands import Bands
from kernels.anatomy.launch_scene import Scene
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

    def row_at(row: Places) -> Places:
        return sums_at + QUAD * ((band * bands.band + row) * bands.sums_stride + quad)

    steps = (
        *bands.staging(bands.begin_rows(rows, at.x0, at.y0 - at.halo_y)),
        *bands.along(bands.parts(rows), sums_at, terms),
        *bands.down(row_at, (x < at.row) | all_read, terms),
        bands.answer((x, y, x < at.row), at.height),
    )
    return Threads(steps, stand(quad * QUAD, band * bands.band), (QUAD, bands.band))
