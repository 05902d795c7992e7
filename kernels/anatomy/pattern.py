"""A pattern, and the steps that those of several rungs have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Places, Step, Taps, tap_words
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.tile_shapes import Block

FLOAT = 4  # bytes, of buffers, weights and tiles
COMPLEX = 8  # of transforms' buffers
TILE = "tile"
QUAD = 4  # floats that shared memory takes or gives at a time: sixteen bytes


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Of one pass for one job.

    stands  (threads, 2) at which sample and row of the block's tile each thread works, both
            NOWHERE where it has none
    round   samples and rows that a block makes at a time; a block with more goes on in the same
            way beside and below
    steps   block -> what its threads do, in their order
    each    samples and rows that a thread makes from where it stands on
    also    (n, threads, 2) at which others it makes as many again in the same round, or NOWHERE
    works   block -> which threads store anything; None: those that stand on the picture

    Where that are no samples of the picture, but numbers of a transform:

    block   block -> a sentence on what it makes, and of what
    thread  block, thread -> what that has to do with it: "holds number 5"
    picked  sample and row of the tile -> the thread to look at, where none makes that one alone

    places  (n, threads, 2) follows: `stands`, then `also`
    """

    stands: Places
    round: tuple[int, int]
    steps: Callable[[Block], tuple[Step, ...]]
    each: tuple[int, int] = (1, 1)
    also: Places | None = None
    works: Callable[[Block], Mask] | None = None
    block: Callable[[Block], str] | None = None
    thread: Callable[[Block, int], str] | None = None
    picked: Callable[[int, int], int] | None = None
    places: Places = field(init=False, repr=False)

    def __post_init__(self) -> None:
        first = self.stands[None]
        places = first if self.also is None else np.concatenate((first, self.also))
        object.__setattr__(self, "places", places)


def one_each(at: Scene, steps: Callable[[Block], tuple[Step, ...]]) -> Pattern:
    """A thread stands where threadIdx says."""
    return Pattern(np.stack((at.tx, at.ty), 1), (at.block_x, at.block_y), steps)


def own_samples(at: Scene, block: Block) -> tuple[Places, Places, Mask]:
    """Each thread's sample and row, and whether those are on the picture."""
    x, y = block[0] * at.block_x + at.tx, block[1] * at.block_y + at.ty
    return x, y, (x < at.row) & (y < at.height)


def taps_of(at: Scene, x: Places, y: Places, works: Mask) -> Taps:
    reach = np.arange(at.ksize)[:, None] - at.radius
    rows = np.where(works, at.line(y + reach), NOWHERE)
    return Taps(rows, np.where(works, at.sample(x + reach * at.channels), NOWHERE))


def numbers(
    name: str,
    array: str,
    is_store: bool,
    count: int,
    places: Callable[[int], Places],
    turn: Callable[[int], str],
) -> Step:
    """An access to complex numbers in global memory."""
    return Step(name, "global", array, is_store, COMPLEX, count, places, turn)


def staging(
    count: int,
    source: Callable[[int], Places],
    tile: Callable[[int], Places],
    rows: Places,
    columns: Places,
    item_bytes: int,
    array: str = "picture",
) -> tuple[Step, ...]:
    """rows, columns  of the rectangle that all threads stage together: where each is read from, or
    NOWHERE"""

    def loads() -> tuple[int, int]:
        down, across = rows[rows != NOWHERE], columns[columns != NOWHERE]
        return len(down) * len(across), len(np.unique(down)) * len(np.unique(across))

    return (
        Step("Stage: load", "global", array, False, item_bytes, count, source, loads=loads),
        Step("Stage: store in the tile", "shared", TILE, True, FLOAT, count, tile),
    )


def tile_taps(at: Scene, first: Places, down: int, across: int, pitch: int) -> Step:
    """first  where each thread reads for the first tap, or NOWHERE"""

    def places(tap: int) -> Places:
        return only(first + tap // across * pitch + tap % across * at.channels, first != NOWHERE)

    def loads() -> tuple[int, int]:
        asked = int((first != NOWHERE).sum()) * down * across
        if not asked:
            return 0, 0
        # Of many taps most places are shared: mark them instead of sorting all of them.
        along = _marked(first[first != NOWHERE], np.arange(across) * at.channels)
        return asked, len(_marked(along, np.arange(down) * pitch))

    return Step(
        "Read a sample",
        "shared",
        TILE,
        False,
        FLOAT,
        down * across,
        places,
        lambda tap: tap_words(tap, across),
        loads,
    )


def _marked(begins: Places, steps: Places) -> Places:
    """All different sums of one of each."""
    is_there = np.zeros(int(begins.max() + steps.max()) + 1, np.bool_)
    for step in steps:
        is_there[begins + step] = True
    return np.flatnonzero(is_there)


def tile_alpha(at: Scene, first: Places, x: Places, centre: int) -> tuple[Step, ...]:
    if not at.job.has_alpha:
        return ()
    own = only(first + centre, (first != NOWHERE) & at.is_alpha(x))
    return (Step("Read alpha", "shared", TILE, False, FLOAT, 1, lambda _: own),)


def alpha_load(
    at: Scene,
    x: Places,
    y: Places,
    inside: Mask,
    array: str = "picture",
    item_bytes: int = 0,
    is_known: bool = False,
) -> tuple[Step, ...]:
    """is_known  whether the taps have loaded it before"""
    if not at.job.has_alpha:
        return ()
    own = only(at.begin(y) + x, inside & at.is_alpha(x))
    size, count = item_bytes or at.sample_bytes, int((own != NOWHERE).sum())
    loads = (lambda: (count, 0)) if is_known else None
    return (Step("Load alpha", "global", array, False, size, 1, lambda _: own, loads=loads),)


def answer_store(
    at: Scene, x: Places, y: Places, inside: Mask, array: str = "picture", item_bytes: int = 0
) -> Step:
    own = only(at.begin(y) + x, inside)
    size = item_bytes or (at.sample_bytes if array == "picture" else FLOAT)
    return Step("Store the answer", "global", array, True, size, 1, lambda _: own)
