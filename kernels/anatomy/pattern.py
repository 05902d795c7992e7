"""A pattern: what every thread of a block does, in the order of a rung's text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Places, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.tile_shapes import Block

COMPLEX = 8  # bytes, of transforms' buffers
QUAD = 4  # floats that shared memory takes or gives at a time: sixteen bytes

Steps = Callable[[Block], tuple[Access, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What the threads of one pass do for one job.

    stands  (threads, 2) at which sample and row of the block's tile each thread works, both
            NOWHERE where it has none
    round   samples and rows that a block computes at a time; a block with more goes on in the same
            way beside and below
    steps   block -> what its threads do, in their order
    each    samples and rows that a thread computes from where it stands on
    also    (n, threads, 2) at which others it computes as many again in the same round, or NOWHERE

    Where that are no samples of the picture, but numbers of a transform:

    block   block -> a sentence on what it computes, and of what
    thread  block, thread -> what that has to do with it: "holds number 5"
    picked  sample and row of the tile -> the thread to look at, where none computes that one alone

    places  (n, threads, 2) follows: `stands`, then `also`
    """

    stands: Places
    round: tuple[int, int]
    steps: Steps
    each: tuple[int, int] = (1, 1)
    also: Places | None = None
    block: Callable[[Block], str] | None = None
    thread: Callable[[Block, int], str] | None = None
    picked: Callable[[int, int], int] | None = None
    places: Places = field(init=False, repr=False)

    def __post_init__(self) -> None:
        first = self.stands[None]
        places = first if self.also is None else np.concatenate((first, self.also))
        object.__setattr__(self, "places", places)


def one_each(at: Scene, steps: Steps) -> Pattern:
    """Return the pattern of a thread a sample, where threadIdx says."""
    return Pattern(np.stack((at.tx, at.ty), 1), (at.block_x, at.block_y), steps)


def own_samples(at: Scene, block: Block) -> tuple[Places, Places, Mask]:
    """Return each thread's sample and row, and whether those are on the picture."""
    x, y = block[0] * at.block_x + at.tx, block[1] * at.block_y + at.ty
    return x, y, (x < at.row) & (y < at.height)


def staging(
    at: Scene,
    array: str,
    count: int,
    where: Callable[[Places], tuple[Places, Places, Mask]],
    corner: tuple[int, int],
    pitch: int,
) -> tuple[Access, ...]:
    """Return how a tile is filled: a load and a store, `count` times.

    where   load -> column and row of the tile, and whether it takes part, of each thread
    corner  the sample and row that the tile begins with
    pitch   of the tile
    """

    def source(load: Places) -> Places:
        column, row, takes_part = where(load)
        return only(at.source_sample(corner[1] + row, corner[0] + column), takes_part)

    def tile(load: Places) -> Places:
        column, row, takes_part = where(load)
        return only(row * pitch + column, takes_part)

    return (
        at.load("Stage: load", array, {"load": count}, source),
        at.store("Stage: store in the tile", TILE, {"load": count}, tile),
    )


def tile_taps(at: Scene, first: Places, down: int, across: int, pitch: int) -> Access:
    """first  where each thread reads for the first tap, or NOWHERE"""
    works = first != NOWHERE

    def find(row: Places, column: Places) -> Places:
        return only(first + row * pitch + column * at.channels, works)

    loops, known = {"row": down, "column": across}, int(works.sum()) * down * across
    return at.load("Read a sample", TILE, loops, find, words=tap_words, known=known)


def alpha_load(
    at: Scene, x: Places, y: Places, inside: Mask, array: str = "picture"
) -> tuple[Access, ...]:
    if not at.job.has_alpha:
        return ()
    own = only(at.begin(y) + x, inside & at.is_alpha(x))
    return (at.load("Load alpha", array, {}, lambda: own),)


def answer_store(
    at: Scene, x: Places, y: Places, inside: Mask, array: str = "picture", item_bytes: int = 0
) -> Access:
    own = only(at.begin(y) + x, inside)
    return at.store("Store the answer", array, {}, lambda: own, 1, item_bytes)
