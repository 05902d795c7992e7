/*---
title   = "Separable in registers"
idea    = "Two launches again, for weights so large that their halo would not fit a tile: in each, a thread holds many sums in registers, and every value that it reads counts for all of them."
after   = "ring_separable"
weights = "separable"
includes = ["wide", "async", "separable"]
own_block = "A block is as large as its tiles of 128 samples by 32 and 64 rows need."
requires = [["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."]]
chain_length = "2 * KSIZE"
error_factor = 2.0  # as for separable

[buffers]
sums = "HEIGHT * PITCH * 4"

[[passes]]
function = "along_rows"
halo = ["HALO_X", "0"]
writes = "sums"
block = ["256", "1"]
covers = ["128", "32 if SAMPLE_BYTES == 4 else 64"]
shared_bytes = """16 * (32 if SAMPLE_BYTES == 4 else 64) * (
    128 * SAMPLE_BYTES // 16 + 2 * -(-HALO_X * SAMPLE_BYTES // 16) + (4 if SAMPLE_BYTES == 4 and HALO_X <= 4 else 1) + 33)"""
loads = { picture = "BLOCKS_Y * COVERS_Y * STAGED" }
stores = { sums = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = "2 * BLOCKS * COVERS_X * COVERS_Y * KSIZE * PLANES // CHANNELS"
anatomy = "bands.register_rows"

[[passes]]
function = "along_columns"
halo = ["0", "HALO_Y"]
reads = "sums"
block = ["256", "1"]
covers = ["128", "32 if KSIZE <= 15 and SAMPLE_BYTES == 4 else 64"]
shared_bytes = "((32 if KSIZE <= 15 and SAMPLE_BYTES == 4 else 64) + KSIZE - 1) * 32 * 16"
loads = { sums = "up(WIDTH * CHANNELS, 4) * BLOCKS_Y * (COVERS_Y + KSIZE - 1)" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = "2 * up(WIDTH * CHANNELS, 4) * BLOCKS_Y * COVERS_Y * KSIZE * PLANES // CHANNELS"
anatomy = "bands.register_columns"
---*/

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

constexpr int THREADS = 256;
constexpr int TILE_W = 128;  // samples of a row that a block makes
constexpr int QUADS = TILE_W / QUAD;

extern "C" __global__ void __launch_bounds__(THREADS) along_rows(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ sums,        // the same, neither rounded nor cut off
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of sums that this launch writes
{
    constexpr int ROWS = THREADS / (TILE_W / PART), STRIDE = SUMS_STRIDE<TILE_W>;
    DYNAMIC_SHARED(uint4, stage);  // [ROWS][STAGE_STRIDE<TILE_W>]
    float4* const along = reinterpret_cast<float4*>(stage + ROWS * STAGE_STRIDE<TILE_W>);  // [ROWS][STRIDE]

    const int x0 = blockIdx.x * TILE_W;
    const int y0 = first_row + blockIdx.y * ROWS;
    begin_rows<ROWS, TILE_W, THREADS>(stage, src, x0, y0, 0, ROWS, height, width, pitch);
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    sum_rows<ROWS, TILE_W, THREADS>(along, stage, ROW);
    __syncthreads();  // neighbouring threads were in neighbouring rows; now they are side by side

    #pragma unroll 4
    for (int n = threadIdx.x; n < ROWS * QUADS; n += THREADS) {
        const int x = x0 + n % QUADS * QUAD, y = y0 + n / QUADS;
        if (x < width * CHANNELS && y < end_row)
            *reinterpret_cast<float4*>(row_of(sums, y, pitch) + x) = along[n / QUADS * STRIDE + n % QUADS];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) along_columns(
    const float* __restrict__ sums,  // (height, width, CHANNELS), of along_rows
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    constexpr int DEEP = THREADS / QUADS, TILE_H = DEEP * BAND;
    DYNAMIC_SHARED(float4, tile);  // [TILE_H + 2 * HALO_Y][QUADS]

    const int quad = threadIdx.x % QUADS, band = threadIdx.x / QUADS;
    const int x = blockIdx.x * TILE_W + quad * QUAD;
    const int y0 = first_row + blockIdx.y * TILE_H;
    float4* const to = tile + band * QUADS + quad;
    if (x < width * CHANNELS) {
        if (y0 >= HALO_Y && y0 + TILE_H + HALO_Y <= height) {  // as a rule: few instructions
            const float* from = row_of(sums, y0 - HALO_Y + band, pitch) + x;
            #pragma unroll
            for (int i = 0; i < TILE_H + 2 * HALO_Y; i += DEEP, from += DEEP * pitch)
                if (i + band < TILE_H + 2 * HALO_Y) copy_async(reinterpret_cast<uint4*>(to + i * QUADS), from);
        } else {
            #pragma unroll 1
            for (int i = 0; i + band < TILE_H + 2 * HALO_Y; i += DEEP) {
                const int y = border_index(y0 - HALO_Y + i + band, height);
                if (y == OUTSIDE) to[i * QUADS] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                else copy_async(reinterpret_cast<uint4*>(to + i * QUADS), row_of(sums, y, pitch) + x);
            }
        }
    }
    end_group();
    wait_for_groups<0>();
    __syncthreads();
    if (x >= width * CHANNELS) return;

    float made[BAND][QUAD];
    const auto band_of = [&](int n) { return tile + ((band + n) * BAND - SPARE) * QUADS + quad; };
    begin_down<QUADS>(made, band_of);
    add_down<QUADS>(made, band_of, COLUMN);
    const int y = y0 + band * BAND;
    write_band(dst, x, y, end_row - y, pitch, made);
}
