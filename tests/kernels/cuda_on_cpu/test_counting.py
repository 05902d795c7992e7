"""The counting shim counts what is loaded, stored and computed, each in its block."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.counting import IN_OTHER_WORDS, CountingShim, Counts, Trace
from kernels.cuda_on_cpu.shim import Shim
from kernels.rungs.rung import Pass, Rung, ladder

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
SIGNATURE = """
extern "C" __global__ void convolve(
    const sample* src, sample* dst, const float* weights, int height, int width, int, int, int)
{ const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= width) return;
"""


def count(body, cache, width=32, threads=32, pixel_type="float32", shared_bytes=0) -> Counts:
    """What `body` does in rows of `threads` threads, as many as there are pixels."""
    passes = (Pass(shared_bytes=str(shared_bytes)),)
    rung = Rung(
        "test", "test.cu", f"{SIGNATURE}{body}\n}}", "Test", "A test.", "global", passes=passes
    )
    picture = np.arange(width).astype(pixel_type).reshape(1, -1, 1)
    job = Job(picture, np.ones((3, 3), np.float32), block_xy=(threads, 1))
    (counts,) = CountingShim(rung, [job], cache).count(job)
    return counts


def test_bytes_are_counted_by_array_and_by_block(build_cache):
    body = "dst[i] = src[i] < 100.0f ? weights[0] : src[0];"
    counts = count(body, build_cache, width=40, threads=16)
    assert counts.loaded["picture"].tolist() == [64, 64, 32]  # the last block has 8 threads to do
    assert counts.loaded["weights"].tolist() == [64, 64, 32]
    assert counts.stored["picture"].tolist() == [64, 64, 32]
    assert not counts.operations.any()


@pytest.mark.parametrize(
    ("store", "size"),
    [
        ("dst[i] = src[i];", 32 * 4),
        ("*reinterpret_cast<uint4*>(dst + i / 4 * 4) = make_uint4(1, 2, 3, 4);", 32 * 16),
        ("*reinterpret_cast<uint2*>(dst + i / 2 * 2) = make_uint2(1, 2);", 32 * 8),
        ("*reinterpret_cast<float4*>(dst + i / 4 * 4) = make_float4(1, 2, 3, 4);", 32 * 16),
        ("if (i == 0) dst[31] = src[31];", 4),
        ("", 0),
    ],
)
def test_stores_of_any_width_are_counted(store, size, build_cache):
    assert count(store, build_cache).stored["picture"].sum() == size


@pytest.mark.parametrize(("pixel_type", "size"), [("uint8", 1), ("uint16", 2), ("float16", 2)])
def test_a_sample_has_the_bytes_that_it_is_stored_in(pixel_type, size, build_cache):
    counts = count("dst[i] = to_sample(src[i]);", build_cache, pixel_type=pixel_type)
    assert counts.loaded["picture"].sum() == counts.stored["picture"].sum() == 32 * size


def test_wide_loads_count_as_what_they_bring(build_cache):
    body = "const uint4 four = *reinterpret_cast<const uint4*>(src); dst[i] = four.x;"
    assert count(body, build_cache).loaded["picture"].sum() == 32 * 16


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


@pytest.mark.parametrize(
    ("expression", "operations"),
    [
        ("a", (0, 0, 0, 0)),
        ("-a", (0, 0, 0, 0)),
        ("fmaxf(a, b)", (0, 0, 0, 0)),
        ("a + b", (0, 0, 1, 0)),
        ("a * b", (0, 1, 0, 0)),
        ("a * b + 1.0f", (1, 0, 0, 0)),
        ("1.0f - a * b", (1, 0, 0, 0)),
        ("a * b - a * a", (1, 1, 0, 0)),
        ("a * (b - a)", (0, 1, 1, 0)),
        ("2.0f * (a * b) * (1.0f / b)", (0, 3, 0, 1)),
        ("sqrtf(a * a + b * b)", (1, 1, 0, 1)),
    ],
)
def test_a_product_that_is_added_is_one_multiply_add(expression, operations, build_cache):
    body = f"const float a = src[i], b = weights[0]; dst[i] = {expression};"
    counts = count(body, build_cache)
    assert counts.operations.tolist() == [[32 * each for each in operations]]
    assert counts.multiply_adds == 32 * operations[0]
    assert counts.flops == 32 * (2 * operations[0] + sum(operations[1:]))


def test_sums_count_in_place_as_well(build_cache):
    body = "float sum = src[i]; sum += 2.0f * src[i]; sum -= 1.0f; sum *= sum; dst[i] = sum;"
    assert count(body, build_cache).operations.tolist() == [[32, 32, 32, 0]]


def test_the_answer_is_the_same_as_without_counting(build_cache):
    rung = {each.key: each for each in ladder()}["shared"]
    random = np.random.default_rng(3)
    picture = random.standard_normal((9, 21, 3)).astype(np.float32)
    job = Job(picture, random.standard_normal((5, 5)).astype(np.float32), "wrap", "shared", (8, 8))
    counting, usual = CountingShim(rung, [job], build_cache), Shim(rung, [job], build_cache)
    np.testing.assert_array_equal(counting.run(job), usual.run(job))


def test_the_words_that_counting_changes_are_still_there():
    texts = "".join(rung.text for rung in ladder())
    for words in IN_OTHER_WORDS:
        assert words in texts


def trace(body, cache, width=40, threads=16, shared_bytes=0) -> Trace:
    """As `count`, but every access."""
    passes = (Pass(shared_bytes=str(shared_bytes)),)
    rung = Rung(
        "test", "test.cu", f"{SIGNATURE}{body}\n}}", "Test", "A test.", "global", passes=passes
    )
    picture = np.arange(width, dtype=np.float32).reshape(1, -1, 1)
    job = Job(picture, np.ones((3, 3), np.float32), block_xy=(threads, 1))
    (found,) = CountingShim(rung, [job], cache).trace(job)
    return found


def test_every_address_is_written_down_with_its_block_and_thread(build_cache):
    found = trace("dst[i] = src[width - 1 - i];", build_cache)
    loads = found.of(1, "picture", is_store=False)
    assert loads["thread"].tolist() == list(range(16))
    assert loads["offset"].tolist() == [4 * (39 - 16 - thread) for thread in range(16)]
    stores = found.of(2, "picture", is_store=True)
    assert stores["offset"].tolist() == [4 * (32 + thread) for thread in range(8)]
    assert set(stores["size"]) == {4}


def test_shared_memory_is_written_down_from_its_begin(build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = src[i];
    dst[i] = tile[threadIdx.x / 2];
    """
    found = trace(body, build_cache, shared_bytes=64)
    for block, threads in ((0, 16), (2, 8)):
        stores, loads = (found.of(block, "tile", is_store) for is_store in (True, False))
        assert stores["offset"].tolist() == [4 * thread for thread in range(threads)]
        assert loads["offset"].tolist() == [thread // 2 * 4 for thread in range(threads)]


def test_only_a_trace_writes_down(build_cache):
    rung = Rung("test", "test.cu", f"{SIGNATURE}dst[i] = src[i];\n}}", "Test", "A test.", "global")
    picture = np.zeros((1, 8, 1), np.float32)
    job = Job(picture, np.ones((3, 3), np.float32), block_xy=(8, 1))
    shim = CountingShim(rung, [job], build_cache)
    assert shim.count(job)[0].loaded["picture"].sum() == 32
    assert len(shim.trace(job)[0].accesses) == 16
    assert shim.count(job)[0].stored["picture"].sum() == 32
