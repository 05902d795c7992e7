"""Counts of loads, stores and operations, by block, and by the lines of a user kernel."""

import tracemalloc
from collections import Counter
from collections.abc import Iterable
from functools import cache

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
from kernels.cuda_on_cpu.device_code import told
from kernels.cuda_on_cpu.stepping import TOO_LONG, BlockSteps, Stepped, stepping
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


def test_bytes_stores_of_any_width_and_multiply_adds_are_counted_by_block(build_cache):
    body = "dst[i] = src[i] < 100.0f ? weights[0] : src[0];"
    counts = count(body, build_cache, width=40, threads=16)
    assert counts.loaded["picture"].tolist() == [64, 64, 32]  # the last block has 8 threads to do
    assert counts.loaded["weights"].tolist() == [64, 64, 32]
    assert counts.stored["picture"].tolist() == [64, 64, 32]
    assert not counts.operations.any()
    counts = count(by_block(STORES), build_cache, width=32 * len(STORES))
    assert counts.stored["picture"].tolist() == list(STORES.values())
    bodies = (f"const float a = src[i], b = weights[0]; dst[i] = {each};" for each in OPERATIONS)
    counts = count(by_block(bodies), build_cache, width=32 * len(OPERATIONS))
    found = dict(zip(OPERATIONS, (counts.operations // 32).tolist(), strict=True))
    assert found == {each: list(done) for each, done in OPERATIONS.items()}
    assert counts.flops == 32 * sum(2 * done[0] + sum(done[1:]) for done in OPERATIONS.values())


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


def test_blocks_that_access_nothing_count_and_unknown_operations_do_not():
    rows = "for (int row = y; row < end_row; row += 8)"
    found = counts(
        f"if (blockIdx.y == 0) {rows} row_of(dst, row, pitch)[x] = row_of(src, row, pitch)[x];"
    )
    assert (found.blocks_looked_at, found.blocks) == (4, 4)
    body = f"const float one = cosf(0.0f * height);\nif (one > 0.0f) {COPY}"
    found = counts(body)
    assert found.operations is None
    assert found.loaded["picture"] == 64 * 16 * 4


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


# -- a block's steps are what its threads did


RUNGS = [rung for rung in ladder() if rung.file < "10"]
# Rows reversed within the block, through shared memory.
MIRROR = """__shared__ float tile[8][33];
tile[threadIdx.y][threadIdx.x] = row_of(src, y, pitch)[x];
__syncthreads();
float sum = tile[threadIdx.y][31 - threadIdx.x];
for (int i = 0; i < 2; ++i)
    sum += i;
row_of(dst, y, pitch)[x] = sum;"""


def weights(size: int) -> np.ndarray:
    along = np.arange(1, size + 1, dtype=np.float32)
    return np.outer(along, along) / along.sum() ** 2


def job(pixel_type: str, size: int, channels: int, border: str, block: tuple[int, int]) -> Job:
    samples = np.random.default_rng(size).random((70, 90, channels)) * 255
    return Job.of(samples.astype(pixel_type), weights(size), border, block_xy=block)


def stepped(rung: Rung, of: Job, **rest) -> Stepped:
    *_, found = stepping(rung, of, **rest)
    return found


@cache
def steps_of(body: str) -> BlockSteps:
    picture = np.arange(64 * 16, dtype=np.float32).reshape(16, 64, 1)
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    found = stepped(rung, Job.of(picture, IDENTITY, block_xy=(32, 8)), at=(3, 1))
    assert found.steps is not None, found.problem
    return found.steps


JOBS = {
    "uint8": job("uint8", 3, 4, "mirror", (16, 8)),
    "float32": job("float32", 5, 1, "zero", (32, 8)),
}


@pytest.mark.parametrize(
    "rung",
    [pytest.param(each, marks=[pytest.mark.nightly] * (n % 2)) for n, each in enumerate(RUNGS)],
    ids=lambda rung: rung.key,
)
def test_recorded_stores_give_the_blocks_part_of_the_answer(rung):
    is_first = RUNGS.index(rung) % 4 < 2
    name, at = ("uint8", (45, 33)) if is_first else ("float32", (0, 69))
    found = stepped(rung, JOBS[name], at=at)
    steps, part = found.steps, found.job
    assert steps is not None, found.problem
    memory, is_stored = steps.answer()
    samples = part.width * part.channels
    rows = memory.view(part.picture.dtype).reshape(part.height, -1)[:, :samples]
    kept = is_stored.reshape(part.height, -1, part.picture.itemsize).all(2)[:, :samples]
    shape = part.picture.shape
    assert np.array_equal(rows[kept], found.answer.reshape(rows.shape)[kept])
    assert kept.reshape(shape)[found.pixel[1], found.pixel[0]].any()
    assert 0 <= steps.storing(found.pixel) < steps.threads
    for thread in range(steps.threads):
        assert (np.diff(steps.steps_of(thread)) > 0).all()  # in its own order


def test_threads_are_at_a_line_together_barriers_part_steps_and_lanes_tell_values():
    steps = steps_of(MIRROR)
    lines = [(steps.point(step).line, len(steps.threads_at(step))) for step in range(steps.count)]
    assert {count for _, count in lines} == {256}
    # The loop's own line once, its body's twice; lines of the body count from 7.
    assert [line for line, _ in lines][-5:] == [10, 11, 12, 12, 13]
    behind = steps.next_barrier(0)
    assert steps.point(behind - 1).line == 9  # __syncthreads()
    assert steps.barriers_before(behind) == 1
    assert steps.barrier_before(behind) == 0
    assert steps.next_barrier(behind) == steps.count - 1
    store = steps.next_barrier(0) - 2
    load, kept = steps.touches(store, 37)
    assert (load.array, load.where) == ("the picture", "x 5, y 1")
    assert (load.is_store, load.value) == (False, 69)
    assert (kept.array, kept.where, kept.is_store) == ("tile", "row 1, column 5", True)
    assert kept.value == 69


def test_no_compiler_is_told_to_unroll_what_is_no_loop_any_more():
    body = "#pragma unroll\nfor (int i = 0; i < 2; ++i) dst[i] = 1;\n"
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    text = told(rung).text
    assert "unroll" not in text
    assert text.count("\n") == rung.source.count("\n")


def test_the_tile_holds_what_was_stored_before_a_step():
    steps = steps_of(MIRROR)
    behind = steps.next_barrier(0)
    (before,), (after,) = steps.tiles(0), steps.tiles(behind)
    assert before.values.shape == after.values.shape == (8, 33)
    assert np.isnan(before.values).all()
    assert np.isnan(after.values[:, 32]).all()
    assert np.array_equal(after.values[1, :32], np.arange(64, 96))
    assert len(after.loaded) == 256
    assert not len(after.stored)


def test_of_stores_to_one_place_the_last_one_is_shown_whatever_their_sizes():
    steps = steps_of(
        "__shared__ unsigned words[256];\nconst int n = threadIdx.y * 32 + threadIdx.x;\n"
        "words[n] = 0x01010101;\n__syncthreads();\n"
        "reinterpret_cast<unsigned char*>(words)[4 * n] = 2;\n__syncthreads();\n"
        "row_of(dst, y, pitch)[x] = words[n];"
    )
    first = steps.next_barrier(0)
    (before,), (after,) = steps.tiles(first), steps.tiles(steps.next_barrier(first))
    assert (before.values == 0x01010101).all()
    assert (after.values == 0x01010102).all()


def test_vectors_are_shown_as_their_numbers_and_no_store_beyond_the_end_is():
    (rung,) = (each for each in ladder() if each.key == "tile_separable")  # uint4
    assert stepped(rung, JOBS["uint8"]).steps.tiles(0)[0].values.size > 0
    body = "__shared__ float4 tile[2][3]; tile[y % 2][x % 3] = make_float4(1, 2, 3, 4);\n"
    steps = steps_of(f"{body}if (x == 0) *(unsigned long long*)((int*)tile + 23) = 1; *dst = 1;")
    (tile,) = steps.tiles(steps.count - 1)
    assert np.array_equal(tile.values, [[1, 2, 3, 4] * 3] * 2)


def test_of_a_thread_that_reports_no_steps_nothing_is_known():
    body = (
        "if (x < 0) dst[1] = 1;\n#if 1\nelse\n#endif\nif (y == 0 && x >= 3) set(dst + x, src[x]);"
    )
    text = START.format(before="__device__ void set(sample* to, sample n) { *to = n; }", body=body)
    steps = stepped(own_kernel("mine.cu", text), JOBS["float32"], at=(3, 0)).steps
    assert [steps.variables(steps.count - 1, thread) for thread in (0, 40)] == [[], []]
    assert all(len(steps.threads_at(step)) == 29 for step in range(steps.count))


def test_a_step_is_found_without_a_copy_of_all():
    steps = steps_of(f"{MIRROR}\nfor (int i = 0; i < 200; ++i) dst[0] = i;")
    tracemalloc.start()
    steps.threads_at(steps.count - 1)
    assert tracemalloc.get_traced_memory()[1] < steps.count * steps.threads * 4
    tracemalloc.stop()


def test_variables_have_the_values_from_before_a_step():
    steps = steps_of(MIRROR)
    thread = 32 + 5
    behind = steps.next_barrier(0)
    assert "sum" not in dict(steps.variables(behind, thread))
    known = dict(steps.variables(behind + 1, thread))
    assert (known["x"], known["y"], known["sum"]) == ("5", "1", "90")
    last = dict(steps.variables(steps.count - 1, thread))
    assert last["sum"] == "91"
    assert "i" not in last


def test_the_steps_up_to_a_crash_are_kept():
    body = "int none = height - 16;\nint all = x / none;\ndst[all] = 1;"
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    picture = np.zeros((16, 64, 1), np.float32)
    found = stepped(rung, Job.of(picture, IDENTITY, block_xy=(32, 8)), at=(3, 1))
    assert "divides an integer by zero" in found.problem
    assert found.steps is not None
    assert found.line == found.steps.point(found.steps.count - 1).line


def test_a_block_too_long_and_a_text_that_does_not_compile_are_refused():
    rung = next(each for each in RUNGS if each.key == "global")
    found = stepped(rung, job("float32", 31, 1, "clamp", (32, 32)))
    assert found.steps is None
    assert found.problem == TOO_LONG
    rung = own_kernel("mine.cu", START.format(before="", body="int;x = = 1;"))
    found = stepped(rung, JOBS["uint8"])
    assert found.steps is None
    assert found.problem.startswith("Line ")


def racing(body: str) -> dict[int, tuple[int, str]]:
    """The racing threads of each line, and whom thread 37 meets."""
    steps, found = steps_of(body), {}
    for step in range(steps.count):
        rivals = "".join(each.rival for each in steps.touches(step, 37))
        found[steps.point(step).line] = int(steps.doing(step)["races"].sum()), rivals
    return found


def test_a_race_is_two_threads_at_the_same_bytes_with_no_barrier_between():
    # each row is a warp, which has barriers of its own, and reads its own row
    for barrier in ("__syncthreads", "__syncwarp"):
        found = racing(MIRROR.replace("__syncthreads", barrier))
        assert found[8] == found[10] == (0, "")
    found = racing(MIRROR.replace("__syncthreads();", ""))
    assert found[8] == (256, "thread (26, 1), which loads in line 10")
    assert found[10] == (256, "thread (26, 1), which stores in line 8")
    other = MIRROR.replace("__syncthreads", "__syncwarp").replace("y][31", "y ^ 1][31")
    assert racing(other)[10] == (256, "thread (26, 0), which stores in line 8")
    # bytes of one word are no race, a word and one of its bytes are
    shared = "__shared__ int all[64]; auto* each = (char*)all;\nif (y == 0) each[x % 64] = 1;\n"
    assert racing(f"{shared}dst[x] = 1;")[8][0] == 0
    assert racing(f"{shared}if (y == 1 && x < 8) all[x] = 2;\ndst[x] = 1;")[9][0] == 8
