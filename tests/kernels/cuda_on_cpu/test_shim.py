"""The shim does what CUDA does, and says what CUDA leaves undefined."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shim import LaunchError, Order
from kernels.rungs.rung import Pass, Rung
from tests.kernels.on_cpu import Shim

pytestmark = [
    pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not())),
    pytest.mark.parametrize("order", Order),
]
THREADS = 64
SIGNATURE = """
extern "C" __global__ void convolve(
    const sample* src, sample* dst, const float* weights, int height, int width, int, int, int)
"""


def launch(
    body: str, order: Order, cache: Path, shared_bytes: int = 0, blocks: int = 1
) -> NDArray[np.float32]:
    """Run `body` in rows of 64 threads: src counts 0, 1, 2, ...; `i` is the thread's own."""
    start = "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    source = f"{SIGNATURE}{{\n{start}{body}\n}}"
    passes = (Pass(shared_bytes=str(shared_bytes)),)
    rung = Rung("test", "test.cu", source, "Test", "A test.", "global", passes=passes)
    picture = np.arange(THREADS * blocks, dtype=np.float32).reshape(1, -1, 1)
    job = Job.of(picture, np.ones((1, 1), np.float32), block_xy=(THREADS, 1))
    return Shim(rung, [job], cache).run(job, order).ravel()


