"""Counts what device code loads, stores and computes while it runs on the CPU, block by block."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernels.job import Job
from kernels.launch import Step
from kernels.rung import Pass, Rung
from tests.cuda_on_cpu.compiler import COUNTING
from tests.cuda_on_cpu.shim import Named, Shim

FLOAT_LITERAL = re.compile(r"\b\d+(?:\.\d*)?(?:e[+-]?\d+)?f\b")
# What a float that counts, and an assignment that g++ tells of, need in words of their own; a test
# fails where wide.cuh and the prelude no longer have these.
IN_OTHER_WORDS = {
    "else return rounded_to<sample>(value);": (
        "else return static_cast<unsigned>(static_cast<float>(rounded_to<sample>(value)));"
    ),
    "unsigned short bits;\n    __device__": (
        "unsigned short bits; BY_WORDS(float16, bits = from.bits)\n    __device__"
    ),
}
MULTIPLY_ADDS, MULTIPLICATIONS, ADDITIONS, OTHERS = range(4)  # enum Operation in counted_float.h


@dataclass(frozen=True, slots=True)
class Counts:
    """What one launch of a pass did, as its text has it: no compiler has spared anything.

    loaded, stored  bytes, by the name of an array and by block, in the order of the grid's rows
    operations      (blocks, 4): multiply-adds, other multiplications, other additions, and
                    divisions and roots
    """

    number: int
    loaded: dict[str, NDArray[np.uint64]]
    stored: dict[str, NDArray[np.uint64]]
    operations: NDArray[np.uint64]

    @property
    def flops(self) -> int:
        """Of all blocks; a multiply-add is two."""
        return int(self.operations.sum() + self.operations[:, MULTIPLY_ADDS].sum())

    @property
    def multiply_adds(self) -> int:
        """Of all blocks."""
        return int(self.operations[:, MULTIPLY_ADDS].sum())


class CountingShim(Shim):
    """A shim that keeps `counts`: of every launch of the last job, in their order."""

    def __init__(self, rung: Rung, jobs: Iterable[Job], cache: Path) -> None:
        super().__init__(rung, jobs, cache, COUNTING)
        self.counts: list[Counts] = []

    def count(self, job: Job) -> list[Counts]:
        """Run `job`, and say what its launches did."""
        self.counts = []
        self.run(job)
        return self.counts

    @contextmanager
    def _watching(self, each: Pass, step: Step, loads: Named, stores: Named) -> Iterator[None]:
        assert step.grid is not None
        blocks, named = step.grid[0] * step.grid[1], (*loads, *stores)
        starts = [array.ctypes.data for _, array in named]
        ends = [start + array.nbytes for start, (_, array) in zip(starts, named, strict=True)]
        ranges = np.array([starts, ends], np.uint64).T.copy()
        accessed = np.zeros((blocks, len(named), 2), np.uint64)
        operations = np.zeros((blocks, 4), np.uint64)
        self._watch(ranges, accessed, operations)
        try:
            yield
        finally:
            self._library.watch(None, 0, None, None)
        loaded = _by_name(loads, accessed[:, : len(loads), 0])
        stored = _by_name(stores, accessed[:, len(loads) :, 1])
        self.counts.append(Counts(step.number, loaded, stored, operations))

    def _watch(
        self,
        ranges: NDArray[np.uint64],
        accessed: NDArray[np.uint64],
        operations: NDArray[np.uint64],
    ) -> None:
        """The arrays have to live until nothing is watched any more."""
        pointers = (ctypes.c_void_p(one.ctypes.data) for one in (ranges, accessed, operations))
        first, *others = pointers
        self._library.watch(first, len(ranges), *others)

    def _written(self, text: str) -> str:
        """Device code in which literals, too, are of the float that counts."""
        for words, others in IN_OTHER_WORDS.items():
            text = text.replace(words, others)
        return FLOAT_LITERAL.sub(lambda found: f"float({found[0]})", text)


def _by_name(named: Named, counted: NDArray[np.uint64]) -> dict[str, NDArray[np.uint64]]:
    """(blocks, arrays) as (blocks,) for each name, which several arrays may have."""
    found: dict[str, NDArray[np.uint64]] = {}
    for column, (name, _) in zip(counted.T, named, strict=True):
        found[name] = found.get(name, 0) + column
    return found
