"""Faults that no right output hides: races, bounds, rows, state that launches leave behind."""

import re

import numpy as np
import pytest

from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.core.verdict import Check
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import Region, rows_fault, rows_to_try
from kernels.cuda_on_cpu.trial import BugSearch, finding_bug, trial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START

pytestmark = [
    pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not())),
    pytest.mark.usefixtures("without_cuda"),
]
IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
ALL = "0xffffffffu"
BEGIN = """\
__shared__ int tile[256], other[256], count;
const int at = threadIdx.y * 32 + threadIdx.x, lane = threadIdx.x;
const bool is_in = x < width && y < end_row;
const int mine = is_in ? row_of(src, y, pitch)[x] : 0;
"""
END = "if (is_in) row_of(dst, y, pitch)[x] = sample(mine + 0 * got);"
DEVICE = "__device__ int kept[1 << 17]; __device__ int ticket;"
WHOLE = Region(0, 0, 40, 12, True)


def a_job(size: tuple[int, int] = (40, 12)) -> Job:
    picture = np.random.default_rng(4).integers(1, 255, (size[1], size[0], 1), np.uint8)
    return Job.of(picture, IDENTITY, block_xy=(32, 8))


def text(body: str) -> str:
    return START.format(before=DEVICE, body=f"{BEGIN}{body}\n{END}")


def tried(body: str, job: Job | None = None) -> KernelTrial:
    *_, outcome = trial(own_kernel("mine.cu", text(body)), job or a_job(), whole=True)
    assert isinstance(outcome, KernelTrial)
    return outcome


def found(body: str) -> Finding | None:
    *_, outcome = finding_bug(own_kernel("mine.cu", text(body)), a_job())
    assert outcome is None or isinstance(outcome, Finding)
    return outcome


