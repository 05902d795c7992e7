"""A pattern: what every thread of a block does, in the order of a rung's text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.tile_shapes import Block

COMPLEX = 8  # bytes, of transforms' buffers
QUAD = 4  # floats per access to shared memory: sixteen bytes


@dataclass(frozen=True, slots=True, eq=False)
class Threads:
    """The work and the places of the threads of one block.

    steps   their loads and stores, in order
    stands  (n, threads, 2), or (threads, 2): at which samples and rows of the block's tile each
            thread works in a round, NOWHERE where it has none
    each    samples and rows that a thread computes, from where it stands on
    round   samples and rows that a block computes at a time; a block with more repeats that beside
            and below.  None: all of its tile

    Where a block computes numbers of a transform rather than samples of the picture:

    block   a sentence on what the block computes, and from what
    thread  thread -> its share of that: "holds number 5"
    picked  sample and row of the tile -> the thread to look at, where no thread computes that alone
    """

    steps: tuple[Access, ...]
    stands: Places
    each: tuple[int, int] = (1, 1)
    round: tuple[int, int] | None = None
    block: str = ""
    thread: Callable[[int], str] | None = None
    picked: Callable[[int, int], int] | None = None


class Pattern:
    """The work of the threads in any block of one pass, for one job.

    of           block -> its threads
    places       (n, threads, 2) where they stand, in every block
    each, round  as in `Threads`
    idle         block -> how many threads store nothing; filled as blocks are counted
    """

    def __init__(self, of: Callable[[Block], Threads], covers: tuple[int, int]) -> None:
        first = of((0, 0))
        self.of, self.each, self.round = of, first.each, first.round or covers
        self.idle: dict[Block, int] = {}
        self.places = first.stands.reshape(-1, *first.stands.shape[-2:])

    def steps(self, block: Block) -> tuple[Access, ...]:
        """Return the loads and stores of the threads of a block, in order."""
        return self.of(block).steps


def stand(x: Places, y: Places) -> Places:
    """Return the places of threads at sample x of row y; NOWHERE where either is."""
    x, y = np.broadcast_arrays(x, y)
    is_there = (x != NOWHERE) & (y != NOWHERE)
    return np.stack((only(x, is_there), only(y, is_there)), -1)


def one_each(at: Scene, *steps: Access) -> Threads:
    """Return threads that compute one sample each, where threadIdx says."""
    return Threads(steps, stand(at.tx, at.ty), round=(at.block_x, at.block_y))


def staging(
    at: Scene, array: str, corner: tuple[int, int], tile: tuple[Places, Places, Mask], pitch: int
) -> tuple[Access, Access]:
    """Return how a tile is filled: a load and a store.

    corner  the sample and row that the tile begins with
    tile    (loads, threads) column and row in the tile, and which threads take part
    pitch   numbers from one row of the tile to the next
    """
    column, row, takes_part = np.broadcast_arrays(*tile)
    source = only(at.source_sample(corner[1] + row, corner[0] + column), takes_part)
    loops = {"load": len(source)}
    return (
        at.load("Stage: load", array, loops, source),
        at.store("Stage: store in the tile", TILE, loops, only(row * pitch + column, takes_part)),
    )


def tile_taps(at: Scene, first: Places, down: int, across: int, pitch: int) -> Access:
    """Return the reads of all taps; `first`: where each thread reads the first, or NOWHERE."""
    works = first != NOWHERE

    def find(row: Places, column: Places) -> Places:
        return only(first + row * pitch + column * at.channels, works)

    loops, known = {"row": down, "column": across}, int(works.sum()) * down * across
    return at.load("Read a sample", TILE, loops, find, words=tap_words, known=known)


def alpha_load(at: Scene, array: str = "picture") -> tuple[Access, ...]:
    """Return the load of alpha by the threads whose sample it is; nothing without alpha."""
    own = only(at.begin(at.y) + at.x, at.inside & at.is_alpha(at.x))
    return at.load_alpha("Load alpha", array, {}, own)


def answer_store(at: Scene, item_bytes: int = 0) -> Access:
    """Return the store of one sample per thread in what the pass writes."""
    own = only(at.begin(at.y) + at.x, at.inside)
    return at.store("Store the answer", at.shape.writes, {}, own, 1, item_bytes)
