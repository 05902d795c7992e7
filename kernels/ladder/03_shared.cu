/*---
title   = "Shared-memory tile"
idea    = "A block stages its tile and the halo around it in shared memory once; every tap is then a shared read."
after   = "constant"
weights = "constant"

[[passes]]
shared_bytes = "(BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }
flops = "2 * FILTERED * KSIZE**2"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // samples
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // rows
constexpr int LOADS = (TILE_W * TILE_H + THREADS - 1) / THREADS;  // a thread's share of the tile

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tile);  // TILE_H rows of TILE_W

    // 1. Stage.  tile[0] is the sample HALO_X left of and HALO_Y above the block's first.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    #pragma unroll (LOADS <= 16 ? LOADS : 4)
    for (int load = 0; load < LOADS; ++load) {
        const int at = load * THREADS + thread;
        if (at < TILE_W * TILE_H)
            tile[at] = read_sample(src, x0 + at % TILE_W, y0 + at / TILE_W, height, width, pitch);
    }
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
    #pragma unroll (KSIZE <= 31 ? KSIZE : 1)  // then a weight's address is part of its FMA
    for (int j = 0; j < KSIZE; ++j)
        #pragma unroll (KSIZE <= 31 ? KSIZE : 8)
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i] * corner[j * TILE_W + i * CHANNELS];
    row_of(dst, y, pitch)[x] = to_sample(sum);
}
