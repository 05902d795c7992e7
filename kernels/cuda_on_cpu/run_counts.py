"""Counts of a run, as they are shown: bytes and operations, and what each line's requests cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.cuda_on_cpu.counting import SHARED, AccessesShim, CountingShim, Trace
from kernels.cuda_on_cpu.line_table import LineTable
from kernels.cuda_on_cpu.warp_requests import place_costs
from kernels.rungs.rung import Rung


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
        for cost in place_costs(trace.accesses[: trace.begins[whole]], SHARED):
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
