"""What rungs have in common that move sixteen bytes at a time: the words of wide.cuh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.anatomy.accesses import Access, Loops, Places, Words, indices
from kernels.anatomy.launch_scene import Mask, Scene, joined, only

CHUNK_BYTES = 16

# The index of each loop -> (sample, row, whether it takes part) of each thread.
Wanted = Callable[..., tuple[Places, Places, Mask]]


def wide_loads(
    at: Scene,
    name: str,
    loops: Loops,
    wanted: Wanted,
    size: int,
    width: int = 0,
    end: int | None = None,
    words: Words | None = None,
) -> tuple[Access, Access]:
    """Return the loads of samples side by side: in accesses of `width` where all of them lie inside
    their row, else one by one.

    loops   of another name than "part"
    wanted  the first sample, which with its row may lie beyond the picture
    size    samples from there on: a multiple of `width`
    end     samples of a row that are not loaded one by one, from there on
    words   the index of each loop, and of an access to a part -> words for it
    """
    width = width or size
    load = at.load(name, "picture", loops, joined, words=words)
    times = np.arange(load.count)
    x, _, takes_part = wanted(*indices(loops, times[:, None]))
    broken = takes_part & ((x < 0) | (x + size > at.row))
    # In the middle of a picture there are none.
    broken_at = np.flatnonzero(np.broadcast_to(broken, (len(times), at.threads)).any(1))

    def whole(*index: Places) -> Places:
        *outer, part = index
        x, y, takes_part = wanted(*outer)
        inside = takes_part & (x >= 0) & (x + size <= at.row)
        first = joined(at.line(y), x)
        return only(first + part * width, inside & (first >= 0))

    def single(time: Places, sample: Places) -> Places:
        x, y, takes_part = wanted(*indices(loops, broken_at[time]))
        broken = takes_part & ((x < 0) | (x + size > at.row))
        is_read = broken if end is None else broken & (x + sample < end)
        return only(at.source_sample(y, x + sample), is_read)

    def single_words(time: int, sample: int) -> str:
        return f"sample {sample + 1} of {load.turn(int(broken_at[time]))}"

    edges = {"load": len(broken_at), "sample": size}
    return (
        at.load(name, "picture", {**loops, "part": size // width}, whole, width, words=words),
        at.load(f"{name} beyond the row", "picture", edges, single, words=single_words),
    )


class Chunks:
    """A scene measured in chunks, in the names of wide.cuh.

    chunk  samples in sixteen bytes
    halo   chunks that hold the halo on either side
    spare  samples of the first of those that lie beyond it
    """

    def __init__(self, at: Scene) -> None:
        self.at = at
        self.chunk = CHUNK_BYTES // at.sample_bytes
        self.halo = -(-at.halo_x // self.chunk)
        self.spare = self.halo * self.chunk - at.halo_x

    def loads(self, name: str, loops: Loops, wanted: Wanted) -> tuple[Access, Access]:
        """Return loads of chunks, continued beyond the picture's edges: read_chunk, which is
        load_chunk where one lies inside its row, else edge_chunk."""
        return wide_loads(self.at, name, loops, wanted, self.chunk)

    def answer(self, loops: Loops, wanted: Wanted) -> tuple[Access, ...]:
        """Return stores of chunks, each after its alpha was loaded: keep_alpha, write_chunk."""
        return wide_answer(self.at, loops, wanted, self.chunk)


def wide_answer(at: Scene, loops: Loops, wanted: Wanted, width: int) -> tuple[Access, ...]:
    """Return stores of `width` samples, each after as many were loaded for their alpha."""

    def find(*index: Places) -> Places:
        x, y, takes_part = wanted(*index)
        return only(at.begin(y) + x, takes_part)

    alpha = at.load("Load alpha", "picture", loops, find, width)
    store = at.store("Store the answer", "picture", loops, find, width)
    return (alpha, store) if at.job.has_alpha else (store,)
