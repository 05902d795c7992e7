"""A trial counts bytes, operations, sectors and bank conflicts, by the lines they are of."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kernels.anatomy.transactions import LANES, NOWHERE, coalescing, conflicts
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.counting import ACCESS, SHARED
from kernels.cuda_on_cpu.run_counts import LineCount, RunCounts, place_costs
from kernels.cuda_on_cpu.trial import trial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START

IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
on_cpu = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


def counts(body: str, pixel_type="float32") -> RunCounts:
    """What a kernel with that body counts on 64×16 samples: four blocks of eight warps."""
    picture = np.arange(64 * 16).reshape(16, 64, 1).astype(pixel_type)
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    *_, outcome = trial(rung, Job(picture, IDENTITY), counting=True)
    assert outcome.ok, outcome.problem or outcome.check
    return outcome.counts


@on_cpu
def test_neighbours_share_sectors():
    found = counts(COPY)
    bytes_ = 64 * 16 * 4
    assert (found.loaded["picture"], found.stored["picture"]) == (bytes_, bytes_)
    assert found.operations == (0, 0, 0, 0)
    assert (found.blocks_looked_at, found.blocks) == (4, 4)
    load = LineCount(7, "picture", False, requests=32, bytes=bytes_, cost=32 * 4)
    store = LineCount(7, "picture", True, requests=32, bytes=bytes_, cost=32 * 4)
    assert found.lines == (load, store)


@on_cpu
def test_blocks_that_access_nothing_are_looked_at_too():
    rows = "for (int row = y; row < end_row; row += 8)"
    found = counts(
        f"if (blockIdx.y == 0) {rows} row_of(dst, row, pitch)[x] = row_of(src, row, pitch)[x];",
    )
    assert (found.blocks_looked_at, found.blocks) == (4, 4)


@on_cpu
@pytest.mark.parametrize("array", ["extern __shared__ float moved[]", "__shared__ float moved[64]"])
def test_lanes_in_one_bank_take_turns(array):
    body = f"{array};\nif (threadIdx.y == 0) moved[threadIdx.x * 2] = 1.0f;\n{COPY}"
    text = START.format(before="", body=body)
    text = '/*---\n[[passes]]\nshared_bytes = "256"\n---*/\n' + text
    picture = np.arange(64 * 16, dtype=np.float32).reshape(16, 64, 1)
    job = Job(picture, IDENTITY)
    *_, outcome = trial(own_kernel("mine.cu", text), job, counting=True)
    (shared,) = [each for each in outcome.counts.lines if each.array == "shared memory"]
    assert (shared.line, shared.is_store) == (12, True)
    assert (shared.requests, shared.cost) == (4, 8)


@on_cpu
def test_operations_that_cannot_be_counted_are_left_out():
    body = f"const float one = expf(0.0f * height);\nif (one > 0.0f) {COPY}"
    found = counts(body)
    assert found.operations is None
    assert found.loaded["picture"] == 64 * 16 * 4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [4, 8, 16])
def test_sectors_and_banks_are_counted_as_with_sets(seed, size):
    """For one warp, of which some lanes take no part, and for many accesses at once."""
    random = np.random.default_rng(seed)
    lanes = random.integers(0, 200, LANES) * size
    lanes[random.random(LANES) < 0.2] = NOWHERE
    own = np.flatnonzero(lanes != NOWHERE)
    accesses = np.zeros(len(own), ACCESS)
    accesses["thread"], accesses["offset"], accesses["size"] = own, lanes[own], size
    sectors = {byte // 32 for at in lanes[own] for byte in (at, at + size - 1)}
    turns, at_a_time = 0, LANES * 4 // size
    for first in range(0, LANES, at_a_time):
        part = [at for at in lanes[first : first + at_a_time] if at != NOWHERE]
        words = {at // 4 + word for at in part for word in range(size // 4)}
        turns += max(Counter(word % 32 for word in words).values(), default=0)
    assert coalescing(lanes, size).sectors == len(sectors)
    assert conflicts(lanes, size).turns == turns
    for array in (0, SHARED):
        accesses["array"] = array
        (found,) = place_costs(accesses)
        assert (found.requests, found.accesses, found.bytes) == (1, len(own), len(own) * size)
        assert found.cost == (turns if array == SHARED else len(sectors))


def test_places_and_turns_of_a_loop_are_requests_of_their_own():
    accesses = np.zeros(4 * LANES, ACCESS)
    accesses["thread"] = np.tile(np.arange(LANES), 4)
    accesses["pcs"][2 * LANES :, 0] = 7
    accesses["offset"] = np.tile(np.arange(LANES) * 4, 4)
    accesses["size"] = 4
    found = place_costs(accesses)
    assert [(each.requests, each.cost) for each in found] == [(2, 8), (2, 8)]
