"""The numbers that a header's model of its work counts with: of `job_facts`, and of a pass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NewType

import numpy as np

from kernels.core.job import Job
from kernels.rungs.job_facts import Expression, Facts, names

NUMBER_BYTES = 4  # of a buffer or of weights
WorkExpression = NewType("WorkExpression", str)  # over the names of `WorkFacts`


class WorkFacts(Facts):
    """The names that a header's model of its work may use, of one job and one pass.

    The names that a header's model may use: those of `Facts`, and

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

    def take(
        self,
        covers: tuple[Expression, Expression],
        grid: tuple[Expression, Expression] | None = None,
    ) -> None:
        """Let BLOCKS and so on be those of a pass: what its header says of `covers` and `grid`."""
        across, down = (self.value(expression) for expression in covers)
        row, height = self["WIDTH"] * self["CHANNELS"], self["HEIGHT"]
        blocks = _parts(row, across), _parts(height, down)
        if grid:
            blocks = self.value(grid[0]), self.value(grid[1])
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
        """Return the bytes of so many numbers, by what they belong to."""
        samples = numbers.get("picture", 0)
        others = sum(numbers.values()) - samples
        return samples * int(self["SAMPLE_BYTES"]) + others * NUMBER_BYTES

    def __missing__(self, name: str) -> Any:
        if name not in OF_TRANSFORMS:
            return super().__missing__(name)
        inside, beyond = self._in_tiles(self["WIDTH"], 2 * self["FFT_PAIRS"])
        self.update(FFT_COLUMNS=inside, FFT_COLUMNS_BEYOND=beyond)
        inside, beyond = self._in_tiles(self["HEIGHT"], self["FFT_TILES"])
        self.update(FFT_ROWS=inside, FFT_ROWS_BEYOND=beyond)
        self["FFT_FLOPS"] = _transform_flops(self["FFT_SIDE"])
        return self[name]

    def _in_tiles(self, extent: int, tiles: int) -> tuple[int, int]:
        """Return the positions of an axis that all tiles hold, with a radius beyond."""
        line, radius = self["FFT_LINE"], self["RADIUS"]
        starts = [tile * (line - 2 * radius) - radius for tile in range(tiles)]
        inside = sum(_shared(start, start + line, 0, extent) for start in starts)
        needed = sum(_shared(start, start + line, -radius, extent + radius) for start in starts)
        return inside, needed - inside


# What `WorkFacts` works out when one of it is asked for.
OF_TRANSFORMS = frozenset(
    {"FFT_COLUMNS", "FFT_COLUMNS_BEYOND", "FFT_ROWS", "FFT_ROWS_BEYOND", "FFT_FLOPS"}
)


@cache
def work_names() -> frozenset[str]:
    """Return the names that a WorkExpression may use."""
    facts = WorkFacts(Job(np.zeros((1, 1, 1), np.uint8), np.ones((1, 1), np.float32)), 1)
    facts.take((Expression("1"), Expression("1")))
    return names() | OF_TRANSFORMS | frozenset(facts)


def _transform_flops(side: int) -> int:
    """Return the operations of one line of side² numbers in fft_registers.

    Two transforms in registers for each of its threads, and a product of complex numbers, six
    operations, for each of its numbers.

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
    """Return how long the part is that [begin, end) and [low, high) share."""
    return max(0, min(end, high) - max(begin, low))


def _parts(number: int, size: int) -> int:
    return -(-number // size)


def _up(number: int, unit: int) -> int:
    return _parts(number, unit) * unit
