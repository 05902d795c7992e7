/*---
title   = "Low rank"
idea    = "Weights that are no column times a row are still a sum of a few: the tile of the separable weights, filtered once for each, out of the same staged samples into the same sums."
after   = "tile_separable"
weights = "low_rank"
includes = ["wide", "async", "separable"]
own_block = "A block has 128 or 256 threads, as many as a tile of bands and quads needs."
requires = [["2 * RANK < KSIZE", "These weights have rank {RANK}: that many separable filters cost {2 * RANK * KSIZE} products per sample, and the weights as they are only {KSIZE * KSIZE}. Choose a direct implementation, such as shared."]]
headroom = "GAIN * TERMS_GAIN + 1"
finite_only = true  # infinity times one term, less infinity times another, is not what the weights say
chain_length = "((RANK + 1) * KSIZE + 5) * TERMS_GAIN + 1"  # worked out below

[[passes]]
block = ["LOW_RANK_THREADS", "1"]
covers = ["256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128", "LOW_RANK_ROWS"]
shared_bytes = """16 * (LOW_RANK_ROWS + KSIZE - 1) * (
    (256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) * SAMPLE_BYTES // 16 + 2 * -(-HALO_X * SAMPLE_BYTES // 16) + (4 if SAMPLE_BYTES == 4 and HALO_X <= 4 else 1) + (256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) // 4 + 1)"""
loads = { picture = "BLOCKS_Y * (COVERS_Y + KSIZE - 1) * STAGED" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = "2 * KSIZE * RANK * BLOCKS * COVERS_X * (2 * COVERS_Y + KSIZE - 1) * PLANES // CHANNELS"
---*/

// How far off, in units of 2^-24 * sum|w| * max|p|: K roundings along x, then RANK * K in one chain
// down the columns, each relative to what the terms would be if none cancelled: TERMS_GAIN times
// sum|w|.  Columns and rows are rounded to float32 (2 for a product, 4 for weights that are separable),
// and terms that no longer matter are left out (1; kernels/core/weights.py).

__constant__ float COLUMNS[RANK * KSIZE];
__constant__ float ROWS[RANK * KSIZE];

// Samples of two bytes, with few rows beside a tile's own: the more blocks, the more of them load while others sum.
constexpr int THREADS = sizeof(sample) == 2 && 5 <= KSIZE && KSIZE <= 7 ? 128 : 256;
constexpr int TILE_W = KSIZE <= 15 && sizeof(sample) < 4 ? 256 : 128;  // samples that a block makes
constexpr int TILE_H = THREADS / (TILE_W / QUAD) * BAND;               // of so many rows
constexpr int TALL = TILE_H + 2 * HALO_Y;                              // rows that it needs for that
constexpr int STRIDE = SUMS_STRIDE<TILE_W>;

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, stage);  // [TALL][STAGE_STRIDE<TILE_W>]
    float4* const along = reinterpret_cast<float4*>(stage + TALL * STAGE_STRIDE<TILE_W>);  // [TALL][STRIDE]

    const int x0 = blockIdx.x * TILE_W;
    const int y0 = first_row + blockIdx.y * TILE_H;
    begin_rows<TALL, TILE_W, THREADS>(stage, src, x0, y0 - HALO_Y, 0, TALL, height, width, pitch);
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    const int quad = threadIdx.x % (TILE_W / QUAD), band = threadIdx.x / (TILE_W / QUAD);
    const auto band_of = [&](int n) { return along + ((band + n) * BAND - SPARE) * STRIDE + quad; };
    float sums[BAND][QUAD];
    #pragma unroll 1
    for (int term = 0; term < RANK; ++term) {
        sum_rows<TALL, TILE_W, THREADS>(along, stage, ROWS + term * KSIZE);
        __syncthreads();
        if (term == 0) begin_down<STRIDE>(sums, band_of);
        add_down<STRIDE>(sums, band_of, COLUMNS + term * KSIZE);  // on top of the terms before
        __syncthreads();  // what was summed along x has been read
    }

    const int x = x0 + quad * QUAD, y = y0 + band * BAND;
    if (x < width * CHANNELS) write_band(dst, x, y, end_row - y, pitch, sums);
}
