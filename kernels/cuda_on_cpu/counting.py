"""Counts what device code loads, stores and computes while it runs on the CPU, block by block."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.compiler import ACCESSES, COUNTING
from kernels.cuda_on_cpu.device_code import Knobs, generated
from kernels.cuda_on_cpu.shim import Named, Order, Shim
from kernels.rungs.rung import Rung

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
    "        const uint4 a = words[0], b = words[WARP];": (
        "        uint4 a, b; a = words[0]; b = words[WARP];"
    ),
    # A chunk in shared memory is read once, not once for each of its samples.
    "    for (int i = 0; i < CHUNK; ++i) values[i] = chunk_sample(chunk, i);": (
        "    uint4 whole; whole = chunk;\n"
        "    for (int i = 0; i < CHUNK; ++i) values[i] = chunk_sample(whole, i);"
    ),
}
# As struct Access in counting.cpp; `array` is a place in Trace.arrays, or SHARED.
ACCESS = np.dtype(
    [
        ("block", np.uint32),
        ("thread", np.uint32),
        ("array", np.int32),
        ("is_store", np.uint32),
        ("offset", np.uint64),
        ("size", np.uint64),
        ("pcs", np.uint64, 5),
    ]
)
SHARED = -1
MAX_ACCESSES = 3_000_000  # of one launch
LOOKED_AT = 500_000  # where as many are enough as there is room for
MULTIPLY_ADDS, MULTIPLICATIONS, ADDITIONS, OTHERS = range(4)  # enum Operation in counted_float.h


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of what one launch of a pass did, as its text has it: no compiler spared anything.

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
        """Return those of all blocks; a multiply-add is two."""
        return int(self.operations.sum() + self.operations[:, MULTIPLY_ADDS].sum())

    @property
    def multiply_adds(self) -> int:
        """Return those of all blocks."""
        return int(self.operations[:, MULTIPLY_ADDS].sum())


@dataclass(frozen=True, slots=True)
class Trace:
    """Every access of one launch of a pass, each thread's in its order.

    arrays    names of what it is given: what it loads, then what it stores
    accesses  of ACCESS, block by block
    begins    (blocks + 1,) where those of each begin, and all end
    is_cut    there was no room for all of them
    """

    number: int
    arrays: tuple[str, ...]
    accesses: NDArray[np.void]
    begins: NDArray[np.int64]
    is_cut: bool = False

    def of(self, block: int, array: str, is_store: bool) -> NDArray[np.void]:
        """Return one block's to an array, or to the "tile" in shared memory."""
        own = self.accesses[self.begins[block] : self.begins[block + 1]]
        places = (
            [SHARED] if array == "tile" else [i for i, n in enumerate(self.arrays) if n == array]
        )
        is_there = np.zeros(len(own), np.bool_)
        for place in places:  # one as a rule, for which np.isin takes longer
            is_there |= own["array"] == place
        found: NDArray[np.void] = own[is_there & (own["is_store"] == is_store)]
        return found


class CountingShim(Shim):
    """A shim that keeps `counts`: of every launch of the last job, in their order."""

    flavour = COUNTING
    counts: tuple[Counts, ...] = ()
    _traces: list[Trace] | None = None  # None: not wanted
    _cuts = False  # what there is no room for
    _room = MAX_ACCESSES

    def count(self, job: Job) -> tuple[Counts, ...]:
        """Run `job`, and say what its launches did."""
        self.counts = ()
        self.run(job)
        return self.counts

    def watch_into(self, job: Job, source: NDArray[Any], target: NDArray[Any]) -> list[Trace]:
        """Run `job` from array to array; give as many addresses as there is room for."""
        self.counts = ()
        self._traces = found = list[Trace]()
        self._cuts, self._room = True, LOOKED_AT
        try:
            self.run_into(job, source, target, Order.FORWARD)
        finally:
            self._traces = None
        return found

    def trace(self, job: Job) -> list[Trace]:
        """Run `job`, and give all addresses that its launches' threads load from and store to."""
        self.counts = ()
        self._traces = found = list[Trace]()
        try:
            self.run(job)
        finally:
            self._traces = None
        return found

    @contextmanager
    def _watching(self, step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        assert step.grid is not None
        blocks, named = step.grid[0] * step.grid[1], (*loads, *stores)
        starts = [array.ctypes.data for _, array in named]
        ends = [start + array.nbytes for start, (_, array) in zip(starts, named, strict=True)]
        ranges = np.array([starts, ends], np.uint64).T.copy()
        accessed = np.zeros((blocks, len(named), 2), np.uint64)
        operations = np.zeros((blocks, 4), np.uint64)
        self._watch(ranges, accessed, operations)
        try:
            with self._tracing(step, tuple(name for name, _ in named), starts):
                yield
        finally:
            self.library.watch(None, 0, None, None)
        loaded = _by_name(loads, accessed[:, : len(loads), 0])
        stored = _by_name(stores, accessed[:, len(loads) :, 1])
        self.counts += (Counts(step.number, loaded, stored, operations),)

    @contextmanager
    def _tracing(
        self, step: LaunchStep, arrays: tuple[str, ...], starts: list[int]
    ) -> Iterator[None]:
        if self._traces is None:
            yield
            return
        accesses, number = np.empty(self._room, ACCESS), ctypes.c_uint64(0)
        write_down, pointer, size = (
            self.library.write_down_accesses,
            ctypes.c_void_p,
            ctypes.c_uint64,
        )
        write_down(
            pointer(accesses.ctypes.data),
            size(len(accesses)),
            ctypes.byref(number),
            size(step.shared_bytes),
        )
        try:
            yield
        finally:
            write_down(None, size(0), None, size(0))
        assert self._cuts or number.value <= len(accesses), "the job is too large to trace"
        found = accesses[: number.value]
        # A buffer that is written in place is given twice, and told of twice.
        again = [i for i, start in enumerate(starts) if start in starts[:i]]
        if again:
            found = found[~np.isin(found["array"], again)]
        found = found[np.argsort(found["block"], kind="stable")]
        assert step.grid is not None
        begins = np.searchsorted(found["block"], np.arange(step.grid[0] * step.grid[1] + 1))
        is_cut = number.value > len(accesses)
        self._traces.append(Trace(step.number, arrays, found, begins, is_cut))

    def _watch(
        self,
        ranges: NDArray[np.uint64],
        accessed: NDArray[np.uint64],
        operations: NDArray[np.uint64],
    ) -> None:
        """Begin to count; the arrays have to live until nothing is watched any more."""
        pointers = (ctypes.c_void_p(one.ctypes.data) for one in (ranges, accessed, operations))
        first, *others = pointers
        self.library.watch(first, len(ranges), *others)

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Return device code in which literals, too, are of the float that counts."""
        return generated(rung, sets, _counted)


def _counted(text: str) -> str:
    for words, others in IN_OTHER_WORDS.items():
        text = text.replace(words, others)
    return FLOAT_LITERAL.sub(lambda found: f"float({found[0]})", text)


def _by_name(named: Named, counted: NDArray[np.uint64]) -> dict[str, NDArray[np.uint64]]:
    """Return (blocks, arrays) as (blocks,) for each name, which several arrays may have."""
    found: dict[str, NDArray[np.uint64]] = {}
    for column, (name, _) in zip(counted.T, named, strict=True):
        found[name] = found.get(name, 0) + column
    return found


class AccessesShim(CountingShim):
    """A shim that counts loads and stores, but no operations."""

    flavour = ACCESSES

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Return device code as it is."""
        return generated(rung, sets)
