"""The pattern of the rung that sums bytes along x on tensor cores, and down in registers."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE
from kernels.anatomy.byte_lines import LINE_CHUNKS, Lines, blocks_that_count
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads
from kernels.anatomy.transactions import LANES


def tensor_bytes(at: Scene) -> Threads:
    """Describe warps that walk down lines of 128 samples, four rows at a time."""
    on, span = Lines(at, ring_at=256 + LINE_CHUNKS, slots=48), blocks_that_count(at)
    side, is_sparse = (span - 1) // 2, at.channels > 1
    steps = (span + 1) // 2 if is_sparse else span
    beside, count = span // 2, on.rows + at.ksize - 1
    fours, is_there = -(-count // 4) * (on.rows > 0), int(on.rows > 0)
    first = span * 2 * LANES * QUAD if is_sparse else 0  # of the argument's words

    bands, places = {"step": steps * is_there, "half": 2}, {"step": steps * is_there * is_sparse}
    step, half = turns(bands)
    band = first + ((2 * step + half) * LANES + at.tx) * QUAD
    place = first + (2 * steps * QUAD + turns(places)[0]) * LANES + at.tx

    words = {"row": 4 * fours, "word": span}
    row, word = turns(words)
    away = np.where(
        word <= 2 * side, 4 * (word - side), np.where(at.tx % 4 < 2, 4, -4) * (side + 1)
    )
    read = only(on.place(row, at.ty * LINE_CHUNKS) + at.tx + away, on.is_there)
    return on.walk(
        (
            at.load("Load weights of a matrix", "weights", bands, band, QUAD),
            at.load("Load which samples these are for", "weights", places, place),
            *on.staging(fours, beside),
            *on.beyond(count, beside),
            at.load("Read a word of a row", TILE, words, read),
            *on.exchange(fours, at.load("Read a chunk of the answer", TILE, *on.chunk(fours))),
        ),
        fours,
        at.ksize - 1,
    )