# The line of the second access, counted in the body; the answer is right in any order.
RACES = {
    "a tile loaded again": (
        "tile[at] = mine; __syncthreads();\nint got = tile[at ^ 33];\ntile[at] = mine;"
    ),
    "memory from malloc": (
        "__shared__ int* room; if (at == 0) room = (int*)malloc(4); __syncthreads(); int got = 0;\n"
        "*room = at;\n__syncthreads(); if (at == 0) free(room);"
    ),
    "only where nobody looks for one": (
        "int got = 0;\n#if !defined(WATCHED) && !defined(__SANITIZE_THREAD__)\ncount = 7;\n#endif"
    ),
    "the same value by all": "count = 7;\n__syncthreads(); int got = count;",
    "read by many, written after a warp's barrier": (
        "tile[at] = 1; __syncthreads(); int got = tile[0]; __syncwarp();\nif (at == 0) tile[0] = 1;"
    ),
    "read by half a warp that did not come": (
        "tile[at] = 1; __syncthreads(); int got = at < 32 ? tile[0] : 0;\n"
        "if (at < 16) { __syncwarp(0xffff); __syncwarp(0xffff); if (at == 3) tile[0] = 1; }"
    ),
    "halves of a warp that wait each for itself": (
        "tile[at] = mine;\nif (lane < 16) __syncwarp(0xffffu); else __syncwarp(0xffff0000u);\n"
        "int got = tile[at ^ 16];"
    ),
    "a shuffle for a warp's barrier": (
        f"tile[at] = mine;\n__shfl_sync({ALL}, 0, 0);\nint got = tile[at ^ 1];"
    ),
    "a vote for a warp's barrier": (
        f"tile[at] = mine;\n__any_sync({ALL}, 1);\nint got = tile[at ^ 1];"
    ),
    "a warp's barrier for a block's": "tile[at] = mine;\n__syncwarp();\nint got = tile[at ^ 32];",
    "a lost update": "if (at == 0) count = 0; __syncthreads();\ncount = count + 1; int got = 0;",
    "atomics before the first value": (
        "if (at == 0) count = 0;\natomicAdd(&count, 1); __syncthreads(); int got = count;"
    ),
    "read among atomics": (
        "if (at == 0) count = 0; __syncthreads();\natomicAdd(&count, 1);\nint got = count;"
    ),
    "a vector": "__shared__ float4 all[32];\nall[lane] = make_float4(1, 2, 3, 4); int got = 0;",
    "what a function returns": (
        "struct Two { int a, b; }; __shared__ Two two; auto give = [](int n) { return Two{n, n}; };"
        "\ntwo = give(at); int got = 0;"
    ),
    "a byte by memset": "\nmemset(tile, 0, 1); int got = 0;",
    "a variable of the device": "kept[0] = 1; int got = 0;",
    "what another block leaves": (
        "int got = kept[blockIdx.x * 256 + at + 1];\nkept[blockIdx.x * 256 + at] = 1;"
    ),
    "what another block reads": "int got = dst[0];\n",
    "a ticket without a fence": (
        "kept[blockIdx.x * 256 + at] = 1; __syncthreads();\n"
        "if (at == 0) count = atomicAdd(&ticket, 1); __syncthreads();\n"
        "int got = kept[(1 - blockIdx.x) * 256 * (count > 0)];"
    ),
    "a ticket with the block's fence alone": (
        "kept[blockIdx.x * 256 + at] = 1; __threadfence_block(); __syncthreads();\n"
        "if (at == 0) count = atomicAdd(&ticket, 1); __syncthreads();\n"
        "int got = count ? kept[(1 - blockIdx.x) * 256] : 0;"
    ),
    "a flag without a fence": (
        "if (at == 0) count = 0; __syncthreads();\n"
        "int got = 0; if (at == 0) { tile[0] = 1; atomicExch(&count, 1); }\n"
        "if (at == 200 && atomicAdd(&count, 0)) got = tile[0];"
    ),
}
# Run one after another: none may touch what the one before is not done with.
TOGETHER = {
    "barriers of blocks": (
        "tile[at] = mine; __syncthreads(); int got = tile[at ^ 33]; __syncthreads();\n"
        "tile[at] = got; __syncthreads(); got = tile[at ^ 40];"
    ),
    "barriers of warps": (
        "tile[at] = mine; __syncwarp(); int got = tile[at ^ 1]; __syncwarp(); tile[at] = got;\n"
        "if (lane < 8) { __syncwarp(0xffu); got = tile[at ^ 7]; __syncwarp(0xffu); tile[at] = 1; }"
        "\n__syncwarp(); got += tile[at ^ 31];"
    ),
    "atomics": (
        "if (at == 0) count = 0; __syncthreads();\natomicAdd(&count, 1); __syncthreads();\n"
        "int got = count - 256; if (got) dst[0] = 1;"
    ),
    "memory from malloc": (
        "int* a = (int*)malloc(4 + 4 * at); *a = mine; int got = *a; free(a);\n"
        "a = (int*)malloc(64); a[15] = got; got = a[15]; free(a); __shared__ int* room;\n"
        "if (at == 0) room = (int*)malloc(1024); __syncthreads(); room[at] = got;\n"
        "__syncthreads(); got = room[at ^ 33]; __syncthreads(); if (at == 0) free(room);"
    ),
}
RIGHT = {
    "all of those": "".join(f"{{ {body} }}\n__syncthreads();\n" for body in TOGETHER.values())
    + "int got = 0;",
    "one reads after all have come": (
        "tile[at] = mine; if (at == 0) count = 0; __syncthreads(); other[at] = tile[at ^ 33];\n"
        "__threadfence_block(); int got = 0;\n"
        "if (atomicAdd(&count, 1) == 255) for (int i = 0; i < 256; ++i) got += other[i];"
    ),
    "the last block reads what all have left": (
        "int blocks = gridDim.x * gridDim.y, block = blockIdx.y * gridDim.x + blockIdx.x;\n"
        "kept[block * 256 + at] = 1; __threadfence(); __syncthreads();\n"
        "if (at == 0) count = atomicAdd(&ticket, 1); __syncthreads(); int got = 0;\n"
        "if (count < blocks - 1 || at > 9) blocks = 0; for (int i = 0; i < blocks * 256; ++i)\n"
        "got += kept[i]; if (blocks && at == 0) ticket = 0; if (got != blocks * 256) dst[0] = 0;"
    ),
    "a lock": (
        "if (at == 0) { count = 0; tile[0] = 0; } __syncthreads();\n"
        "if (at % 8 == 0) { while (atomicCAS(&count, 0, 1)) {} tile[0] = tile[0] + 1;\n"
        "__threadfence_block(); atomicExch(&count, 0); } __syncthreads();\n"
        "int got = 0; if (tile[0] != 32) dst[0] = 0;"
    ),
    "threads that have ended before a barrier": (
        "if (!is_in) return;\ntile[at] = mine; __syncthreads(); int got = tile[at];\n"
        "if (lane == 3) { row_of(dst, y, pitch)[x] = sample(mine); return; }\n"
        "__syncthreads(); got = __syncthreads_count(1); __syncthreads();"
    ),
    "lanes that have ended before a shuffle, and words that the runtime has, too": (
        f"int got = 0; if (lane > 7) {{ {END} return; }}\ngot = __shfl_xor_sync({ALL}, mine, 4);\n"
        f"got = __popc(__ballot_sync({ALL}, 1)) + __reduce_add_sync(255, 1);\n"
        "if (got != 16) return;\n#define launch 1\n#define how 2\n#define void_ 3\n"
        "#define arguments(a) 4\n#define signature 5\n"
        "got = launch + how + arguments(6) + signature;"
    ),
}
# Their likes are tried each time.
NIGHTLY = (
    *("the same value by all", "a vote for a warp's barrier", "a variable of the device"),
    *("read by half a warp that did not come", "a flag without a fence", "a lost update"),
    *("a byte by memset", "read among atomics"),
)
BOUNDS = {
    "far below the picture": "volatile int junk = src[(y + 40) * pitch + x]; int got = 0;",
    "behind a row's end": (
        "int got = is_in ? row_of(src, y, pitch)[x + 3] : 0; if (x + 3 >= width) got = 0;"
    ),
    "behind the weights": (
        "const float* weights = WEIGHTS; int got = 0;\n"
        "for (int i = 0; i <= KSIZE * KSIZE; ++i) got += i < KSIZE * KSIZE ? 0 : weights[i] > 0;"
    ),
    "behind an array of the device": "int* all = kept; int got = all[(1 << 17) + (x >= 0)];",
}
FAR = {
    "bounds": "int got = 0; if (y > 200) { volatile int junk = src[(y + 99) * pitch + x]; }",
    "race": "if (blockIdx.x == 6) count = 7; int got = 0;",
    "barrier": "if (blockIdx.y == 20 && lane == 3) __syncthreads(); int got = 0;",
}
BESIDE = {
    "row −2": "if (x == 0 && y == 255) { volatile int junk = src[x - 2 * pitch]; } int got = 0;",
    "row 500": "int got = 0; if (x == 299 && y == 255) { volatile int junk = src[500 * pitch]; }",
}
STATE = {
    "counts its launches": (
        "int got = 0; if (at == 0) count = atomicAdd(&ticket, 1); __syncthreads();\n"
        "if (count >= gridDim.x * gridDim.y) return;"
    ),
    "keeps the first picture": (
        "int got = 0; if (is_in) { int& own = kept[y * width + x];\n"
        "if (!own) own = mine; row_of(dst, y, pitch)[x] = own; return; }"
    ),
    "writes what has changed": (
        "int got = 0; if (is_in) { int& own = kept[y * width + x];\n"
        "if (own == mine) return; own = mine; }"
    ),
}
AROUND = {
    "a block's barrier": "if (lane < 5)\n__syncthreads(); int got = 0;",
    "a warp's barrier": "if (lane & 1)\n__syncwarp(); int got = 0;",
    "a shuffle": f"int got = 0; if (lane < 7)\ngot = __shfl_sync({ALL}, 1, 0);",
}
BY_ORDER = {
    "a warp's barrier for a block's": (
        "tile[at] = mine; __syncwarp();\nif (tile[at ^ 224] < 0) return;"
    ),
    "a shuffle for a block's barrier": (
        f"tile[at] = mine; __shfl_sync({ALL}, 0, 0);\nif (tile[at ^ 224] < 0) return;"
    ),
    "a lost update by atomics": (
        "if (at == 0) tile[0] = 0; __syncthreads();\n"
        "const int old = atomicAdd(tile, 0); atomicExch(tile, old + 1); __syncthreads();\n"
        "if (tile[0] != 256) return;"
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] if name in NIGHTLY else []) for name in RACES],
)
def test_a_race_is_found_whatever_the_answer(name):
    finding = found(RACES[name])
    assert finding is not None
    assert finding.kind == "race", finding.sentence
    assert re.match(r"Line \d+: thread .* no barrier between", finding.sentence), finding.sentence


