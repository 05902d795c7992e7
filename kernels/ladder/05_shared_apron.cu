/*---
title   = "Apron"
idea    = "A thread loads its own place in the tile and those one block right, below and diagonally: no division, and the border is handled twice per axis, not for every sample."
after   = "shared"
weights = "constant"
requires = [
    ["2 * HALO_X <= BLOCK_X", "The apron is {HALO_X} samples wide on either side, and a second load along a row brings no more than {BLOCK_X}, the block's width. Choose a block of {2 * HALO_X} threads across or more, or a smaller size."],
    ["2 * HALO_Y <= BLOCK_Y", "The apron is {HALO_Y} rows high above and below, and a second load along a column brings no more than {BLOCK_Y}, the block's height. Choose a block of {2 * HALO_Y} threads down or more, or a smaller size."],
]

[[passes]]
shared_bytes = "(BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }
flops = "2 * FILTERED * KSIZE**2"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // samples
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // rows
static_assert(TILE_W <= 2 * BLOCK_X && TILE_H <= 2 * BLOCK_Y, "the header refuses this");

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tile);  // TILE_H rows of TILE_W

    // 1. Stage, at most two loads along each axis.  tile[0] is the sample HALO_X left of and HALO_Y
    //    above the block's first.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    int from_x[2];
    #pragma unroll
    for (int across = 0; across < 2; ++across)
        from_x[across] = border_sample(x0 + threadIdx.x + across * BLOCK_X, width);
    #pragma unroll
    for (int down = 0; down < 2; ++down) {
        const int tile_y = threadIdx.y + down * BLOCK_Y;
        const int from_y = border_index(y0 + tile_y, height);
        #pragma unroll
        for (int across = 0; across < 2; ++across) {
            const int tile_x = threadIdx.x + across * BLOCK_X;
            if (tile_x >= TILE_W || tile_y >= TILE_H) continue;
            const bool outside = from_x[across] == OUTSIDE || from_y == OUTSIDE;
            tile[tile_y * TILE_W + tile_x] =
                outside ? 0.0f : static_cast<float>(row_of(src, from_y, pitch)[from_x[across]]);
        }
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
