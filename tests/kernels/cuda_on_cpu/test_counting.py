"""Counts of loads, stores and operations, by block, and by the lines of a user kernel."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from kernels.anatomy.transactions import LANES, NOWHERE, coalescing, conflicts
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.counting import (
    ACCESS,
    IN_OTHER_WORDS,
    SHARED,
    Counts,
    LineCount,
    RunCounts,
    place_costs,
)
from kernels.cuda_on_cpu.trial import trial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import Pass, Rung, ladder
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START
from tests.kernels.on_cpu import CountingShim, Shim

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
SIGNATURE = """
extern "C" __global__ void convolve(
    const sample* src, sample* dst, const float* weights, int height, int width, int, int, int)
{ const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= width) return;
"""


def count(
    body, cache, width=32, threads=32, pixel_type="float32", shared_bytes=0, room=0
) -> Counts:
    """Counts of `body` in rows of `threads` threads, one per pixel; room: for accesses."""
    passes = (Pass(shared_bytes=str(shared_bytes)),)
    rung = Rung(
        "test", "test.cu", f"{SIGNATURE}{body}\n}}", "Test", "A test.", "global", passes=passes
    )
    picture = np.arange(width).astype(pixel_type).reshape(1, -1, 1)
    job = Job.of(picture, np.ones((3, 3), np.float32), block_xy=(threads, 1))
    (counts,) = CountingShim(rung, [job], cache).count(job, room)
    return counts


def test_bytes_are_counted_by_array_and_by_block(build_cache):
    body = "dst[i] = src[i] < 100.0f ? weights[0] : src[0];"
    counts = count(body, build_cache, width=40, threads=16)
    assert counts.loaded["picture"].tolist() == [64, 64, 32]  # the last block has 8 threads to do
    assert counts.loaded["weights"].tolist() == [64, 64, 32]
    assert counts.stored["picture"].tolist() == [64, 64, 32]
    assert not counts.operations.any()


def by_block(bodies: Iterable[str]) -> str:
    """Each of them in a block of its own: to compile one kernel for all is quicker."""
    cases = "".join(f"case {n}: {{ {body} }} break;\n" for n, body in enumerate(bodies))
    return f"switch (blockIdx.x) {{ {cases} }}"


STORES = {
    "dst[i] = src[i];": 32 * 4,
    "*reinterpret_cast<uint4*>(dst + i / 4 * 4) = make_uint4(1, 2, 3, 4);": 32 * 16,
    "*reinterpret_cast<uint2*>(dst + i / 2 * 2) = make_uint2(1, 2);": 32 * 8,
    "*reinterpret_cast<float4*>(dst + i / 4 * 4) = make_float4(1, 2, 3, 4);": 32 * 16,
    "if (threadIdx.x == 0) dst[31] = src[31];": 4,
    "": 0,
}


def test_stores_of_any_width_are_counted(build_cache):
    counts = count(by_block(STORES), build_cache, width=32 * len(STORES))
    assert counts.stored["picture"].tolist() == list(STORES.values())


@pytest.mark.parametrize(("pixel_type", "size"), [("uint8", 1), ("uint16", 2), ("float16", 2)])
def test_a_sample_has_the_bytes_that_it_is_stored_in(pixel_type, size, build_cache):
    counts = count("dst[i] = to_sample(src[i]);", build_cache, pixel_type=pixel_type)
    assert counts.loaded["picture"].sum() == counts.stored["picture"].sum() == 32 * size


def test_shared_memory_and_registers_are_no_global_memory(build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    float kept[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    tile[threadIdx.x] = kept[i % 4];
    __syncthreads();
    dst[i] = tile[31 - threadIdx.x];
    """
    counts = count(body, build_cache, shared_bytes=128)
    assert counts.loaded["picture"].sum() == 0
    assert counts.stored["picture"].sum() == 128


OPERATIONS = {
    "a": (0, 0, 0, 0),
    "-a": (0, 0, 0, 0),
    "fmaxf(a, b)": (0, 0, 0, 0),
    "a + b": (0, 0, 1, 0),
    "a * b": (0, 1, 0, 0),
    "a * b + 1.0f": (1, 0, 0, 0),
    "1.0f - a * b": (1, 0, 0, 0),
    "a * b - a * a": (1, 1, 0, 0),
    "a * (b - a)": (0, 1, 1, 0),
    "2.0f * (a * b) * (1.0f / b)": (0, 3, 0, 1),
    "sqrtf(a * a + b * b)": (1, 1, 0, 1),
}


