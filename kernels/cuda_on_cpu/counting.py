"""Counts of the loads, stores and operations of device code on the CPU, by block and by line.

Sectors and banks are those of `kernels.anatomy.transactions`, for millions of accesses at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.transactions import LANES, numbered, touched, turns_taken
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.compiler import ACCESSES, COUNTING
from kernels.cuda_on_cpu.device_code import Knobs, generated
from kernels.cuda_on_cpu.elf import LineTable
from kernels.cuda_on_cpu.shim import Named, Shim
from kernels.rungs.rung import Rung

FLOAT_LITERAL = re.compile(r"\b\d+(?:\.\d*)?(?:e[+-]?\d+)?f\b")
# A float that counts, and an assignment that g++ reports, need other words; a test fails where
# wide.cuh and the prelude no longer have these.
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
# As struct Access in counting.cpp; `array` is a place in Counts.arrays, or SHARED.
ACCESS = np.dtype(
    [
        *((name, np.uint32) for name in ("block", "thread")),
        *(("array", np.int32), ("is_store", np.uint32)),
        *(("offset", np.uint64), ("size", np.uint64), ("pcs", np.uint64, 5)),
    ]
)
SHARED = -1
LOOKED_AT = 500_000  # accesses of a launch
MULTIPLY_ADDS, MULTIPLICATIONS, ADDITIONS, OTHERS = range(4)  # enum Operation in counted_float.h
THREADS = 1024  # of a block at most


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of what one launch of a pass did, as its text has it: no compiler spared anything.

    arrays          names of what it is given: what it loads, then what it stores
    loaded, stored  bytes, by the name of an array and by block, in the order of the grid's rows
    operations      (blocks, 4): multiply-adds, other multiplications, other additions, and
                    divisions and roots
    accesses        of ACCESS, block by block, as far as there was room; is_cut: not for all
    """

    number: int
    arrays: tuple[str, ...]
    loaded: dict[str, NDArray[np.uint64]]
    stored: dict[str, NDArray[np.uint64]]
    operations: NDArray[np.uint64]
    accesses: NDArray[np.void]
    is_cut: bool

    @property
    def flops(self) -> int:
        """Operations of all blocks; a multiply-add is two."""
        return int(self.operations.sum() + self.operations[:, MULTIPLY_ADDS].sum())


