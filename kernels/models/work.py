"""What a job asks for, and what a rung does for it, counted rather than measured.

A rung's header says how many numbers each pass loads and stores, and how many operations it spends
on them: as its text asks for them, edge blocks and all, and with what lies twice in a halo.  A
compiler may ask for less, and caches answer most of what is asked for twice; what has to come from
memory even so is `memory_bytes`.

For borders that continue the picture the counts are exact, and the tests run the rungs' text and
count; but for some samples of ring and running_sums, where the last segment or block is a row or
two high or a sample or two wide.  With zeros beyond the picture, what lies there is not loaded, nor
multiplied by some rungs.  Where operations depend on samples the usual path is counted: few are so
large or small that a gradient needs another, or tensor cores a second look at a tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kernels.facts import Facts
from kernels.job import Job
from kernels.rung import Pass, Rung

NUMBER_BYTES = 4  # of a buffer or of weights
GRADIENT_FLOPS = (
    16  # both of Sobel's derivatives, six each, and the root of the sum of their squares
)
BY_A_LIBRARY = "cuFFT does not say what it loads, stores and computes."


@dataclass(frozen=True, slots=True)
class Work:
    """compulsory_bytes  the picture read once and written once: what the job cannot do without
    least_flops       of the job as a direct convolution: two a weight and filtered sample, and a
                      gradient's
    samples           of the picture
    working_set_bytes the picture, the answer and the rung's buffers between them

    Of the rung, None on the CPU and where `unknown` says why:

    picture_loads     samples of the picture that its threads ask for
    loaded_bytes      of picture, buffers and weights in global memory, asked for by its threads
    stored_bytes      to picture and buffers
    memory_bytes      what its passes have to move if each read what it needs once
    flops             additions, multiplications and roots, a multiply-add as two; not what turns
                      integers into floats, or scales halves for tensor cores
    """

    compulsory_bytes: int
    least_flops: int
    samples: int
    working_set_bytes: int
    picture_loads: int | None = None
    loaded_bytes: int | None = None
    stored_bytes: int | None = None
    memory_bytes: int | None = None
    flops: int | None = None
    unknown: str = ""

    @property
    def loads_a_sample(self) -> float | None:
        """Samples of the picture asked for, over samples of the answer."""
        return None if self.picture_loads is None else self.picture_loads / self.samples

    @property
    def halo_share(self) -> float | None:
        """Of the picture's samples asked for, the share that was asked for before: 0 to 1."""
        if not self.picture_loads:
            return None
        return max(0.0, 1 - self.samples / self.picture_loads)

    @property
    def intensity(self) -> float:
        """Of the job, in operations a byte: least_flops over compulsory_bytes."""
        return self.least_flops / self.compulsory_bytes

    @property
    def rung_intensity(self) -> float | None:
        """Of the rung: its flops over its memory_bytes."""
        if self.flops is None or self.memory_bytes is None:
            return None
        return self.flops / self.memory_bytes


def work_of(job: Job, rung: Rung | None, multiprocessors: int) -> Work:
    """What `job` asks for, and what `rung` does for it in one go; None: something on the CPU.

    multiprocessors  of the device: some rungs make as many blocks as those keep busy
    The picture's samples play no part.
    """
    facts = WorkFacts(job, multiprocessors)
    buffers = rung.buffers if rung else ()
    bare = Work(
        compulsory_bytes=job.compulsory_bytes,
        least_flops=facts["FILTERED"] * (2 * job.ksize**2 + GRADIENT_FLOPS * job.gradient),
        samples=facts["SAMPLES"],
        working_set_bytes=job.compulsory_bytes + sum(facts.value(size) for _, size in buffers),
    )
    if rung is None:
        return bare
    if any(each.library for each in rung.passes):
        return replace(bare, unknown=BY_A_LIBRARY)
    done = [pass_work(each, facts) for each in rung.passes]
    return replace(
        bare,
        picture_loads=sum(each.loads.get("picture", 0) for each in done),
        loaded_bytes=sum(facts.bytes_of(each.loads) for each in done),
        stored_bytes=sum(facts.bytes_of(each.stores) for each in done),
        memory_bytes=_moved(done, facts),
        flops=sum(each.flops for each in done),
    )


def _moved(done: Sequence[PassWork], facts: WorkFacts) -> int:
    """Bytes to and from memory if every pass reads of each array what it needs once; weights, which
    are small, are left out."""
    sizes = {"picture": int(facts["SAMPLES"])}  # in numbers
    moved = 0
    for each in done:
        needed = {name: min(count, sizes.get(name, 0)) for name, count in each.loads.items()}
        moved += facts.bytes_of(needed) + facts.bytes_of(each.stores)
        sizes |= {name: count for name, count in each.stores.items() if name != "picture"}
    return moved


@dataclass(frozen=True, slots=True)
class PassWork:
    """Of one pass, all of its blocks: loads and stores in numbers, by what they belong to."""

    loads: Mapping[str, int]
    stores: Mapping[str, int]
    flops: int


def pass_work(each: Pass, facts: WorkFacts) -> PassWork:
    """What the header says of `each`, worked out; not of a library's."""
    facts.take(each)
    stores = each.stores or ((each.writes, "SAMPLES"),)
    return PassWork(
        {name: facts.value(count) for name, count in each.loads},
        {name: facts.value(count) for name, count in stores},
        facts.value(each.flops),
    )


