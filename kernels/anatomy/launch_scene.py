"""The scene of a launch: the picture's measures, and samples beyond its edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.accesses import NOWHERE, Access, Find, Loops, Places, Words
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.core.borders import OUTSIDE, source_indices
from kernels.rungs.job_facts import Facts, pitch_of

Mask = NDArray[np.bool_]  # (threads,)
FLOAT = 4  # bytes, of buffers, weights and tiles

assert OUTSIDE == NOWHERE  # a sample that is zero is not loaded


class Scene:
    """One block of a launch, in the words of the prelude.

    Along x everything counts samples: pixels times channels.

    x0, y0  the sample and the row that its tile begins with, if tiles lie side by side
    tx, ty  (threads,) where each thread of a block stands, as threadIdx
    x, y    (threads,) its sample and row, where each thread computes one sample
    inside  (threads,) whether that is on the picture
    """

    def __init__(self, facts: Facts, shape: Shape, block: Block) -> None:
        self.facts, self.shape, self.block = facts, shape, block
        self.job = job = facts.job
        self.channels, self.ksize, self.radius = job.channels, job.ksize, job.radius
        self.halo_x, self.halo_y = job.radius * job.channels, job.radius
        self.row, self.height = job.width * job.channels, job.height
        self.sample_bytes = int(job.picture.dtype.itemsize)
        self.pitch = pitch_of(job.width, job.channels, self.sample_bytes)
        (self.block_x, self.block_y), self.threads = shape.block, shape.threads
        self.thread = np.arange(self.threads)
        self.tx, self.ty = self.thread % self.block_x, self.thread // self.block_x
        self.x0, self.y0 = block[0] * shape.covers[0], block[1] * shape.covers[1]
        self.x, self.y = self.x0 + self.tx, self.y0 + self.ty
        self.inside = (self.x < self.row) & (self.y < self.height)

    def sample(self, x: Places) -> Places:
        """Return where sample x of a row is read from, or NOWHERE: border_sample."""
        pixel = x // self.channels
        from_pixel = self._source(pixel, self.job.width)
        inside = from_pixel * self.channels + x % self.channels
        return np.where(from_pixel == OUTSIDE, NOWHERE, inside)

    def line(self, y: Places) -> Places:
        """Return where row y begins, or the row that it is read from; NOWHERE for zeros."""
        return self.begin(self._source(y, self.height))

    def begin(self, y: Places) -> Places:
        """Return where row y begins, which is on the picture; NOWHERE for NOWHERE."""
        return np.where(y == NOWHERE, NOWHERE, y * self.pitch)

    def source_row(self, y: Places) -> Places:
        """Return the row that row y is read from, or NOWHERE: border_index."""
        return self._source(y, self.height)

    def source_sample(self, y: Places, x: Places) -> Places:
        """Return the place of sample x of row y, which may be off the picture: read_sample."""
        return joined(self.line(y), self.sample(x))

    def is_alpha(self, x: Places) -> Mask:
        """Return whether sample x of a row is alpha."""
        return np.asarray(self.job.has_alpha & (x % self.channels == self.channels - 1))

    def load(
        self,
        name: str,
        array: str,
        loops: Loops,
        places: Places | Find,
        width: int = 1,
        item_bytes: int = 0,
        words: Words | None = None,
        known: int | None = None,
    ) -> Access:
        """Return a load by all threads; the other arguments are those of `Access`.

        places      the places of all times, in the order of `turns`, or how to find them
        item_bytes  0: those of a sample for the picture, of a float for anything else
        """
        item_bytes = item_bytes or (self.sample_bytes if array == "picture" else FLOAT)
        find = places if callable(places) else self._finder(loops, places)
        return Access(
            name, array, False, item_bytes, self.threads, loops, find, width, words, known
        )

    def store(self, *what: Any, **more: Any) -> Access:
        """Return a store by all threads; the arguments are those of `load`."""
        return replace(self.load(*what, **more), is_store=True)

    def load_alpha(self, *what: Any, **more: Any) -> tuple[Access, ...]:
        """Return such a load if the picture has alpha, else nothing."""
        return (self.load(*what, **more),) if self.job.has_alpha else ()

    def _finder(self, loops: Loops, places: Places) -> Find:
        table = np.broadcast_to(places, (*loops.values(), self.threads))
        return lambda *index: table[(*index, self.thread)]

    def _source(self, at: Places, size: int) -> Places:
        first, last = int(at.min(initial=0)), int(at.max(initial=0))
        if first >= 0 and last < size:  # as a rule
            return at.astype(np.int64)
        table = source_indices(first, last + 1, size, self.job.border)
        return table[at - first].astype(np.int64)


def joined(line: Places, column: Places) -> Places:
    """Return a row's begin plus a sample's place in it; NOWHERE where either is."""
    return np.where((line == NOWHERE) | (column == NOWHERE), NOWHERE, line + column)


def only(places: Places, taking_part: Mask) -> Places:
    """Return `places` of the threads that take part, NOWHERE for the others."""
    return np.where(taking_part, places, NOWHERE)


def turns(loops: Loops) -> list[Places]:
    """Return the index of each loop, shaped to broadcast to all times and threads.

    For two loops: (n, 1, 1) and (m, 1).
    """
    return [each[..., None] for each in np.ix_(*map(np.arange, loops.values()))]
