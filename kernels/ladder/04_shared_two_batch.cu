/*---
title   = "Two loads per thread"
idea    = "No loop fills the tile: every thread loads one sample of it, and then most load a second one."
after   = "shared"
weights = "constant"
requires = [[
    "(BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) <= 2 * THREADS",
    "The tile with its halo has {BLOCK_X + 2 * HALO_X}×{BLOCK_Y + 2 * HALO_Y} = {(BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y)} samples; two loads by each thread of a {BLOCK_X}×{BLOCK_Y} block fill no more than {2 * THREADS}. Choose a larger block or a smaller size.",
]]

[[passes]]
shared_bytes = "(BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }
flops = "2 * FILTERED * KSIZE**2"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // samples
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // rows
static_assert(TILE_W * TILE_H <= 2 * THREADS, "the header refuses this");

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tile);  // TILE_H rows of TILE_W

    // 1. Stage, in two batches.  tile[0] is the sample HALO_X left of and HALO_Y above the block's
    //    first.  The first batch needs no guard: there are never fewer samples than threads.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    const int one = threadIdx.y * BLOCK_X + threadIdx.x;
    const int two = one + THREADS;
    tile[one] = read_sample(src, x0 + one % TILE_W, y0 + one / TILE_W, height, width, pitch);
    if (two < TILE_W * TILE_H)
        tile[two] = read_sample(src, x0 + two % TILE_W, y0 + two / TILE_W, height, width, pitch);
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Convolve out of shared memory.
    const int x = x0 + HALO_X + threadIdx.x;
    const int y = y0 + HALO_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    const float* corner = tile + threadIdx.y * TILE_W + threadIdx.x;  // under WEIGHTS[0]
    float sum = OFFSET;
    #pragma unroll  // no more than some 500 taps: see the header
    for (int j = 0; j < KSIZE; ++j)
        #pragma unroll
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i] * corner[j * TILE_W + i * CHANNELS];
    row_of(dst, y, pitch)[x] = to_sample(sum);
}
