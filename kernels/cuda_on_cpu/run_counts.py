"""Counts of a run: bytes and operations, and what each line's warps cost in sectors and banks.

The rules are those of `kernels.anatomy.transactions`, for millions of accesses at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.transactions import LANES, numbered, touched, turns_taken
from kernels.cuda_on_cpu.counting import SHARED, AccessesShim, CountingShim, Trace
from kernels.cuda_on_cpu.elf import LineTable
from kernels.rungs.rung import Rung

THREADS = 1024  # of a block at most


@dataclass(frozen=True, slots=True)
class LineCount:
    """Requests that one line of a rung's file makes warps take.

    line      None: of a header, not called from a line that is known
    array     "picture", "weights", a buffer's name, or "shared memory"
    requests  of warps; `bytes` are what their lanes want
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


def counted(shim: CountingShim, traces: Iterable[Trace], begin: int) -> dict[str, Any]:
    """Return what a run of `shim` counted, as plain data; `begin` is where its code lies."""
    loaded: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    operations, blocks, looked_at = np.zeros(4, np.int64), 0, 0
    places: list[Any] = []
    for counts in shim.counts:
        loaded.update({name: int(each.sum()) for name, each in counts.loaded.items()})
        stored.update({name: int(each.sum()) for name, each in counts.stored.items()})
        operations += counts.operations.sum(0).astype(np.int64)
    for trace in traces:
        whole = len(trace.begins) - 1
        blocks += whole
        if trace.is_cut:  # and with it the last block that there was room for
            whole = int(trace.begins.searchsorted(trace.begins[-1])) - 1
        looked_at += whole
        for cost in place_costs(trace.accesses[: trace.begins[whole]]):
            array = "shared memory" if cost.array == SHARED else trace.arrays[cost.array]
            pcs = [pc - begin - 1 for pc in cost.pcs]
            numbers = (cost.requests, cost.bytes, cost.cost)
            places.append((pcs, array, cost.is_store, *numbers))
    return {
        "loaded": dict(loaded),
        "stored": dict(stored),
        "operations": None if isinstance(shim, AccessesShim) else operations.tolist(),
        "places": places,
        "blocks": blocks,
        "blocks_looked_at": looked_at,
    }


def in_lines(said: dict[str, Any], table: LineTable, rung: Rung) -> RunCounts:
    """Return what a child counted, by lines of the rung's file."""
    lines: dict[tuple[int | None, str, bool], list[int]] = {}
    for pcs, array, is_store, *numbers in said["places"]:
        rows = [row for pc in pcs if (row := table.at(pc))]
        line = next((row.line for row in rows if row.file == rung.file), None)
        sums = lines.setdefault((line, array, is_store), [0, 0, 0])
        for place, number in enumerate(numbers):
            sums[place] += number
    in_order = sorted(lines.items(), key=lambda each: (each[0][0] or 0, *each[0][1:]))
    return RunCounts(
        said["loaded"],
        said["stored"],
        None if said["operations"] is None else tuple(said["operations"]),
        tuple(LineCount(*key, *sums) for key, sums in in_order),
        said["blocks_looked_at"],
        said["blocks"],
    )


@dataclass(frozen=True, slots=True)
class PlaceCost:
    """The cost of what one place of the code loads or stores.

    pcs       where that is: an address of code, and those of its callers
    array     its number, or SHARED
    accesses  of single threads, and the `bytes` that they want
    requests  of warps
    cost      sectors of 32 bytes that those touch; of shared memory, transactions
    """

    pcs: tuple[int, ...]
    array: int
    is_store: bool
    accesses: int
    bytes: int
    requests: int
    cost: int


def place_costs(accesses: NDArray[np.void]) -> list[PlaceCost]:
    """Return what each place of the code costs: what all lanes access there at a time."""
    if not len(accesses):
        return []
    place_of = _compact(*accesses["pcs"].T, accesses["array"], accesses["is_store"])
    thread = accesses["block"].astype(np.int64) * THREADS + accesses["thread"]
    request = _compact(thread // LANES, place_of, _occurrence(thread, place_of))
    found = []
    for number, at in enumerate(np.unique(place_of, return_index=True)[1]):
        mine = place_of == number
        array, some = int(accesses["array"][at]), accesses[mine]
        first = some["offset"].astype(np.int64)
        size = some["size"].astype(np.int64)
        lane = thread[mine] % LANES
        found.append(
            PlaceCost(
                tuple(int(pc) for pc in accesses["pcs"][at]),
                array,
                bool(accesses["is_store"][at]),
                len(some),
                int(size.sum()),
                len(np.unique(request[mine])),
                turns_taken(request[mine], lane, first, size)
                if array == SHARED
                else touched(request[mine], first, size),
            )
        )
    return found


def _compact(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each combination of values, of which none up to the largest is left out.

    Much quicker than to look for different rows.
    """
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if (column != column[0]).any():
            values, place = np.unique(column, return_inverse=True)
            number = np.unique(number * len(values) + place, return_inverse=True)[1]
    return number


def _occurrence(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many with the same values went before each."""
    number = numbered(*columns)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    counted = np.empty(len(number), np.int64)
    counted[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return counted
