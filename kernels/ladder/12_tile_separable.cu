/*---
title   = "Separable tile"
idea    = "Both passes in one launch: a block stages a tile and its halo, keeps the sums along rows in shared memory, and sums those down the columns. The sums never leave the chip."
after   = "separable_flat"
weights = "separable"
includes = ["wide", "async", "separable"]
own_block = "A block has 256 threads, as many as a tile of bands and quads needs."
requires = [["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."]]
chain_length = "2 * KSIZE"
error_factor = 2.0  # as for separable

[[passes]]
block = ["256", "1"]
covers = ["256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128", "32 if KSIZE <= 15 else 64"]
shared_bytes = """16 * ((32 if KSIZE <= 15 else 64) + KSIZE - 1) * (
    (256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) * SAMPLE_BYTES // 16 + 2 * -(-HALO_X * SAMPLE_BYTES // 16) + (4 if SAMPLE_BYTES == 4 and HALO_X <= 4 else 1) + (256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) // 4 + 1)"""
loads = { picture = "BLOCKS_Y * (COVERS_Y + KSIZE - 1) * STAGED" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = """2 * KSIZE * (BLOCKS * COVERS_X * (COVERS_Y + KSIZE - 1)
    + up(WIDTH * CHANNELS, 4) * BLOCKS_Y * COVERS_Y) * PLANES // CHANNELS"""
---*/

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

constexpr int THREADS = 256;
constexpr int TILE_W = KSIZE <= 15 && sizeof(sample) < 4 ? 256 : 128;  // samples that a block makes
constexpr int TILE_H = THREADS / (TILE_W / QUAD) * BAND;               // of so many rows
constexpr int ROWS = TILE_H + 2 * HALO_Y;                              // that it needs for that
constexpr int STRIDE = SUMS_STRIDE<TILE_W>;

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, stage);  // [ROWS][STAGE_STRIDE<TILE_W>]
    float4* const along = reinterpret_cast<float4*>(stage + ROWS * STAGE_STRIDE<TILE_W>);  // [ROWS][STRIDE]

    const int x0 = blockIdx.x * TILE_W;
    const int y0 = first_row + blockIdx.y * TILE_H;
    begin_rows<ROWS, TILE_W, THREADS>(stage, src, x0, y0 - HALO_Y, 0, ROWS, height, width, pitch);
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    sum_rows<ROWS, TILE_W, THREADS>(along, stage, ROW);
    __syncthreads();

    const int quad = threadIdx.x % (TILE_W / QUAD), band = threadIdx.x / (TILE_W / QUAD);
    const int x = x0 + quad * QUAD, y = y0 + band * BAND;
    if (x >= width * CHANNELS) return;
    float sums[BAND][QUAD];
    const auto band_of = [&](int n) { return along + ((band + n) * BAND - SPARE) * STRIDE + quad; };
    begin_down<STRIDE>(sums, band_of);
    add_down<STRIDE>(sums, band_of, COLUMN);
    write_band(dst, x, y, end_row - y, pitch, sums);
}