def test_a_product_that_is_added_is_one_multiply_add(build_cache):
    bodies = (f"const float a = src[i], b = weights[0]; dst[i] = {each};" for each in OPERATIONS)
    counts = count(by_block(bodies), build_cache, width=32 * len(OPERATIONS))
    found = dict(zip(OPERATIONS, (counts.operations // 32).tolist(), strict=True))
    assert found == {each: list(done) for each, done in OPERATIONS.items()}
    assert counts.flops == 32 * sum(2 * done[0] + sum(done[1:]) for done in OPERATIONS.values())


def test_the_answer_is_the_same_as_without_counting(build_cache):
    rung = {each.key: each for each in ladder()}["shared"]
    random = np.random.default_rng(3)
    picture = random.standard_normal((9, 21, 3)).astype(np.float32)
    job = Job.of(
        picture, random.standard_normal((5, 5)).astype(np.float32), "wrap", "shared", (8, 8)
    )
    counting, usual = CountingShim(rung, [job], build_cache), Shim(rung, [job], build_cache)
    np.testing.assert_array_equal(counting.run(job), usual.run(job))


def test_the_words_that_counting_changes_are_still_there():
    texts = "".join(rung.text for rung in ladder())
    for words in IN_OTHER_WORDS:
        assert words in texts


def test_shared_memory_is_written_down_from_its_begin(build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = src[i];
    dst[i] = tile[threadIdx.x / 2];
    """
    found = count(body, build_cache, 40, 16, shared_bytes=64, room=10_000)
    for block, threads in ((0, 16), (2, 8)):
        own = found.accesses[
            (found.accesses["step"] == block) & (found.accesses["array"] == SHARED)
        ]
        stores, loads = (own[own["is_store"] == is_store] for is_store in (True, False))
        assert stores["offset"].tolist() == [4 * thread for thread in range(threads)]
        assert loads["offset"].tolist() == [thread // 2 * 4 for thread in range(threads)]


IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def counts(body: str, pixel_type="float32") -> RunCounts:
    """What a kernel with that body counts on 64×16 samples: four blocks of eight warps."""
    picture = np.arange(64 * 16).reshape(16, 64, 1).astype(pixel_type)
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    *_, outcome = trial(rung, Job.of(picture, IDENTITY), counting=True)
    assert outcome.ok, outcome.problem or outcome.check
    return outcome.counts


def test_neighbours_share_sectors():
    found = counts(COPY)
    bytes_ = 64 * 16 * 4
    assert (found.loaded["picture"], found.stored["picture"]) == (bytes_, bytes_)
    assert found.operations == (0, 0, 0, 0)
    assert (found.blocks_looked_at, found.blocks) == (4, 4)
    load = LineCount(7, "picture", False, requests=32, bytes=bytes_, cost=32 * 4)
    store = LineCount(7, "picture", True, requests=32, bytes=bytes_, cost=32 * 4)
    assert found.lines == (load, store)


def test_blocks_that_access_nothing_are_looked_at_too():
    rows = "for (int row = y; row < end_row; row += 8)"
    found = counts(
        f"if (blockIdx.y == 0) {rows} row_of(dst, row, pitch)[x] = row_of(src, row, pitch)[x];"
    )
    assert (found.blocks_looked_at, found.blocks) == (4, 4)


@pytest.mark.parametrize("array", ["extern __shared__ float moved[]", "__shared__ float moved[64]"])
def test_lanes_in_one_bank_take_turns(array):
    body = f"{array};\nif (threadIdx.y == 0) moved[threadIdx.x * 2] = 1.0f;\n{COPY}"
    text = START.format(before="", body=body)
    text = '/*---\n[[passes]]\nshared_bytes = "256"\n---*/\n' + text
    picture = np.arange(64 * 16, dtype=np.float32).reshape(16, 64, 1)
    job = Job.of(picture, IDENTITY)
    *_, outcome = trial(own_kernel("mine.cu", text), job, counting=True)
    (shared,) = [each for each in outcome.counts.lines if each.array == "shared memory"]
    assert (shared.line, shared.is_store) == (12, True)
    assert (shared.requests, shared.cost) == (4, 8)


def test_operations_that_cannot_be_counted_are_left_out():
    body = f"const float one = cosf(0.0f * height);\nif (one > 0.0f) {COPY}"
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
    assert coalescing(lanes, size).count == len(sectors)
    assert conflicts(lanes, size).count == turns
    for array in (0, SHARED):
        accesses["array"] = array
        ((_, *costs),) = place_costs(accesses)
        assert costs == [1, len(own) * size, turns if array == SHARED else len(sectors)]


def test_places_and_turns_of_a_loop_are_requests_of_their_own():
    accesses = np.zeros(4 * LANES, ACCESS)
    accesses["thread"] = np.tile(np.arange(LANES), 4)
    accesses["site"][2 * LANES :] = 7
    accesses["offset"] = np.tile(np.arange(LANES) * 4, 4)
    accesses["size"] = 4
    found = place_costs(accesses)
    assert [(requests, cost) for _, requests, _, cost in found] == [(2, 8), (2, 8)]