@pytest.mark.parametrize("name", BOUNDS)
def test_a_read_beyond_an_array_is_found_whatever_is_made_of_it(name):
    finding = found(BOUNDS[name])
    assert finding is not None
    assert finding.kind == "bounds", finding.sentence


@pytest.mark.parametrize("kind", FAR)
def test_what_far_blocks_alone_do_is_found(kind):
    finding = found(FAR[kind])
    assert finding is not None
    assert finding.kind == kind, finding.sentence
    assert (finding.is_far, finding.region, finding.thread) == (True, WHOLE, None)


@pytest.mark.parametrize("bound", ["1 << 30", "width * CHANNELS + 8"])
@pytest.mark.parametrize("block_xy", [(32, 8), (256, 1)])
def test_a_row_written_too_far_is_found_whatever_the_width_of_the_picture(bound, block_xy):
    picture = np.zeros((512, 768, 3), np.uint8)
    job = Job.of(picture, IDENTITY, block_xy=block_xy)
    body = f"if (x < {bound} && y < end_row) row_of(dst, y, pitch)[x] = 0;"
    *_, finding = finding_bug(own_kernel("mine.cu", START.format(before="", body=body)), job)
    assert finding is not None
    assert finding.kind == "bounds"


@pytest.mark.parametrize("row", BESIDE)
def test_one_read_beyond_a_large_picture_is_a_fault(row):
    outcome = tried(BESIDE[row], a_job((300, 260)))
    assert f"reads {row} of the picture" in outcome.problem
    assert outcome.answer is not None
    assert not outcome.ok


