"""A block's steps are what its threads did, for rungs of the ladder and for other kernels."""

import tracemalloc
from functools import cache

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.device_code import told
from kernels.cuda_on_cpu.stepping import TOO_LONG, BlockSteps, Stepped, stepping
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cuda_on_cpu.bad_kernels import START

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
RUNGS = [rung for rung in ladder() if rung.file < "10"]
IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
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


def test_all_threads_are_at_a_line_together():
    steps = steps_of(MIRROR)
    lines = [(steps.point(step).line, len(steps.threads_at(step))) for step in range(steps.count)]
    assert {count for _, count in lines} == {256}
    # The loop's own line once, its body's twice; lines of the body count from 7.
    assert [line for line, _ in lines][-5:] == [10, 11, 12, 12, 13]


def test_no_compiler_is_told_to_unroll_what_is_no_loop_any_more():
    body = "#pragma unroll\nfor (int i = 0; i < 2; ++i) dst[i] = 1;\n"
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    text = told(rung).text
    assert "unroll" not in text
    assert text.count("\n") == rung.source.count("\n")


def test_a_barrier_parts_the_steps():
    steps = steps_of(MIRROR)
    behind = steps.next_barrier(0)
    assert steps.point(behind - 1).line == 9  # __syncthreads()
    assert steps.barriers_before(behind) == 1
    assert steps.barrier_before(behind) == 0
    assert steps.next_barrier(behind) == steps.count - 1


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


def test_a_lane_is_told_what_it_loads_and_stores():
    steps = steps_of(MIRROR)
    store = steps.next_barrier(0) - 2
    load, kept = steps.touches(store, 37)
    assert (load.array, load.where) == ("the picture", "x 5, y 1")
    assert (load.is_store, load.value) == (False, 69)
    assert (kept.array, kept.where, kept.is_store) == ("tile", "row 1, column 5", True)
    assert kept.value == 69


def test_the_steps_up_to_a_crash_are_kept():
    body = "int none = height - 16;\nint all = x / none;\ndst[all] = 1;"
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    picture = np.zeros((16, 64, 1), np.float32)
    found = stepped(rung, Job.of(picture, IDENTITY, block_xy=(32, 8)), at=(3, 1))
    assert "divides an integer by zero" in found.problem
    assert found.steps is not None
    assert found.line == found.steps.point(found.steps.count - 1).line


def test_a_block_that_takes_too_long_is_refused_in_a_sentence():
    rung = next(each for each in RUNGS if each.key == "global")
    found = stepped(rung, job("float32", 31, 1, "clamp", (32, 32)))
    assert found.steps is None
    assert found.problem == TOO_LONG


def test_a_text_that_does_not_compile_is_refused_on_its_line():
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
