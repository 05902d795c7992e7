"""Where the blocks of a pass stand on the picture: grid, tile and halo, as a rung's header says."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.device import Device
from kernels.facts import Facts
from kernels.job import Job
from kernels.rung import Pass, Rung

Block = tuple[int, int]  # of the grid, x then y

# The most a block may have on any GPU there is: compute capability 9.0 and 10.0.
MOST_SHARED_BYTES = 227 * 1024
# Some rungs share out the rows among the multiprocessors; these are an H200's.
USUAL_MULTIPROCESSORS = 132


@dataclass(frozen=True, slots=True)
class Rect:
    """Samples left to right - 1 of the rows top to bottom - 1; may reach beyond the picture."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return max(self.right - self.left, 0)

    @property
    def height(self) -> int:
        return max(self.bottom - self.top, 0)

    @property
    def count(self) -> int:
        """How many samples."""
        return self.width * self.height

    def grown(self, across: int, down: int) -> Rect:
        return Rect(self.left - across, self.top - down, self.right + across, self.bottom + down)

    def clipped(self, other: Rect) -> Rect:
        """What both share."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Rect(left, top, max(left, right), max(top, bottom))


@dataclass(frozen=True, slots=True)
class Shape:
    """Of one pass over one picture; along x all numbers are samples, pixels times channels.

    number        of the pass in its rung
    reads         what it reads: "picture", or a buffer's name
    grid, block   blocks, and threads in each, x then y
    covers        what a block writes
    halo          how far around that it reads
    shared_bytes  a block
    picture       all samples
    """

    number: int
    function: str
    reads: str
    grid: tuple[int, int]
    block: tuple[int, int]
    covers: tuple[int, int]
    halo: tuple[int, int]
    shared_bytes: int
    picture: Rect

    @property
    def threads(self) -> int:
        """A block."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def warps(self) -> int:
        """A block."""
        return -(-self.threads // 32)

    def block_at(self, x: int, y: int) -> Block:
        """The block that writes sample x of row y; the nearest where there is none."""
        across = min(max(x // self.covers[0], 0), self.grid[0] - 1)
        return across, min(max(y // self.covers[1], 0), self.grid[1] - 1)

    def tile(self, block: Block) -> Rect:
        """What `block` is there to write."""
        left, top = block[0] * self.covers[0], block[1] * self.covers[1]
        return Rect(left, top, left + self.covers[0], top + self.covers[1])

    def with_halo(self, block: Block) -> Rect:
        """What it reads for that."""
        return self.tile(block).grown(*self.halo)


def shapes_of(rung: Rung, job: Job, device: Device | None = None) -> tuple[Shape, ...]:
    """Of its passes that write something for each sample: none of a library, nor those that
    transform.  As if in one launch; a display's watchdog may have it cut between rows of blocks."""
    facts = Facts(job, device)
    if device is None:
        facts["MULTIPROCESSORS"] = USUAL_MULTIPROCESSORS
    return tuple(
        _shape(number, each, rung, job, facts)
        for number, each in enumerate(rung.passes)
        if not each.library and not each.grid
    )


def why_none(rung: Rung, job: Job, device: Device | None = None) -> str | None:
    """The reason `rung` would never launch anything for `job`, whatever is in the picture; None if
    it would."""
    if job.gradient != rung.gradient:
        return rung.why_not_anywhere(job)  # which says so before it looks at anything
    if device is not None and not rung.own_block and (refusal := device.why_no_block(job.block_xy)):
        return refusal
    facts = Facts(job, device)
    for condition, sentence in rung.requires:
        if not facts.value(condition):
            return facts.text(sentence)
    needed = max(facts.value(each.shared_bytes) for each in rung.passes)
    most = device.shared_bytes_per_block if device else MOST_SHARED_BYTES
    if needed <= most:
        return None
    owner = f"{device.name} has" if device else "no GPU has more than"
    return (
        f"{rung.title} would need {needed / 1024:,.0f} KiB of shared memory a block; {owner} "
        f"{most / 1024:.0f} KiB."
    )


# Rungs whose blocks share the rows out evenly, so many rows at a time; the header says the most.
SHARED_OUT = {
    "ring": "1",
    "ring_separable": "16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32",
    "running_sums": "8",
    "tensor_separable": "16",
}


def _shape(number: int, each: Pass, rung: Rung, job: Job, facts: Facts) -> Shape:
    row = job.width * job.channels
    covers = facts.value(each.covers[0]), facts.value(each.covers[1])
    grid = -(-row // covers[0]), -(-job.height // covers[1])
    if rung.key in SHARED_OUT:
        group = facts.value(SHARED_OUT[rung.key])
        covers = covers[0], -(-job.height // (grid[1] * group)) * group
    return Shape(
        number=number,
        function=each.function,
        reads=each.reads,
        grid=grid,
        block=(facts.value(each.block[0]), facts.value(each.block[1])),
        covers=covers,
        halo=_halo(each, rung, job),
        shared_bytes=facts.value(each.shared_bytes),
        picture=Rect(0, 0, row, job.height),
    )


def _halo(each: Pass, rung: Rung, job: Job) -> tuple[int, int]:
    """How far its weights reach: what is read may be rounded up to sixteen bytes."""
    across, down = job.radius * job.channels, job.radius
    match each.function:
        case "along_rows":
            return across, 0
        case "along_columns":
            return 0, down
        case "differentiate":
            return job.channels, 1
        case "measure" | "crop" | "restore_rows":
            return 0, 0
    if rung.gradient and len(rung.passes) == 1:  # derivatives and all
        return across + job.channels, down + 1
    if each.covers == ("WIDTH * CHANNELS", "HEIGHT"):
        return 0, 0  # the picture is the tile
    return across, down
