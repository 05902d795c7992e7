"""Shapes of launches: where the blocks of each pass stand on the picture, by the rung's header."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.headers import header_of
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import PICTURE, Pass, Rung

Pair = tuple[int, int]  # x then y
Block = Pair  # of the grid

# Of an H200: some rungs divide the rows among the multiprocessors.
USUAL_MULTIPROCESSORS = 132
FFT_COLUMNS = 8  # of frequencies, per block of filter_columns


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of samples left to right - 1 and rows top to bottom - 1.

    It may reach beyond the picture.
    """

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Samples across; 0 if empty."""
        return max(self.right - self.left, 0)

    @property
    def height(self) -> int:
        """Rows; 0 if empty."""
        return max(self.bottom - self.top, 0)

    @property
    def count(self) -> int:
        """Samples that it covers."""
        return self.width * self.height

    def grown(self, across: int, down: int) -> Rect:
        """Extend the rectangle on every side."""
        return Rect(self.left - across, self.top - down, self.right + across, self.bottom + down)

    def clipped(self, other: Rect) -> Rect:
        """Intersect two rectangles; the result may be empty."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Rect(left, top, max(left, right), max(top, bottom))

    def contains(self, other: Rect) -> bool:
        """Return True if all of another rectangle is inside."""
        return self.clipped(other) == other