class CountingShim(Shim):
    """A shim that keeps `counts`: of every launch of the last job, in their order.

    room  for the accesses of a launch
    """

    flavour = COUNTING
    counts: tuple[Counts, ...] = ()
    room = 0

    @contextmanager
    def _watching(self, step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        assert step.grid is not None
        blocks, named = step.grid[0] * step.grid[1], (*loads, *stores)
        starts = [array.ctypes.data for _, array in named]
        ends = [start + array.nbytes for start, (_, array) in zip(starts, named, strict=True)]
        ranges = np.array([starts, ends], np.uint64).T.copy()
        accessed = np.zeros((blocks, len(named), 2), np.uint64)
        operations = np.zeros((blocks, 4), np.uint64)
        accesses, number = np.empty(self.room, ACCESS), c_uint64(0)
        pointers = [c_void_p(each.ctypes.data) for each in (ranges, accessed, operations, accesses)]
        room = c_uint64(self.room)
        self.library.watch(len(ranges), *pointers, byref(number), room)
        try:
            yield
        finally:
            self.library.watch(0, None, None, None, None, byref(number), room)
        found = accesses[: number.value]
        # A buffer that is written in place is given twice, and reported twice.
        if again := [i for i, start in enumerate(starts) if start in starts[:i]]:
            found = found[~np.isin(found["array"], again)]
        counts = Counts(
            step.number,
            tuple(name for name, _ in named),
            _by_name(loads, accessed[:, : len(loads), 0]),
            _by_name(stores, accessed[:, len(loads) :, 1]),
            operations,
            found[np.argsort(found["block"], kind="stable")],
            0 < self.room < number.value,
        )
        self.counts += (counts,)

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Device code in which literals, too, are of the float that counts."""

        def counted(text: str) -> str:
            for words, others in IN_OTHER_WORDS.items():
                text = text.replace(words, others)
            return FLOAT_LITERAL.sub(lambda found: f"float({found[0]})", text)

        return generated(rung, sets, counted)


def _by_name(named: Named, counted: NDArray[np.uint64]) -> dict[str, NDArray[np.uint64]]:
    """Sum (blocks, arrays) to (blocks,) for each name, which several arrays may have."""
    found: dict[str, NDArray[np.uint64]] = {}
    for column, (name, _) in zip(counted.T, named, strict=True):
        found[name] = found.get(name, 0) + column
    return found


class AccessesShim(CountingShim):
    """A shim that counts loads and stores, but no operations."""

    flavour = ACCESSES

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Device code as it is."""
        return generated(rung, sets)


@dataclass(frozen=True, slots=True)
class LineCount:
    """Requests of warps by one line of a rung's file.

    line      None: of a header, not called from a line that is known
    array     "picture", "weights", a buffer's name, or "shared memory"
    requests  of warps; `bytes` are those of their lanes
    cost      sectors of 32 bytes that those touch; of shared memory transactions: more than
              requests where lanes meet bank conflicts
    """

    line: int | None
    array: str
    is_store: bool
    requests: int
    bytes: int
    cost: int


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of all launches of one run, as the text has it: no compiler has spared anything.

    loaded, stored  bytes of global memory, by the name of an array
    operations      multiply-adds, other multiplications, other additions, divisions and roots;
                    None where the kernel does what cannot be counted
    lines           of the blocks that there was room for: `blocks_looked_at` of `blocks`
    """

    loaded: dict[str, int]
    stored: dict[str, int]
    operations: tuple[int, ...] | None
    lines: tuple[LineCount, ...]
    blocks_looked_at: int
    blocks: int


def counted(shim: CountingShim, begin: int, table: LineTable) -> dict[str, Any]:
    """The counts of a run of `shim`, as plain data.

    begin  where its code lies, of which `table` has the lines
    """
    loaded: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    operations, blocks, looked_at = np.zeros(4, np.int64), 0, 0
    lines: dict[tuple[int | None, str, bool], NDArray[np.int64]] = {}
    for counts in shim.counts:
        loaded.update({name: int(each.sum()) for name, each in counts.loaded.items()})
        stored.update({name: int(each.sum()) for name, each in counts.stored.items()})
        operations += counts.operations.sum(0).astype(np.int64)
        whole, accesses = len(counts.operations), counts.accesses
        blocks += whole
        if counts.is_cut:  # and with it the last block that there was room for
            whole = int(accesses["block"][-1])
        looked_at += whole
        for each in place_costs(accesses[accesses["block"] < whole]):
            rows = [row for pc in each.pcs if (row := table.at(pc - begin - 1))]
            line = next((row.line for row in rows if row.file == shim.rung.file), None)
            array = "shared memory" if each.array == SHARED else counts.arrays[each.array]
            key = line, array, each.is_store
            lines[key] = lines.get(key, 0) + np.array(each[-3:])
    in_order = sorted(lines.items(), key=lambda each: (each[0][0] or 0, *each[0][1:]))
    return {
        "loaded": dict(loaded),
        "stored": dict(stored),
        "operations": None if isinstance(shim, AccessesShim) else operations.tolist(),
        "lines": [(*key, *sums.tolist()) for key, sums in in_order],
        "blocks": blocks,
        "blocks_looked_at": looked_at,
    }


def counts_of(said: dict[str, Any]) -> RunCounts:
    """The counts of a child's reply."""
    operations = said["operations"] and tuple(said["operations"])
    lines = tuple(LineCount(*each) for each in said["lines"])
    return RunCounts(**{**said, "operations": operations, "lines": lines})


class PlaceCost(NamedTuple):
    """The cost of the loads or stores of one place of the code.

    pcs       where that is: an address of code, and those of its callers
    array     its number, or SHARED
    requests  of warps, and the `bytes` of their lanes
    cost      sectors of 32 bytes that those touch; of shared memory, transactions
    """

    pcs: tuple[int, ...]
    array: int
    is_store: bool
    requests: int
    bytes: int
    cost: int


def place_costs(accesses: NDArray[np.void]) -> list[PlaceCost]:
    """The cost of each place of the code: of all that lanes access there at a time."""
    if not len(accesses):
        return []
    place_of = _compact(*accesses["pcs"].T, accesses["array"], accesses["is_store"])
    thread = accesses["block"].astype(np.int64) * THREADS + accesses["thread"]
    request = _compact(thread // LANES, place_of, occurrence(thread, place_of))
    found = []
    for number, at in enumerate(np.unique(place_of, return_index=True)[1]):
        mine, one = place_of == number, accesses[at]
        own = request[mine]
        first, size = (accesses[mine][name].astype(np.int64) for name in ("offset", "size"))
        if one["array"] == SHARED:
            cost = turns_taken(own, thread[mine] % LANES, first, size)
        else:
            cost = touched(own, first, size)
        where = tuple(one["pcs"].tolist()), int(one["array"]), bool(one["is_store"])
        found.append(PlaceCost(*where, len(np.unique(own)), int(size.sum()), cost))
    return found


def _compact(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Number the combinations of values, without gaps: much quicker than to look for equal rows."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if (column != column[0]).any():
            values, place = np.unique(column, return_inverse=True)
            number = np.unique(number * len(values) + place, return_inverse=True)[1]
    return number


def occurrence(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count those with the same values before each."""
    number = numbered(*columns)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    counted = np.empty(len(number), np.int64)
    counted[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return counted
