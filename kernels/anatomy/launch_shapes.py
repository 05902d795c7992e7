"""Shapes of launches: where the blocks of each pass stand on the picture, by the rung's header."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.headers import Facts
from kernels.rungs.rung import PICTURE, Pass, Rung

Pair = tuple[int, int]  # x then y
Block = Pair  # of the grid

# Of an H200: some rungs divide the rows among the multiprocessors.
USUAL_MULTIPROCESSORS = 132
# How far from the picture's edges a block with its halo must be to do as all others there: more
# than any rung rounds what it loads up to.
INSIDE = 64, 16  # samples, rows
FFT_COLUMNS = 8  # of frequencies, per block of filter_columns
FFT_THREADS = 128  # per block of transform_rows


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

    number        of the pass in its rung
    reads, writes "picture", or a buffer's name
    grid, block   blocks, and threads in each, x then y
    covers        samples and rows that a block writes, or that its numbers belong to
    halo          how far around those it reads
    row_bytes     of each array that is laid out like the picture, from one row to the next
    item_bytes    of a number of each array
    layout        None: blocks lie side by side over the picture
    """

    number: int
    function: str
    reads: str
    writes: str
    grid: Pair
    block: Pair
    covers: Pair
    halo: Pair
    picture: Rect
    row_bytes: dict[str, int]
    item_bytes: dict[str, int]
    layout: Layout | None = None

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def warps(self) -> int:
        return -(-self.threads // 32)

    def block_at(self, x: int, y: int) -> Block:
        """Find the block that writes sample x of row y; the nearest where there is none."""
        x = min(max(x, 0), self.picture.right - 1)
        y = min(max(y, 0), self.picture.bottom - 1)
        if self.layout is not None:
            return self.layout.block_at(x, y)
        across, down = x // self.covers[0], y // self.covers[1]
        return min(across, self.grid[0] - 1), min(down, self.grid[1] - 1)

    def tile(self, block: Block) -> Rect:
        """The samples that `block` writes or transforms; they may reach beyond the picture."""
        left, top = block[0] * self.covers[0], block[1] * self.covers[1]
        if self.layout is not None:
            left, top = self.layout.corner(*block)
        return Rect(left, top, left + self.covers[0], top + self.covers[1])

    def with_halo(self, block: Block) -> Rect:
        """The samples that `block` reads: its tile and the halo around it."""
        return self.tile(block).grown(*self.halo)

    def is_inside(self, block: Block) -> bool:
        """True if a block is far enough from the picture's edges to do as others there."""
        is_on_it = self.layout is None and {self.reads, self.writes} <= set(self.row_bytes)
        needed = self.with_halo(block).grown(*INSIDE)
        return is_on_it and needed.clipped(self.picture) == needed

    def kinds(self) -> dict[Block, int]:
        """A block of each kind, and how many there are of that kind.

        All blocks but those of the last column and the last row of the grid store alike.
        """
        across, down = self.grid
        diagonal = ((n, n) for n in range(min(self.grid) - 1))
        inner = next((each for each in diagonal if self.is_inside(each)), (0, 0))
        return {
            (x, y): columns * rows
            for x, columns in ((inner[0], across - 1), (across - 1, 1))
            for y, rows in ((inner[1], down - 1), (down - 1, 1))
            if columns and rows
        }


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
        if not each.library and (each.layout or not each.grid)
    )


def _shape(number: int, each: Pass, rung: Rung, facts: Facts) -> Shape:
    def both(expressions: tuple[str, str]) -> Pair:
        return facts.value(expressions[0]), facts.value(expressions[1])

    job, covers = facts.job, both(each.covers)
    row = job.width * job.channels
    grid = both(each.grid) if each.grid else (-(-row // covers[0]), -(-job.height // covers[1]))
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
        *(number, each.function, each.reads, each.writes, grid, both(each.block), covers),
        halo=both(each.halo),
        picture=Rect(0, 0, row, job.height),
        row_bytes=row_bytes,
        item_bytes={n: row_bytes[n] // facts["PITCH"] if n in row_bytes else 8 for n in sizes},
        layout=LAYOUTS[each.layout](_Tiles(facts)) if each.layout else None,
    )


class _Tiles:
    """A picture in pairs of tiles, of which one is the real part, the next the imaginary.

    line   numbers along either side of a tile
    valid  how many of them come out right, which is how far apart tiles begin
    pairs  pairs of tiles side by side; `tiles` lie one above the other
    rows   that a block of transform_rows has
    """

    def __init__(self, facts: Facts) -> None:
        self.line, self.pairs = facts.value("FFT_LINE"), facts.value("FFT_PAIRS")
        self.tiles, self.colours = facts.value("FFT_TILES"), facts.value("PLANES")
        self.channels, self.radius = facts.job.channels, facts.job.radius
        self.valid = self.line - 2 * self.radius
        self.rows = FFT_THREADS // facts.value("FFT_SIDE")

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

    def columns_at(self, x: int) -> int:
        """The block of filter_columns, of those of a pair, for the frequencies of sample x."""
        frequency = x // self.channels % (2 * self.valid) * self.line // (2 * self.valid)
        return frequency // FFT_COLUMNS * self.colours * self.pairs + self.pair_of(x)


# By the names that headers use.  A frequency is as far along its line as the sample is in its tile.
LAYOUTS: dict[str, Callable[[_Tiles], Layout]] = {
    "rows_of_tiles": lambda on: Layout(
        lambda x, y: (on.left(y), on.top(y) + x - on.radius),
        lambda x, y: (y % on.valid + on.radius, on.number_at(x, y)),
    ),
    "frequencies_of_tiles": lambda on: Layout(
        lambda _, y: (on.left(y), on.top(y)),
        lambda x, y: (y % on.valid * on.line // on.valid, on.number_at(x, y)),
    ),
    "rows_of_pairs": lambda on: Layout(
        lambda x, y: (on.left(y), x * on.rows),
        lambda x, y: (y // on.rows, on.pair_of(x)),
    ),
    "frequencies_of_columns": lambda on: Layout(
        lambda x, y: (on.left(x % (on.colours * on.pairs)), y * on.valid),
        lambda x, y: (on.columns_at(x), y // on.valid),
    ),
}
