"""The words of wide.cuh: steps shared by the rungs that move sixteen bytes at a time."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from kernels.anatomy.accesses import Access, Loops, Places, Words
from kernels.anatomy.launch_scene import Mask, Scene, joined, only

CHUNK_BYTES = 16

# (sample, row, whether it takes part) of each thread, at all times.
Wanted = tuple[Places, Places, Mask]


class Chunks:
    """A scene measured in chunks, in the names of wide.cuh.

    chunk  samples in sixteen bytes
    halo   chunks that hold the halo on either side
    spare  samples of the first of those chunks that lie beyond the halo
    """

    def __init__(self, at: Scene) -> None:
        self.chunk = CHUNK_BYTES // at.sample_bytes
        self.halo = -(-at.halo_x // self.chunk)
        self.spare = self.halo * self.chunk - at.halo_x


def wide_loads(
    at: Scene,
    name: str,
    loops: Loops,
    wanted: Wanted,
    size: int,
    width: int = 0,
    end: float = inf,
    words: Words | None = None,
) -> tuple[Access, Access]:
    """Return the loads of neighbouring samples: wide inside their row, else one by one.

    Inside, each access takes `width` samples.  With chunks this is read_chunk: load_chunk, or
    edge_chunk.

    wanted  the first sample and its row, which may lie beyond the picture
    size    how many samples from there on: a multiple of `width`
    end     from this sample of a row on, none is loaded one by one
    words   the index of each loop, and of an access to a part -> words for it
    """
    width = width or size
    shape = *loops.values(), at.threads
    x, y = np.broadcast_to(wanted[0], shape), np.broadcast_to(wanted[1], shape)
    takes_part = np.broadcast_to(wanted[2], shape)
    inside = (x >= 0) & (x + size <= at.row)
    first = only(joined(at.line(y), x), takes_part & inside)[..., None, :]
    part = np.arange(0, size, width)[:, None]
    parts, whole = {**loops, "part": len(part)}, only(first + part, first >= 0)
    load = at.load(name, "picture", parts, whole, width, words=words)

    # Away from the ends of rows there are none.
    broken = (takes_part & ~inside).reshape(-1, at.threads)
    (times,) = np.nonzero(broken.any(1))
    x, y = x.reshape(-1, at.threads)[times, None], y.reshape(-1, at.threads)[times, None]
    sample = x + np.arange(size)[:, None]
    single = only(at.source_sample(y, sample), broken[times, None] & (sample < end))
    edges, at_all = {"load": len(times), "sample": size}, replace(load, loops=loops)

    def single_words(time: int, sample: int) -> str:
        return f"sample {sample + 1} of {at_all.turn(int(times[time]))}"

    name = f"{name} beyond the row"
    return load, at.load(name, "picture", edges, single, words=single_words)


def wide_answer(at: Scene, loops: Loops, wanted: Wanted, width: int) -> tuple[Access, ...]:
    """Return stores of `width` samples, each after a load of the same samples for alpha.

    With chunks that is keep_alpha and write_chunk.
    """
    x, y, takes_part = wanted
    places = only(at.begin(y) + x, takes_part)
    return (
        *at.load_alpha("Load alpha", "picture", loops, places, width),
        at.store("Store the answer", "picture", loops, places, width),
    )
