/*---
title   = "Separable, two passes"
idea    = "Weights that are a column times a row need 2 K taps instead of K²: first along rows, then along the columns of what that gave."
after   = "shared"
weights = "separable"
requires = [["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."]]
chain_length = "2 * KSIZE"
error_factor = 2.0  # worked out below

[buffers]
sums = "HEIGHT * PITCH * 4"

[[passes]]
function = "along_rows"
halo = ["HALO_X", "0"]
writes = "sums"
shared_bytes = "(BLOCK_X + 2 * HALO_X) * BLOCK_Y * 4"
loads = { picture = "BLOCKS_X * HEIGHT * (COVERS_X + 2 * HALO_X)" }
flops = "2 * SAMPLES * KSIZE"

[[passes]]
function = "along_columns"
halo = ["0", "HALO_Y"]
reads = "sums"
shared_bytes = "BLOCK_X * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { sums = "WIDTH * CHANNELS * BLOCKS_Y * (COVERS_Y + 2 * HALO_Y)" }
flops = "2 * SAMPLES * KSIZE"
---*/

// How far off, in units of 2^-24 * sum|w| * max|p|: K roundings along a row and K along a column are
// 2 K.  Column and row are float32 themselves, and their products differ from the weights by 5 at
// most (kernels/core/weights.py).  So 2 K + 5, which for K >= 3 is within twice the chain of 2 K; for
// K = 1 the column is exactly 1.

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

extern "C" __global__ void along_rows(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ sums,        // the same, neither rounded nor cut off
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of sums that this launch writes
{
    constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // a halo left and right, none above and below
    DYNAMIC_SHARED(float, tile);                  // BLOCK_Y rows of TILE_W

    // 1. Stage.  A row of threads fills a row of the tile.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (y < end_row) {
        const sample* row = row_of(src, y, pitch);
        #pragma unroll 4
        for (int tile_x = threadIdx.x; tile_x < TILE_W; tile_x += BLOCK_X)
            tile[threadIdx.y * TILE_W + tile_x] = read_along(row, x0 + tile_x, width);
    }
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Convolve.
    const int x = x0 + HALO_X + threadIdx.x;
    if (x >= width * CHANNELS || y >= end_row) return;

    const float* left = tile + threadIdx.y * TILE_W + threadIdx.x;  // under ROW[0]
    float sum = 0.0f;
    #pragma unroll  // so that a weight's address is part of its FMA
    for (int i = 0; i < KSIZE; ++i) sum += ROW[i] * left[i * CHANNELS];
    // A float holds what any pixel type does, so alpha can pass through the sums.
    row_of(sums, y, pitch)[x] = is_alpha(x) ? left[HALO_X] : sum;
}

extern "C" __global__ void along_columns(
    const float* __restrict__ sums,  // (height, width, CHANNELS), of along_rows
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // a halo above and below, none left and right
    DYNAMIC_SHARED(float, tile);                  // TILE_H rows of BLOCK_X

    // 1. Stage.  The border along y continues the sums as along_rows would have those of rows there.
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    if (x < width * CHANNELS) {
        #pragma unroll 4
        for (int tile_y = threadIdx.y; tile_y < TILE_H; tile_y += BLOCK_Y) {
            const int from = border_index(y0 + tile_y, height);
            tile[tile_y * BLOCK_X + threadIdx.x] = from == OUTSIDE ? 0.0f : row_of(sums, from, pitch)[x];
        }
    }
    __syncthreads();

    // 2. Convolve.
    const int y = y0 + HALO_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    const float* top = tile + threadIdx.y * BLOCK_X + threadIdx.x;  // under COLUMN[0]
    float sum = OFFSET;
    #pragma unroll
    for (int j = 0; j < KSIZE; ++j) sum += COLUMN[j] * top[j * BLOCK_X];
    row_of(dst, y, pitch)[x] = to_sample(is_alpha(x) ? top[HALO_Y * BLOCK_X] : sum);
}
