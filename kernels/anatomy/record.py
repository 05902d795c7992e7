"""Recorded loads and stores of one block of a launch, statistics of them, and sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.launch_shapes import Block, Layout, Rect, Shape
from kernels.anatomy.transactions import LANES, NOWHERE, WORD_BYTES, Cost, Numbers
from kernels.core.job import Job
from kernels.rungs.rung import PICTURE, Rung

TILE = "tile"  # the array in shared memory
WEIGHT_BYTES = 4

Part = Literal["load", "share", "compute"]
PARTS: tuple[Part, ...] = ("load", "share", "compute")


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One line of a rung's file that loads or stores, for all threads of a block.

    offsets  (times, threads) the first byte of the array, or NOWHERE.  Threads that are in the
             same turns of the same loops access at one time
    """

    array: str  # "picture", "weights", a buffer of the rung, or TILE
    is_store: bool
    file: str  # the header that the line is of; empty: the rung's own file
    line: int
    size: int  # bytes per access
    offsets: Numbers

    @property
    def name(self) -> str:
        verb = "store" if self.is_store else "load"
        place = f"{self.file}, line" if self.file else "Line"
        size = f"{self.size} byte{'s' * (self.size != 1)}"
        return f"{place} {self.line}: {verb} {size} of “{self.array}”"

    @property
    def memory(self) -> Literal["global", "shared"]:
        return "shared" if self.array == TILE else "global"

    @property
    def part(self) -> Part:
        """The part of a launch that it belongs to.

        Loads from global memory come first, then stores in shared memory; reads from there and
        what is stored in the end belong to the computing.
        """
        if self.is_store == (self.array != TILE):
            return "compute"
        return "share" if self.is_store else "load"

    @property
    def count(self) -> int:
        """Times that some thread does it."""
        return len(self.offsets)

    @property
    def bytes(self) -> int:
        """Bytes that all threads load or store."""
        return int(np.count_nonzero(self.offsets != NOWHERE)) * self.size

    def lanes(self, time: int, warp: int) -> Numbers:
        """The offsets of a warp: (32,), NOWHERE beyond the block's last thread."""
        lanes = np.full(LANES, NOWHERE, np.int64)
        mine = self.offsets[time, warp * LANES : (warp + 1) * LANES]
        lanes[: len(mine)] = mine
        return lanes


class Traffic(NamedTuple):
    """The numbers that one block moves, of the array that its pass reads: picture or buffer."""

    asked: int  # numbers that its threads load from global memory
    different: int  # how many of those are distinct
    loaded_bytes: int  # bytes of all those loads
    read_bytes: int  # bytes read from shared memory; 0 without shared memory
    stored_bytes: int  # bytes stored in shared memory before


class Idle(NamedTuple):
    """Counts of threads that store nothing of what the pass writes: in one block, and in all."""

    in_block: int
    in_all: int
    threads: int