@pytest.mark.parametrize("name", AROUND)
def test_threads_that_went_around_a_barrier_are_found_though_they_have_ended(name):
    finding = found(AROUND[name])
    assert finding is not None
    assert (finding.kind, finding.line) == ("barrier", 12), finding.sentence


def test_what_the_answer_held_before_is_not_to_be_read():
    finding = found("int got = is_in ? row_of(dst, y, pitch)[x] : 0;")
    assert finding is not None
    assert finding.kind == "uninitialised", finding.sentence


def test_a_lane_that_has_ended_shows_no_value():
    store = "if (is_in) row_of(dst, y, pitch)[x] = sample(mine);"
    ended = f"if (lane == 31) {{ {store} return; }} int got = __shfl_down_sync({ALL}, 0, 1);"
    assert not tried(f"{ended}\nif (got) return;").ok


@pytest.mark.parametrize("name", STATE)
def test_what_a_launch_leaves_to_the_next_is_found(name):
    outcome = tried(STATE[name])
    assert not outcome.ok
    assert "earlier launch" in outcome.problem
    finding = found(STATE[name])
    assert finding is not None
    assert finding.kind == "order", finding.sentence


@pytest.mark.parametrize("name", BY_ORDER)
def test_warps_run_in_orders_in_which_it_shows(name):
    outcome = tried(f"{BY_ORDER[name]}\nint got = 0;")
    assert not outcome.ok


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_ordered_is_no_race(name):
    outcome = tried(RIGHT[name])
    assert outcome.ok, outcome.problem or outcome.check
    assert found(RIGHT[name]) is None


@pytest.mark.nightly
@pytest.mark.parametrize("key", ["tensor_tile_bytes", "tensor_dense_bytes"])
def test_a_warp_waits_for_all_that_it_reads_beside_its_line(key):
    # 46 pixels of three samples are a line of 128 and ten more: nine of these count, 32 are read.
    picture = np.random.default_rng(1).integers(0, 256, (9, 46, 3), np.uint8)
    weights = np.full((7, 7), 1 / 49, np.float32)
    job = Job.of(picture, weights, "mirror", block_xy=(32, 8), implementation=key)
    (rung,) = (each for each in ladder() if each.key == key)
    finding = list(finding_bug(rung, job))[-1]
    assert finding is None, finding


@pytest.mark.parametrize(("kind", "is_bug"), [("race", True), ("deadline", False)])
def test_only_a_bug_is_held_against_a_right_output(kind, is_bug):
    finding = Finding(kind, "What was found.", Region(0, 0, 9, 9, True))
    check = BugSearch(finding).verdict(Check(0.0, (0, 0, 0), 0, 0, 1.0, 9, 9), None)
    assert (check.ok, bool(check.unsearched)) == (not is_bug, not is_bug)
    assert not check.is_verified


def test_rows_that_add_up_in_another_order_are_as_right():
    """As running sums do: the last bits depend on where they begin."""
    picture = np.random.default_rng(2).random((12, 9, 1), np.float32)
    job = Job.of(picture, IDENTITY)
    rung = own_kernel("mine.cu", START.format(before="", body=COPY))
    rows = rows_to_try(12)
    as_before = np.ones(picture.shape, np.bool_)
    as_before[slice(*rows)] = False
    nearly = np.nextafter(picture, np.float32(2))
    assert outcome_of(rows_fault(rung, job, rows, picture, nearly, as_before)) == ("", None)
    words, place = outcome_of(rows_fault(rung, job, rows, picture, picture * 2, as_before))
    assert f"Row {rows[0]} comes out wrong" in words
    assert place is None
