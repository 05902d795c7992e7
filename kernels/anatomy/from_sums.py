"""The pattern of the rung that keeps running sums, down and along."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Places
from kernels.anatomy.chunks import wide_answer, wide_loads
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand
from kernels.anatomy.transactions import LANES

ROWS = 8  # at a time, one per warp


def running_sums(at: Scene) -> Threads:
    """Describe running sums: down, four columns per thread; along, one row per warp.

    Along a row each lane computes one run of neighbouring samples.
    """
    output, tall = at.shape.covers
    pad = -(-at.halo_x // QUAD) * QUAD
    run = -(-output // LANES) | 1
    pitch = LANES * run + 2 * pad  # words of a row in shared memory
    last = (at.ksize - 1) * at.channels
    warp, lane = at.thread // LANES, at.thread % LANES
    end = min(at.y0 + tall, at.height)
    # Rows in the order in which they are read: those where the sums begin; then, in turn, the
    # rows that enter and the rows that leave.
    begins = list(range(at.y0 - at.radius, at.y0 + at.radius, ROWS))
    for top in range(at.y0, end, ROWS):
        begins += (top + at.radius, top - at.radius)
    rows = np.add.outer(np.array(begins), np.arange(ROWS)).ravel()
    loads = wide_loads(
        at,
        "Load four samples",
        {"row": len(rows)},
        (at.x0 - pad + QUAD * at.thread, rows[:, None], np.array(True)),
        QUAD,
        end=at.row + at.halo_x,
        words=lambda n, *_: f"row {rows[n]:,} of the picture".replace("-", "−"),
    )

    rounds = {"round": len(range(at.y0, end, ROWS))}
    downs, alongs = {**rounds, "row": ROWS}, {**rounds, "sum": run}
    parts = {**rounds, "part": -(-output // (QUAD * LANES))}
    begin = warp * pitch + lane * run

    def taken(_: Places, n: Places) -> Places:
        """Return the sums down that a lane reads, in order.

        First those where its run begins; then, for each sample, the one that enters and the one
        that leaves.
        """
        ahead = np.where(n < last, n, (n - last) // 2 + (1 - (n - last) % 2) * last)
        return begin + pad - at.halo_x + ahead

    n, part = turns(parts)
    column, y = part * QUAD * LANES + QUAD * lane, at.y0 + n * ROWS + warp
    works = (y < end) & (column < output) & (at.x0 + column < at.row)
    steps = (
        *loads,
        at.store("Store sums down", TILE, downs, turns(downs)[1] * pitch + QUAD * at.thread, QUAD),
        at.load("Read a sum down", TILE, {**rounds, "sum": last + 2 * run}, taken),
        at.store("Store a sum along", TILE, alongs, begin + turns(alongs)[1]),
        at.load("Read four sums", TILE, parts, only(warp * pitch + column, works), QUAD),
        *wide_answer(at, parts, (at.x0 + column, y, works), QUAD),
    )
    stands = stand(only(lane * run, lane * run < output), warp)
    return Threads(steps, stands, (run, 1), (output, ROWS))