class WorkFacts(Facts):
    """The names that a header's model may use: those of `Facts`, and

    SAMPLES, FILTERED, ALPHA   of the picture; those that are filtered, and those that pass through
    BLOCKS_X, BLOCKS_Y, BLOCKS of the pass, in one launch; BLOCKS = BLOCKS_X * BLOCKS_Y
    COVERS_X, COVERS_Y         what a block writes: samples of a row, and rows
    CHUNK, HALO_CHUNKS         as in wide.cuh: samples in sixteen bytes, and chunks that hold a halo
    STAGED                     samples that all blocks side by side stage of a row: separable.cuh
    FFT_COLUMNS, FFT_ROWS      of the picture, as many times as tiles share them,
    ..._BEYOND                 and those beyond its edges that count for something
    parts(n, k), up(n, k)      n / k rounded up; n rounded up to a multiple of k
    segments(k)                blocks one below another that have rows to write, if all take as many
                               and those are a multiple of k
    """

    def __init__(self, job: Job, multiprocessors: int) -> None:
        super().__init__(job)
        row, radius = job.width * job.channels, job.radius
        chunk = 16 // self["SAMPLE_BYTES"]
        self |= {
            "MULTIPROCESSORS": multiprocessors,
            "SAMPLES": row * job.height,
            "FILTERED": self["PLANES"] * job.width * job.height,
            "ALPHA": self["HAS_ALPHA"] * job.width * job.height,
            "CHUNK": chunk,
            "HALO_CHUNKS": _parts(radius * job.channels, chunk),
            "parts": _parts,
            "up": _up,
        }

    def take(self, each: Pass) -> None:
        """Let BLOCKS and so on be those of `each`."""
        across, down = (self.value(expression) for expression in each.covers)
        row, height = self["WIDTH"] * self["CHANNELS"], self["HEIGHT"]
        blocks = _parts(row, across), _parts(height, down)
        if each.grid:
            blocks = self.value(each.grid[0]), self.value(each.grid[1])
        chunk, halo = self["CHUNK"], self["HALO_CHUNKS"]
        # The last block stages no more than the halo beyond the picture's end.
        to_the_end = _parts(row + self["HALO_X"], chunk) + (2 * blocks[0] - 1) * halo
        staged = min(to_the_end, blocks[0] * (across // chunk + 2 * halo)) * chunk
        self |= {
            "COVERS_X": across,
            "COVERS_Y": down,
            "BLOCKS_X": blocks[0],
            "BLOCKS_Y": blocks[1],
            "BLOCKS": blocks[0] * blocks[1],
            "STAGED": staged,
            "segments": lambda group: _parts(height, _up(_parts(height, blocks[1]), group)),
        }

    def bytes_of(self, numbers: Mapping[str, int]) -> int:
        """Of so many numbers, by what they belong to."""
        samples = numbers.get("picture", 0)
        others = sum(numbers.values()) - samples
        return samples * int(self["SAMPLE_BYTES"]) + others * NUMBER_BYTES

    def __missing__(self, name: str) -> int:
        match name:
            case "FFT_COLUMNS" | "FFT_COLUMNS_BEYOND":
                inside, beyond = self._in_tiles(self["WIDTH"], 2 * self["FFT_PAIRS"])
                self.update(FFT_COLUMNS=inside, FFT_COLUMNS_BEYOND=beyond)
            case "FFT_ROWS" | "FFT_ROWS_BEYOND":
                inside, beyond = self._in_tiles(self["HEIGHT"], self["FFT_TILES"])
                self.update(FFT_ROWS=inside, FFT_ROWS_BEYOND=beyond)
            case "FFT_FLOPS":
                self[name] = _transform_flops(self["FFT_SIDE"])
            case _:
                return int(super().__missing__(name))
        return int(self[name])

    def _in_tiles(self, extent: int, tiles: int) -> tuple[int, int]:
        """Positions of an axis that all tiles hold, from 0 to `extent`, and a radius beyond."""
        line, radius = self["FFT_LINE"], self["RADIUS"]
        starts = [tile * (line - 2 * radius) - radius for tile in range(tiles)]
        inside = sum(_shared(start, start + line, 0, extent) for start in starts)
        needed = sum(_shared(start, start + line, -radius, extent + radius) for start in starts)
        return inside, needed - inside


def _transform_flops(side: int) -> int:
    """Of a line of side² numbers in fft_registers: two transforms in registers for each of its
    threads, and a product of complex numbers, six operations, for each of its numbers.

    A butterfly adds and subtracts, four operations.  What it subtracted is then turned by a root of
    one, which takes none by 1 or -i, four by an eighth of a circle, six by all others.
    """
    turns = [
        i // together * together * (32 // side)
        for together in (2**level for level in range(side.bit_length() - 1))
        for i in range(side // 2)
    ]
    butterflies = sum(4 + (0 if n % 8 == 0 else 4 if n % 4 == 0 else 6) for n in turns)
    return 2 * side * butterflies + 6 * side**2


def _shared(begin: int, end: int, low: int, high: int) -> int:
    """How long the part is that [begin, end) and [low, high) share."""
    return max(0, min(end, high) - max(begin, low))


def _parts(number: int, size: int) -> int:
    return -(-number // size)


def _up(number: int, unit: int) -> int:
    return _parts(number, unit) * unit
