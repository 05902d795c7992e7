"""The pattern of the rung whose threads compute long runs of samples out of a shared tile."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Places
from kernels.anatomy.chunks import Chunks, wide_answer, wide_loads
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand


def window_tile(at: Scene) -> Threads:
    """Describe threads that compute a long run of samples each, out of a shared tile.

    The tile consists of quads of four floats, with a gap after every run.
    """
    wide = Chunks(at)
    run = 32 if at.ksize <= 47 else 16
    left = wide.halo * wide.chunk
    tile_w, tile_h = at.block_x * run + 2 * left, at.block_y + 2 * at.halo_y
    chunks = tile_w // wide.chunk
    quads_a_chunk, quads_a_run = wide.chunk // QUAD, run // QUAD
    pitch = tile_w // QUAD * (quads_a_run + 1) // quads_a_run + 1  # quads
    first_quad, last_quad = wide.spare // QUAD, (wide.spare + run + 2 * at.halo_x - 1) // QUAD

    def place_of(row: Places, quad: Places) -> Places:
        return QUAD * (row * pitch + quad + quad // quads_a_run)

    loads = {"load": -(-chunks * tile_h // at.threads), "quad": quads_a_chunk}
    load, quad = turns(loads)
    row, chunk = np.divmod(load * at.threads + at.thread, chunks)
    x, y = at.x0 - left + chunk * wide.chunk, at.y0 - at.radius + row
    kept = only(place_of(row, chunk * quads_a_chunk + quad), row < tile_h)

    reads = {"row": at.ksize, "quad": last_quad - first_quad + 1}
    tap, own_quad = turns(reads)
    own = place_of(at.ty, at.tx * quads_a_run)
    sums = {"quad": quads_a_run}

    gathers = {"chunk": run // wide.chunk, "quad": quads_a_chunk}
    part, quad = turns(gathers)
    nth = part * at.block_x + at.tx
    works = (at.x0 + nth * wide.chunk < at.row) & (at.y < at.height)
    gathered = only(place_of(at.ty, nth * quads_a_chunk + quad), works)
    answer = at.x0 + nth[:, 0] * wide.chunk, at.y, works[:, 0]
    steps = (
        *wide_loads(
            at,
            "Stage: load",
            {"load": loads["load"]},
            (x[:, 0], y[:, 0], row[:, 0] < tile_h),
            wide.chunk,
        ),
        at.store("Stage: store in the tile", TILE, loads, kept, QUAD),
        at.load("Read four samples", TILE, reads, own + place_of(tap, first_quad + own_quad), QUAD),
        at.store("Store sums", TILE, sums, own + QUAD * turns(sums)[0], QUAD),
        at.load("Read sums", TILE, gathers, gathered, QUAD),
        *wide_answer(at, {"chunk": gathers["chunk"]}, answer, wide.chunk),
    )
    return Threads(steps, stand(at.tx * run, at.ty), (run, 1))
