"""Shapes of passes: where the blocks stand on the picture, by their rung's header."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.anatomy.layouts import LAYOUTS, FftTiles, Layout
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Pass, Rung

Block = tuple[int, int]  # of the grid, x then y

# The most that a block may have on any GPU: on those of compute capability 9.0 and 10.0.
MAX_SHARED_BYTES = 227 * 1024
# Some rungs divide the rows among the multiprocessors; an H200 has so many.
USUAL_MULTIPROCESSORS = 132


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
        """Return how many samples it is wide; 0 if empty."""
        return max(self.right - self.left, 0)

    @property
    def height(self) -> int:
        """Return how many rows it is high; 0 if empty."""
        return max(self.bottom - self.top, 0)

    @property
    def count(self) -> int:
        """Return how many samples it covers."""
        return self.width * self.height

    def grown(self, across: int, down: int) -> Rect:
        """Return the rectangle with so many more samples and rows on every side."""
        return Rect(self.left - across, self.top - down, self.right + across, self.bottom + down)

    def clipped(self, other: Rect) -> Rect:
        """Return the intersection of both, which may be empty."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Rect(left, top, max(left, right), max(top, bottom))


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch of one pass over one picture; along x all numbers count samples.

    A sample is one channel of a pixel.

    number        of the pass in its rung
    reads, writes "picture", or a buffer's name
    grid, block   blocks, and threads in each, x then y
    covers        samples and rows that a block writes, or that its numbers belong to
    halo          how far around those it reads
    picture       the whole picture
    layout        None: blocks lie side by side over the picture
    """

    number: int
    function: str
    reads: str
    writes: str
    grid: tuple[int, int]
    block: tuple[int, int]
    covers: tuple[int, int]
    halo: tuple[int, int]
    picture: Rect
    layout: Layout | None = None

    @property
    def threads(self) -> int:
        """Return how many threads a block has."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        """Return how many blocks the grid has."""
        return self.grid[0] * self.grid[1]

    @property
    def warps(self) -> int:
        """Return how many warps a block has."""
        return -(-self.threads // 32)

    def block_at(self, x: int, y: int) -> Block:
        """Return the block that writes sample x of row y; the nearest where there is none."""
        if self.layout is not None:
            right, bottom = self.picture.right - 1, self.picture.bottom - 1
            return self.layout.block_at(min(max(x, 0), right), min(max(y, 0), bottom))
        across = min(max(x // self.covers[0], 0), self.grid[0] - 1)
        return across, min(max(y // self.covers[1], 0), self.grid[1] - 1)

    def tile(self, block: Block) -> Rect:
        """Return what `block` writes or transforms, which may reach beyond the picture."""
        left, top = block[0] * self.covers[0], block[1] * self.covers[1]
        if self.layout is not None:
            left, top = self.layout.corner(*block)
        return Rect(left, top, left + self.covers[0], top + self.covers[1])

    def with_halo(self, block: Block) -> Rect:
        """Return what `block` reads: its tile and the halo around it."""
        return self.tile(block).grown(*self.halo)


def shapes_of(rung: Rung, job: Job, device: Device | None = None) -> tuple[Shape, ...]:
    """Return the passes whose blocks have a place on the picture, thus none of a library.

    Each is described as one launch, though a display's watchdog may force several, cut between
    rows of blocks.
    """
    facts = Facts(job, device)
    if device is None:
        facts["MULTIPROCESSORS"] = USUAL_MULTIPROCESSORS
    return tuple(
        _shape(number, each, job, facts)
        for number, each in enumerate(rung.passes)
        if not each.library and (each.layout in LAYOUTS or not each.grid)
    )


def why_none(rung: Rung, job: Job, device: Device | None = None) -> str | None:
    """Return why `rung` could never launch anything for `job`, whatever the picture holds.

    None if it could.
    """
    if job.gradient != rung.gradient:
        return rung.why_not_anywhere(job)  # this is the first reason that it gives
    if device is not None and not rung.own_block and (refusal := device.why_no_block(job.block_xy)):
        return refusal
    facts = Facts(job, device)
    for condition, sentence in rung.requires:
        if not facts.value(condition):
            return facts.text(sentence)
    needed = max(facts.value(each.shared_bytes) for each in rung.passes)
    most = device.shared_bytes_per_block if device else MAX_SHARED_BYTES
    if needed <= most:
        return None
    owner = f"{device.name} has" if device else "no GPU has more than"
    return (
        f"{rung.title} would need {needed / 1024:,.0f} KiB of shared memory a block; {owner} "
        f"{most / 1024:.0f} KiB."
    )


def _shape(number: int, each: Pass, job: Job, facts: Facts) -> Shape:
    row = job.width * job.channels
    covers = _both(each.covers, facts)
    grid = -(-row // covers[0]), -(-job.height // covers[1])
    if each.grid:
        grid = _both(each.grid, facts)
    if each.rows_by:
        group = facts.value(each.rows_by)
        covers = covers[0], -(-job.height // (grid[1] * group)) * group
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
        layout=LAYOUTS[each.layout](FftTiles(facts)) if each.layout in LAYOUTS else None,
    )


def _both(expressions: tuple[str, str], facts: Facts) -> tuple[int, int]:
    return facts.value(expressions[0]), facts.value(expressions[1])