class Layout(NamedTuple):
    """Mapping between blocks and samples, where blocks do not lie side by side.

    corner    (x, y) of a block -> the sample and row that its tile begins with
    block_at  (sample, row) of the picture -> the block with that channel whose tile it is in
    """

    corner: Callable[[int, int], Pair]
    block_at: Callable[[int, int], Pair]


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch of one pass over one picture; along x all numbers count samples.

    A sample is one channel of a pixel.

    reads, writes "picture", or a buffer's name
    grid, block   blocks, and threads in each, x then y
    row_bytes     of each array that is laid out like the picture, from one row to the next
    """

    number: int  # of the pass in its rung
    function: str
    reads: str
    writes: str
    grid: tuple[int, int]
    block: tuple[int, int]
    covers: tuple[int, int]  # samples and rows that a block writes, or that its numbers belong to
    halo: tuple[int, int]  # how far around those it reads
    picture: Rect  # the whole picture
    row_bytes: dict[str, int]
    item_bytes: dict[str, int]  # of a number of each array
    layout: Layout | None = None  # None: blocks lie side by side over the picture

    @property
    def threads(self) -> int:
        """Threads per block."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1]

    @property
    def warps(self) -> int:
        """Warps per block."""
        return -(-self.threads // 32)

    def block_at(self, x: int, y: int) -> Block:
        """Find the block that writes sample x of row y; the nearest where there is none."""
        if self.layout is not None:
            right, bottom = self.picture.right - 1, self.picture.bottom - 1
            return self.layout.block_at(min(max(x, 0), right), min(max(y, 0), bottom))
        across = min(max(x // self.covers[0], 0), self.grid[0] - 1)
        return across, min(max(y // self.covers[1], 0), self.grid[1] - 1)

    def tile(self, block: Block) -> Rect:
        """The samples that `block` writes or transforms; they may reach beyond the picture."""
        left, top = block[0] * self.covers[0], block[1] * self.covers[1]
        if self.layout is not None:
            left, top = self.layout.corner(*block)
        return Rect(left, top, left + self.covers[0], top + self.covers[1])

    def with_halo(self, block: Block) -> Rect:
        """The samples that `block` reads: its tile and the halo around it."""
        return self.tile(block).grown(*self.halo)


def shapes_of(rung: Rung, job: Job, device: Device | None = None) -> tuple[Shape, ...]:
    """Work out the passes whose blocks have a place on the picture, thus none of a library.

    Each is described as one launch, though a display's watchdog may force several, cut between
    rows of blocks.
    """
    facts = Facts(job, device)
    if device is None:
        facts["MULTIPROCESSORS"] = USUAL_MULTIPROCESSORS
    return tuple(
        _shape(number, each, rung, facts)
        for number, each in enumerate(rung.passes)
        if not each.library and (each.layout in LAYOUTS or not each.grid)
    )


def why_none(rung: Rung, job: Job, device: Device | None = None) -> str | None:
    """The reason why no launch of `rung` for `job` can be drawn; None if it can."""
    for number, each in enumerate(rung.passes):
        if each.layout and each.layout not in LAYOUTS:
            what = f"there is no layout {each.layout}; there are {', '.join(LAYOUTS)}"
            return str(header_of(rung.file, rung.source).error(what, "layout", number))
    return rung.why_never(job, device)


def _shape(number: int, each: Pass, rung: Rung, facts: Facts) -> Shape:
    job = facts.job
    row = job.width * job.channels
    covers = _both(each.covers, facts)
    grid = -(-row // covers[0]), -(-job.height // covers[1])
    if each.grid:
        grid = _both(each.grid, facts)
    if each.rows_by:
        group = facts.value(each.rows_by)
        covers = covers[0], -(-job.height // (grid[1] * group)) * group
    sizes = {PICTURE: job.height * facts["PITCH"] * facts["SAMPLE_BYTES"]}
    sizes |= {name: facts.value(size) for name, size in rung.buffers}
    is_on_it = not each.grid and not any(other.library or other.layout for other in rung.passes)
    row_bytes = {
        name: size // job.height for name, size in sizes.items() if is_on_it or name == PICTURE
    }
    return Shape(
        number=number,
        function=each.function,
        reads=each.reads,
        writes=each.writes,
        grid=grid,
        block=_both(each.block, facts),
        covers=covers,
        halo=_both(each.halo, facts),
        picture=Rect(0, 0, row, job.height),
        row_bytes=row_bytes,
        item_bytes={n: row_bytes[n] // facts["PITCH"] if n in row_bytes else 8 for n in sizes},
        layout=LAYOUTS[each.layout](facts) if each.layout in LAYOUTS else None,
    )


def _both(expressions: tuple[str, str], facts: Facts) -> Pair:
    return facts.value(expressions[0]), facts.value(expressions[1])


# -- transforms: pairs of overlapping tiles, of which one is the real part, the next the imaginary


class _Tiles:
    """A picture in pairs of tiles, in the names of the FFT rungs' text.

    line   numbers along either side of a tile
    valid  how many of them come out right, which is how far apart tiles begin
    pairs  pairs of tiles side by side; `tiles` lie one above the other
    """

    def __init__(self, facts: Facts) -> None:
        self.line, self.pairs = facts.value("FFT_LINE"), facts.value("FFT_PAIRS")
        self.tiles, self.colours = facts.value("FFT_TILES"), facts.value("PLANES")
        self.channels, self.radius = facts.job.channels, facts.job.radius
        self.valid = self.line - 2 * self.radius

    def pair_of(self, x: int) -> int:
        """The pair of sample x; alpha, never transformed, counts as the last colour."""
        colour = min(x % self.channels, self.colours - 1)
        return colour * self.pairs + x // self.channels // (2 * self.valid)

    def left(self, pair: int) -> int:
        """The first sample that a pair computes, the same for every colour."""
        return pair % self.pairs * 2 * self.valid * self.channels

    def top(self, number: int) -> int:
        """The first row that a tile computes, by its number in memory."""
        return number // self.pairs % self.tiles * self.valid

    def number_at(self, x: int, y: int) -> int:
        """The number in memory of the tile of sample x of row y."""
        colour, across = divmod(self.pair_of(x), self.pairs)
        return (colour * self.tiles + y // self.valid) * self.pairs + across

    def frequency(self, place: int, length: int) -> int:
        """The frequency that a place stands for: as far along the line as it is in its tile."""
        return place % length * self.line // length


def _rows_of_tiles(facts: Facts) -> Layout:
    """Blocks that have one row of a tile each."""
    on = _Tiles(facts)
    return Layout(
        lambda x, y: (on.left(y), on.top(y) + x - on.radius),
        lambda x, y: (y % on.valid + on.radius, on.number_at(x, y)),
    )


def _frequencies_of_tiles(facts: Facts) -> Layout:
    """Blocks that have one row of a tile's frequencies each."""
    on = _Tiles(facts)
    return Layout(
        lambda _, y: (on.left(y), on.top(y)),
        lambda x, y: (on.frequency(y, on.valid), on.number_at(x, y)),
    )


def _rows_of_pairs(facts: Facts) -> Layout:
    """Blocks that have some rows of a pair each, across its tiles."""
    on, rows = _Tiles(facts), 128 // facts.value("FFT_SIDE")
    return Layout(lambda x, y: (on.left(y), x * rows), lambda x, y: (y // rows, on.pair_of(x)))


def _frequencies_of_columns(facts: Facts) -> Layout:
    """Blocks that have some frequencies of the rows of a tile."""
    on = _Tiles(facts)
    planes = on.colours * on.pairs

    def block_at(x: int, y: int) -> Pair:
        group = on.frequency(x // on.channels, 2 * on.valid) // FFT_COLUMNS
        return group * planes + on.pair_of(x), y // on.valid

    return Layout(lambda x, y: (on.left(x % planes), y * on.valid), block_at)


# By the names that headers use.
LAYOUTS: dict[str, Callable[[Facts], Layout]] = {
    "rows_of_tiles": _rows_of_tiles,
    "frequencies_of_tiles": _frequencies_of_tiles,
    "rows_of_pairs": _rows_of_pairs,
    "frequencies_of_columns": _frequencies_of_columns,
}
