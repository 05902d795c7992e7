"""The pattern of transforms down columns, in registers: there, times the spectrum, and back."""

from __future__ import annotations

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import NOWHERE, Access, Places
from kernels.anatomy.handing_over import Axis, HandingOver
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import COMPLEX, Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transform_words import every, held


def filter_columns(at: Scene, shape: Shape) -> Pattern:
    """A thread some rows of one frequency, there and back; a warp eight of those side by side."""
    on = FftTiles(at.job)
    column, nth = at.tx, at.ty
    line = HandingOver(at, on.side, column, nth, (on.side + 1) * on.columns, on.columns)
    planes = on.colours * on.pairs

    def frequency(block: Block) -> int:
        return block[0] // planes * on.columns

    def steps(block: Block) -> tuple[Access, ...]:
        first = frequency(block) + column
        plane = block[0] % planes * at.height
        top = block[1] * on.valid - at.radius

        def row(j: Places, _: Places) -> Places:
            return top + nth + on.side * j

        def place(y: Places) -> Places:
            return (plane + y) * on.line + first

        def weight(k: Places) -> Places:
            return (nth + on.side * k) * on.line + first

        def store(j: Places) -> Places:
            y = top + at.radius + nth + on.side * j
            return only(place(y), (on.side * j < on.valid - nth) & (y < at.height))

        rows = Axis(row, at.height, at.radius, place, at.source_row)
        is_edge, loops = top < 0 or top + on.line > at.height, {"number": on.side}
        return (
            *line.begin("Load a number", shape.reads, COMPLEX, 1, rows, is_edge),
            *line.transform((", there", ", and back")),
            at.load("Load a weight", "weights", loops, weight, 1, COMPLEX, held),
            at.store("Store a number", shape.writes, loops, store, 1, COMPLEX, held),
        )

    def thread_words(block: Block, thread: int) -> str:
        mine, first = frequency(block) + thread % on.columns, thread // on.columns
        rows = every(on.side, "number", first, on.line)
        is_kept = first < on.valid and block[1] * on.valid + first < at.height
        idle = "" if is_kept else ", none of which is kept"
        return f"holds {rows} down the column of frequency {mine}{idle}"

    rows = nth + on.side * np.arange(on.side)[:, None]
    rows = only(rows, rows < on.valid)
    places = np.stack((only(np.zeros_like(rows), rows != NOWHERE), rows), -1)
    return Pattern(
        stands=places[0],
        round=shape.covers,
        steps=steps,
        each=(shape.covers[0], 1),
        also=places[1:],
        block=lambda block: told.filter_columns(on, shape, block),
        thread=thread_words,
        picked=lambda x, y: y % on.side * on.columns + on.frequency_across(x) % on.columns,
    )