def test_threads_meet_at_a_barrier(order, build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = src[i];
    __syncthreads();
    dst[i] = tile[blockDim.x - 1 - threadIdx.x];
    """
    answer = launch(body, order, build_cache, shared_bytes=4 * THREADS, blocks=2)
    np.testing.assert_array_equal(answer, [*range(63, -1, -1), *range(127, 63, -1)])


def test_shuffles_stay_within_parts_of_a_warp(order, build_cache):
    body = """
    const unsigned all = 0xffffffffu;
    float value = __shfl_down_sync(all, src[i], 4, 16);
    value += 100 * __shfl_up_sync(all, src[i], 4, 16);
    value += 10000 * __shfl_sync(all, src[i], 17, 16);
    dst[i] = value + 1000000 * __shfl_xor_sync(all, src[i], 16, 16);
    """
    lane = np.arange(THREADS)
    first = lane // 16 * 16
    down = np.where(lane % 16 < 12, lane + 4, lane)
    up = np.where(lane % 16 >= 4, lane - 4, lane)
    across = np.where(lane % 32 < 16, lane, lane - 16)  # a later part shows it nothing
    expected = (down + 100 * up + 10000 * (first + 1) + 1000000 * across).astype(np.float32)
    np.testing.assert_allclose(launch(body, order, build_cache), expected, rtol=1e-6)


def test_half_a_warp_waits_for_itself_alone(order, build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = src[i];
    if (threadIdx.x % 32 < 16) {
        __syncwarp(0x0000ffffu);
        dst[i] = tile[threadIdx.x ^ 15];
    }
    __syncthreads();
    if (threadIdx.x % 32 >= 16) dst[i] = src[i];
    """
    answer = launch(body, order, build_cache, shared_bytes=4 * THREADS)
    half = [*range(15, -1, -1), *range(16, 32)]
    np.testing.assert_array_equal(answer, [*half, *(32 + each for each in half)])


def test_a_barrier_in_a_loop_holds_every_time(order, build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    float value = src[i];
    for (int step = 0; step < 5; ++step) {
        tile[threadIdx.x] = value;
        __syncthreads();
        value = tile[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    dst[i] = value;
    """
    answer = launch(body, order, build_cache, shared_bytes=4 * THREADS)
    np.testing.assert_array_equal(answer, np.roll(np.arange(64), -5))


def test_a_warp_matches_and_reduces(order, build_cache):
    body = """
    if (threadIdx.x == 63) return;
    const unsigned all = 0xffffffffu, mine = threadIdx.x < 32 ? all : all >> 1;
    int are_equal;
    const int value = threadIdx.x % 32 / 8;
    __syncwarp();
    unsigned found = __activemask() == mine;
    found += 2 * (__match_any_sync(all, 10.0 * value) == (0xffu << 8 * value & mine));
    found += 4 * (__match_all_sync(all, 7ll, &are_equal) == mine && are_equal);
    found += 8 * (__match_all_sync(all, value, &are_equal) == 0 && !are_equal);
    found += 16 * (__reduce_add_sync(all, -value) == (threadIdx.x < 32 ? -48 : -45));
    found += 32 * (__reduce_min_sync(all, value - 1) == -1);
    found += 64 * (__reduce_max_sync(all, unsigned(value)) == 3);
    found += 128 * (__reduce_and_sync(all, value + 4) == 4 && __reduce_or_sync(all, value) == 3);
    found += 256 * (__reduce_xor_sync(all, 1u << threadIdx.x % 32) == mine);
    __syncwarp();
    dst[i] = found;
    """
    answer = launch(body, order, build_cache)
    assert (answer[:63] == 511).all()


def test_a_block_counts_and_votes(order, build_cache):
    body = """
    float found = __syncthreads_count(threadIdx.x % 3 == 0);
    for (int turn = 0; turn < 3; ++turn) found += 100 * __syncthreads_count(threadIdx.x < turn);
    found += 1000 * __syncthreads_or(threadIdx.x == 5) + 4000 * __syncthreads_or(0);
    found += 10000 * __syncthreads_and(threadIdx.x < 64);
    dst[i] = found + 40000 * __syncthreads_and(threadIdx.x < 63);
    """
    assert (launch(body, order, build_cache, blocks=2) == 22 + 300 + 1000 + 10000).all()


def test_atomics_of_all_kinds(order, build_cache):
    body = """
    __shared__ unsigned at[4];
    if (threadIdx.x < 4) at[threadIdx.x] = threadIdx.x == 1 ? 5 : 0;
    __syncthreads();
    atomicInc(&at[0], 9);
    atomicDec(&at[1], 6);
    atomicAdd_block(&at[2], 2u);
    atomicMax_system(&at[3], threadIdx.x);
    __syncthreads();
    dst[i] = __ldcg(&at[threadIdx.x % 4]);
    """
    assert launch(body, order, build_cache)[:4].tolist() == [64 % 10, (5 - 64) % 7, 128, 63]


def test_shared_memory_is_full_of_nan_in_every_block(order, build_cache):
    body = """
    DYNAMIC_SHARED(float, tile);
    dst[i] = tile[threadIdx.x];
    tile[threadIdx.x] = 1.0f;
    """
    assert np.isnan(launch(body, order, build_cache, shared_bytes=4 * THREADS, blocks=3)).all()


def test_a_barrier_waits_for_no_thread_that_has_ended(order, build_cache):
    body = (
        "__shared__ int sum; if (i == 0) sum = 0; __syncthreads();\n"
        "if (i % 3 == 1) { dst[i] = -1; return; }\natomicAdd(&sum, 1); __syncthreads();\n"
        "dst[i] = sum + __syncthreads_count(i % 3 == 2);"
    )
    threads = np.arange(THREADS)
    there, some = (threads % 3 != 1).sum(), (threads % 3 == 2).sum()
    expected = np.where(threads % 3 == 1, -1, there + some)
    np.testing.assert_array_equal(launch(body, order, build_cache), expected)


def test_threads_at_different_barriers_are_named_and_the_next_launch_is_well(order, build_cache):
    body = "if (threadIdx.x < 3) __syncthreads();\nelse __syncthreads();\ndst[i] = 0;"
    with pytest.raises(
        LaunchError, match=r"Line 6: 3 of the 64 .* and others elsewhere, thread \(3, 0\) at line 7"
    ):
        launch(body, order, build_cache)
    with pytest.raises(LaunchError):
        launch("if (threadIdx.x) __syncthreads(); else __syncthreads();", order, build_cache)
    np.testing.assert_array_equal(
        launch("dst[i] = src[i];", order, build_cache), np.arange(THREADS)
    )
