"""Counts of the loads, stores and operations of device code on the CPU, by block and by line.

Sectors and banks are those of `kernels.anatomy.transactions`, for millions of accesses at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_uint64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.transactions import LANES, numbered, occurrence, touched, turns_taken
from kernels.core.plain_data import table_beside
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.compiler import ACCESSES, COUNTING
from kernels.cuda_on_cpu.elf import LineTable
from kernels.cuda_on_cpu.recording import ACCESS, HEAD, recorded
from kernels.cuda_on_cpu.shared_run import DYNAMIC_ARRAY
from kernels.cuda_on_cpu.shim import Named, Shim
from kernels.rungs.rung import Rung

FLOAT_LITERAL = re.compile(r"\b\d+(?:\.\d*)?(?:e[+-]?\d+)?f\b")
# A float that counts, and an assignment that g++ reports, need other words; a test fails where
# wide.cuh and the prelude no longer have these.
IN_OTHER_WORDS: dict[str, str] = table_beside(__file__)
SHARED = DYNAMIC_ARRAY  # shared memory of fixed size, too
DEPTH = 5  # addresses of code by which a place of it is known: its own, then those of its callers
LOOKED_AT = 500_000  # accesses of a launch
MULTIPLY_ADDS, MULTIPLICATIONS, ADDITIONS, OTHERS = range(4)  # enum Operation in counted_float.h
THREADS = 1024  # of a block at most


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of what one launch of a pass did, as its text has it: no compiler spared anything.

    arrays          names of what it is given: what it loads, then what it stores
    loaded, stored  bytes, by the name of an array and by block, in the order of the grid's rows
    operations      (blocks, 4): multiply-adds, other multiplications, other additions, and
                    divisions, roots and powers
    accesses        of ACCESS, their step being their block, in its order, as far as there was room;
                    is_cut: not for all; `array` is a place in `arrays`, or SHARED
    sites           (sites, DEPTH) addresses of code
    """

    number: int
    arrays: tuple[str, ...]
    loaded: dict[str, NDArray[np.uint64]]
    stored: dict[str, NDArray[np.uint64]]
    operations: NDArray[np.uint64]
    accesses: NDArray[np.void]
    is_cut: bool
    sites: NDArray[np.uint64]

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
        accessed = np.zeros((blocks, len(named), 2), np.uint64)
        operations = np.zeros((blocks, 4), np.uint64)
        memory = np.zeros(HEAD.itemsize + self.room * ACCESS.itemsize, np.uint8)
        arrays, room = [array for _, array in named], np.array([0, self.room, 0, 0], np.uint64)
        with recorded(self.library, memory, arrays, room=room, sums=(accessed, operations)):
            yield
        written = int(memory[: HEAD.itemsize].view(HEAD)["counts"][0][1])
        found = memory[HEAD.itemsize :].view(ACCESS)[:written]
        found["array"] = np.maximum(found["array"], SHARED)
        number, sites = c_uint64(0), self.library.sites_found
        sites.restype = POINTER(c_uint64)
        places = sites(byref(number))[: DEPTH * number.value]
        counts = Counts(
            step.number,
            tuple(name for name, _ in named),
            _by_name(loads, accessed[:, : len(loads), 0]),
            _by_name(stores, accessed[:, len(loads) :, 1]),
            operations,
            found[np.argsort(found["step"], kind="stable")],
            0 < self.room < written,
            np.array(places, np.uint64).reshape(-1, DEPTH),
        )
        self.counts += (counts,)

    @classmethod
    def _written(cls, _rung: Rung, text: str) -> str:
        """Device code in which literals, too, are of the float that counts."""
        for words, others in IN_OTHER_WORDS.items():
            text = text.replace(words, others)
        return FLOAT_LITERAL.sub(lambda found: f"float({found[0]})", text)


def _by_name(named: Named, counted: NDArray[np.uint64]) -> dict[str, NDArray[np.uint64]]:
    """Sum (blocks, arrays) to (blocks,) for each name, which several arrays may have."""
    found: dict[str, NDArray[np.uint64]] = {}
    for column, (name, _) in zip(counted.T, named, strict=True):
        found[name] = found.get(name, 0) + column
    return found


class AccessesShim(CountingShim):
    """A shim that counts loads and stores, but no operations."""

    flavour = ACCESSES
    _written = Shim._written  # device code as it is


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
    operations      multiply-adds, other multiplications, other additions, divisions, roots and
                    powers; None where the kernel does what cannot be counted
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
            whole = int(accesses["step"][-1])
        looked_at += whole
        for one, *costs in place_costs(accesses[accesses["step"] < whole]):
            pcs = counts.sites[one["site"]].tolist()
            rows = [row for pc in pcs if (row := table.at(pc - begin - 1))]
            line = next((row.line for row in rows if row.file == shim.rung.file), None)
            array = "shared memory" if one["array"] == SHARED else counts.arrays[one["array"]]
            key = line, array, bool(one["is_store"])
            lines[key] = lines.get(key, 0) + np.array(costs)
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


def place_costs(accesses: NDArray[np.void]) -> Iterator[tuple[Any, int, int, int]]:
    """Yield an access of each place of the code, and the cost of all that lanes access there.

    That is requests of warps, the bytes of their lanes, and sectors or transactions.
    """
    if not len(accesses):
        return
    place_of, thread, request = requests(accesses)
    for number, at in enumerate(np.unique(place_of, return_index=True)[1]):
        mine, one = place_of == number, accesses[at]
        own = request[mine]
        first, size = (accesses[mine][name].astype(np.int64) for name in ("offset", "size"))
        if one["array"] == SHARED:
            cost = turns_taken(own, thread[mine] % LANES, first, size)
        else:
            cost = touched(own, first, size)
        yield one, len(np.unique(own)), int(size.sum()), cost


def requests(accesses: NDArray[np.void]) -> tuple[NDArray[np.int64], ...]:
    """Number the place in the code, the thread and the request of its warp, of each access."""
    places = (accesses[name].astype(np.int64) for name in ("site", "array", "is_store"))
    place_of = _compact(*places)
    thread = accesses["step"].astype(np.int64) * THREADS + accesses["thread"]
    return place_of, thread, _compact(thread // LANES, place_of, occurrence(thread, place_of))


def _compact(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    number = numbered(*(column - column.min() for column in columns))
    return np.unique(number, return_inverse=True)[1]
