"""The pattern of transforms down columns, in registers: there, times the spectrum, and back."""

from __future__ import annotations

import numpy as np

from kernels.anatomy import transform_words as told
from kernels.anatomy.accesses import NOWHERE, Places
from kernels.anatomy.handing_over import HandingOver
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.pattern import COMPLEX, Threads, stand
from kernels.anatomy.transform_words import every, held


def filter_columns(at: Scene) -> Threads:
    """Describe transforms down columns and back: a thread holds numbers of one frequency.

    Eight neighbouring frequencies share a block.
    """
    on = FftTiles(at.facts)
    column, nth = at.tx, at.ty
    line = HandingOver(at, on.side, column, nth, (on.side + 1) * on.columns, on.columns)
    group, plane = divmod(at.block[0], on.colours * on.pairs)
    first = group * on.columns + column
    top = at.block[1] * on.valid - at.radius
    n = nth + on.side * np.arange(on.side)[:, None]  # of the line's numbers
    y = top + n

    def place(y: Places) -> Places:
        return only((plane * at.height + y) * on.line + first, y != NOWHERE)

    def beyond(y: Places) -> Places:
        return place(at.source_row(y))

    loops = {"number": on.side}
    inside = only(place(y), (y >= 0) & (y < at.height))
    kept = only(place(y + at.radius), (n < on.valid) & (y + at.radius < at.height))
    where = y, at.height, at.radius
    is_edge = top < 0 or top + on.line > at.height
    steps = (
        at.load("Load a number", at.shape.reads, loops, inside, 1, COMPLEX, held),
        *(line.fill_in(at.shape.reads, COMPLEX, where, beyond) if is_edge else ()),
        *line.transform((", there", ", and back")),
        at.load("Load a weight", "weights", loops, n * on.line + first, 1, COMPLEX, held),
        at.store("Store a number", at.shape.writes, loops, kept, 1, COMPLEX, held),
    )

    def thread_words(thread: int) -> str:
        rows = every(on.side, "number", int(nth[thread]), on.line)
        idle = "" if (kept[:, thread] != NOWHERE).any() else ", none of which is kept"
        return f"holds {rows} down the column of frequency {first[thread]}{idle}"

    return Threads(
        steps,
        stand(np.zeros_like(n), only(n, n < on.valid)),
        each=(at.shape.covers[0], 1),
        block=told.filter_columns(on, at.shape, at.block),
        thread=thread_words,
        picked=lambda x, y: y % on.side * on.columns + on.frequency_across(x) % on.columns,
    )