class Record:
    """The accesses of one block, in the order of the text."""

    def __init__(self, steps: Sequence[Access], shape: Shape, block: Block) -> None:
        self.steps, self.shape, self.block = tuple(steps), shape, block
        self._rects: dict[tuple[int, int], list[Rect]] = {}

    @cached_property
    def traffic(self) -> Traffic:
        loads, own = self._steps_of(self.shape.reads, False), self.shape.item_bytes
        item = min([own[self.shape.reads], *(each.size for each in loads)])
        loaded, read, stored = (
            sum(each.bytes for each in some)
            for some in (loads, self._steps_of(TILE, False), self._steps_of(TILE, True))
        )
        different = np.unique(np.concatenate([[], *(_numbers(each, item) for each in loads)]))
        return Traffic(loaded // item, len(different), loaded, read, stored)

    @cached_property
    def idle(self) -> int:
        """Threads that store nothing of what the pass writes."""
        writes = self._steps_of(self.shape.writes, True)
        busy = [(each.offsets != NOWHERE).any(0) for each in writes]
        return self.shape.threads - int(np.any(busy, 0).sum())

    @cached_property
    def owners(self) -> NDArray[np.int16]:
        """The thread that stores each sample of the block's tile, or NOWHERE: (rows, samples).

        Where the pass writes no samples, it is the first that loads one of the picture.
        """
        shape, tile = self.shape, self.shape.tile(self.block)
        owners = np.full((tile.height, tile.width), NOWHERE, np.int16)
        is_store = shape.writes in shape.row_bytes
        for step in reversed(self._steps_of(shape.writes if is_store else PICTURE, is_store)):
            item = shape.item_bytes[step.array]
            time, thread = np.nonzero(step.offsets != NOWHERE)
            y, x = np.divmod(step.offsets[time, thread], shape.row_bytes[step.array])
            for part in range(max(step.size // item, 1)):
                column, row = x // item + part - tile.left, y - tile.top
                is_there = (column >= 0) & (column < tile.width) & (row >= 0) & (row < tile.height)
                owners[row[is_there][::-1], column[is_there][::-1]] = thread[is_there][::-1]
        return owners

    def _steps_of(self, array: str, is_store: bool) -> list[Access]:
        return [s for s in self.steps if (s.array, s.is_store) == (array, is_store)]

    def rects(self, first: int, end: int) -> list[Rect]:
        """The samples of threads from `first` on as rectangles: runs of samples, equal rows joined.

        They are samples of the picture, or beyond it where the tile is.
        """
        if (first, end) not in self._rects:
            mine = (self.owners >= first) & (self.owners < end)
            self._rects[first, end] = _rects(mine, self.shape.tile(self.block))
        return self._rects[first, end]

    def numbers_of(self, thread: int | None = None) -> Mapping[tuple[str, bool], int]:
        """Numbers that a thread, or all, load or store, by array and whether they store them."""
        found: Counter[tuple[str, bool]] = Counter()
        for step in self.steps:
            item = self.shape.item_bytes.get(step.array, WEIGHT_BYTES)
            offsets = step.offsets if thread is None else step.offsets[:, thread]
            times = int(np.count_nonzero(offsets != NOWHERE))
            found[step.array, step.is_store] += times * max(step.size // item, 1)
        return +found

    def moved(self, shape: Shape, block: Block) -> Record:
        """The same accesses by another block, both of them inside of their pictures."""
        was, now = self.shape.tile(self.block), shape.tile(block)

        def placed(step: Access) -> Access:
            if step.array not in shape.row_bytes:
                return step
            y, x = np.divmod(step.offsets, self.shape.row_bytes[step.array])
            x += (now.left - was.left) * shape.item_bytes[step.array]
            offsets = (y + now.top - was.top) * shape.row_bytes[step.array] + x
            return replace(step, offsets=np.where(step.offsets == NOWHERE, NOWHERE, offsets))

        found = Record([placed(each) for each in self.steps], shape, block)
        found.traffic = self.traffic  # which takes a while to count
        return found


def idle_of(records: Mapping[Block, Record], shape: Shape, block: Block) -> Idle:
    """Count idle threads, of records of each of `Shape.kinds`, and of this block's."""
    in_all = sum(count * records[each].idle for each, count in shape.kinds().items())
    return Idle(records[block].idle, in_all, shape.threads * shape.blocks)


def _numbers(step: Access, item: int) -> Numbers:
    """Every number of the array that is accessed, `item` bytes each."""
    first = np.unique(step.offsets)
    first = first[first != NOWHERE] // item
    return np.unique(first[:, None] + np.arange(max(step.size // item, 1)))


def _rects(mine: NDArray[np.bool_], tile: Rect) -> list[Rect]:
    found: dict[tuple[int, int, int], Rect] = {}  # by their sides, and the row below
    edges = np.diff(np.pad(mine, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    for y in np.flatnonzero(mine.any(1)).tolist():
        top, sides = tile.top + y, tile.left + np.flatnonzero(edges[y])
        for left, right in sides.reshape(-1, 2).tolist():
            above = found.pop((left, right, top), None)
            begin = above.top if above else top
            found[left, right, top + 1] = Rect(left, begin, right, top + 1)
    return sorted(found.values(), key=lambda each: (each.top, each.left))


# Records of usual launches are kept as data for computers without a C++ compiler, a file KEY.npz
# for each rung: of each launch the accesses of one block inside the picture, as samples and rows
# from its tile on.  A record is named by a digest of the rung's text, its knobs and its launch, so
# that an outdated one is not found.
NOT_SEEN_INSIDE = ("BORDER", "HAS_OFFSET", "OFFSET")  # knobs that change no access there
# The picture that blocks are kept as of: the tile begins at ORIGIN.
ROW_BYTES, ORIGIN = 1 << 16, (1 << 13, 1 << 10)


def digest(rung: Rung, job: Job, shape: Shape) -> str:
    knobs = {n: v for n, v in rung.defines(job).items() if n not in NOT_SEEN_INSIDE}
    words = json.dumps([rung.text, shape.number, sorted(knobs.items()), shape.covers, shape.block])
    return sha256(words.encode()).hexdigest()[:16]


def read_kept(folder: Path, rung: Rung, job: Job, shape: Shape) -> Record | None:
    """Read the record of a launch's blocks inside the picture; None where none is kept."""
    steps = _kept_steps(folder / f"{rung.key}.npz", digest(rung, job, shape), shape.threads)
    return Record(steps, frame_of(shape), (1, 1)) if steps else None


@lru_cache(maxsize=8)  # they may take megabytes each; a slider goes to and fro
def _kept_steps(path: Path, name: str, threads: int) -> list[Access]:
    try:
        with np.load(path) as file:
            packed = file[name].tobytes()
    except (KeyError, OSError, ValueError, BadZipFile):
        return []
    begin = 4 + int.from_bytes(packed[:4], "little")
    data, steps = np.frombuffer(packed[begin:], np.int32).astype(np.int64), []
    for array, is_store, file, line, size, count in json.loads(packed[4:begin]):
        own, data = np.split(data, [count * threads])
        offsets = np.cumsum(own.reshape(count, threads), axis=1)
        steps.append(Access(array, is_store, file, line, size, offsets))
    return steps


def frame_of(shape: Shape) -> Shape:
    """A picture in which the tile of block (1, 1) begins at ORIGIN."""
    layout = Layout(lambda *_: ORIGIN, lambda *_: (1, 1))
    picture = Rect(0, 0, 2 * ORIGIN[0], 2 * ORIGIN[1])
    rows = dict.fromkeys(shape.row_bytes, ROW_BYTES)
    return replace(shape, picture=picture, layout=layout, row_bytes=rows)


# ---- Sentences. -----------------------------------------------------------------------------


def grid_words(shape: Shape) -> str:
    """Blocks of the grid, and threads and warps of each."""
    (across, down), (x, y) = shape.grid, shape.block
    blocks = f"Blocks: {across:,} × {down:,} = {shape.blocks:,}"
    return f"{blocks}, each of {x} × {y} = {shape.threads:,} threads (warps: {shape.warps})."


def block_words(shape: Shape, block: Block) -> str:
    """Samples that one block computes, and those that it needs for that."""
    tile = shape.tile(block)
    own = tile.clipped(shape.picture)
    samples, rows = span("sample", own.left, own.right), span("row", own.top, own.bottom)
    beyond = 100 * (tile.count - own.count) / tile.count
    more = f"; {beyond:.2g} % of its tile is beyond the picture" if beyond else ""
    words = f"Block {block} computes {samples} of {rows}: {own.count:,} samples{more}."
    across, down = shape.halo
    if shape.layout is not None:
        return words
    if not across and not down:
        return f"{words} It needs no halo."
    whole = own.grown(across, down)
    beyond = whole.count - whole.clipped(shape.picture).count
    return (
        f"{words} With a halo of {across} × {down} around it, it reads {whole.width:,} × "
        f"{whole.height:,} = {whole.count:,} samples, {whole.count / own.count:.2f} per sample "
        f"that it computes; {beyond:,} of them are beyond the picture."
    )


def load_words(traffic: Traffic, reads: str) -> str:
    """Numbers and bytes that a block loads from global memory."""
    name = "samples" if reads == "picture" else f"numbers of the buffer “{reads}”"
    return (
        f"The block loads {traffic.asked:,} {name} from global memory, {traffic.loaded_bytes:,} "
        f"bytes; {traffic.different:,} of them are different."
    )


def share_words(traffic: Traffic) -> str:
    """Bytes in shared memory, and how often each number is used."""
    if traffic.read_bytes:
        uses = traffic.read_bytes / traffic.stored_bytes
        return (
            f"The block's threads store {traffic.stored_bytes:,} bytes in shared memory and read "
            f"{traffic.read_bytes:,}: each byte is read {uses:.1f} times on average."
        )
    uses = traffic.asked / max(traffic.different, 1)  # a cache may serve them
    return f"No shared memory: each number is loaded {uses:.2f} times on average."


def loads_words(loads: float, plain: float) -> str:
    """Samples loaded per sample computed, beside those of the plain kernel."""
    own, its = (f"{each:,.1f}".removesuffix(".0") for each in (loads, plain))
    return f"{own} loads per sample; the plain kernel {its}"


def idle_words(idle: Idle | None) -> str:
    """Threads that store nothing, in the block and in the picture; None: not counted yet."""
    if idle is None:
        return "Counting idle threads …"
    percent = 100 * idle.in_all / idle.threads
    share = f"{idle.in_all:,} of {idle.threads:,} threads ({percent:.2g} %)"
    return f"Idle: {share}, {idle.in_block:,} of them in this block."


def cost_words(step: Access, found: Cost) -> str:
    """Sectors and lines that a warp's access touches, or the turns it takes at shared memory."""
    if not found.active:
        return "No lane of this warp takes part here."
    wide = f" of {step.size} bytes" if step.size > WORD_BYTES else ""
    begin = f"{'Stores' if step.is_store else 'Loads'}{wide} by {found.active} lanes"
    if step.memory == "global":
        ideal = "fully coalesced" if found.is_best else f"{found.least} × 32 would be ideal"
        return f"{begin} touch {found.count} × 32 bytes in {found.lines} × 128 bytes: {ideal}."
    begin = f"{begin}, transactions: {found.count}"
    if found.is_best:
        return f"{begin}, no bank conflict."
    lanes = int(found.waits.sum())
    return f"{begin} instead of {found.least}: a bank conflict among {lanes} lanes."


def moves(counts: Mapping[tuple[str, bool], int]) -> str:
    """Verbs and objects for `Record.numbers_of`: "loads 9 numbers of “picture”"."""
    parts = [
        f"{'stores' if is_store else 'loads'} {count:,} number{'s' * (count != 1)} of “{name}”"
        for (name, is_store), count in counts.items()
        if name not in (TILE, "weights")
    ]
    return " and ".join(parts) or "loads and stores nothing"


def of_a_library(rung: Rung) -> str:
    """Launches that a rung leaves to a library; "" if none."""
    numbers = [str(n + 1) for n, each in enumerate(rung.passes) if each.library]
    words = f"Launches {' and '.join(numbers)} belong to cuFFT, whose threads are not known."
    return words if numbers else ""


def span(noun: str, begin: int, end: int) -> str:
    """Return "rows 3 to 5" for `begin` 3 and `end` 6."""
    return f"{noun} {begin:,}" if end == begin + 1 else f"{noun}s {begin:,} to {end - 1:,}"
