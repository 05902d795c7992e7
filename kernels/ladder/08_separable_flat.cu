/*---
title   = "Separable, flat arrays"
idea    = "Threads and shared memory are counted along one line, so that a warp reads 32 words in a row whatever the block's shape: no bank is asked twice."
after   = "separable"
weights = "separable"
requires = [["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."]]
chain_length = "2 * KSIZE"
error_factor = 2.0  # as for separable

[buffers]
sums = "HEIGHT * PITCH * 4"

[[passes]]
function = "along_rows"
halo = ["HALO_X", "0"]
writes = "sums"
covers = ["THREADS", "1"]
shared_bytes = "(THREADS + 2 * HALO_X) * 4"
loads = { picture = "BLOCKS_X * HEIGHT * (COVERS_X + 2 * HALO_X)" }
flops = "2 * SAMPLES * KSIZE"

[[passes]]
function = "along_columns"
halo = ["0", "HALO_Y"]
reads = "sums"
covers = ["min(THREADS, 32)", "THREADS // min(THREADS, 32)"]
shared_bytes = "min(THREADS, 32) * (THREADS // min(THREADS, 32) + 2 * HALO_Y) * 4"
loads = { sums = "WIDTH * CHANNELS * BLOCKS_Y * (COVERS_Y + 2 * HALO_Y)" }
flops = "2 * SAMPLES * KSIZE"
---*/

// Shared memory has 32 banks, one word wide; word n is in bank n % 32.  Two lanes of a warp that want
// different words of one bank wait for each other.  In separable's tiles a 16x16 block's warp stands
// in two rows that begin 16 + 2 * HALO_X words apart, so some of its lanes do.  Here lane n wants word
// n of some 32 in a row, at every tap: 32 words in 32 banks.
//
// The flat shape also spares loads: a strip of 256 samples has one halo, where 8 rows of 32 have 8;
// and in the columns a warp reads whole lines of 128 bytes.

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

constexpr int THREADS = BLOCK_X * BLOCK_Y;

__device__ __forceinline__ int thread_number() { return threadIdx.y * BLOCK_X + threadIdx.x; }

// One row, THREADS samples of it: a block's threads stand side by side.
extern "C" __global__ void along_rows(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ sums,        // the same, neither rounded nor cut off
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of sums that this launch writes
{
    constexpr int STRIP = THREADS + 2 * HALO_X;
    DYNAMIC_SHARED(float, strip);

    // 1. Stage.
    const int thread = thread_number();
    const int x0 = blockIdx.x * THREADS - HALO_X;
    const int y = first_row + blockIdx.y;
    const sample* row = row_of(src, y, pitch);
    #pragma unroll 4
    for (int at = thread; at < STRIP; at += THREADS) strip[at] = read_along(row, x0 + at, width);
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Convolve.
    const int x = x0 + HALO_X + thread;
    if (x >= width * CHANNELS) return;

    const float* left = strip + thread;  // under ROW[0]
    float sum = 0.0f;
    #pragma unroll  // so that a weight's address is part of its FMA
    for (int i = 0; i < KSIZE; ++i) sum += ROW[i] * left[i * CHANNELS];
    row_of(sums, y, pitch)[x] = is_alpha(x) ? left[HALO_X] : sum;
}

// 32 columns, one a lane, and as many rows as there are warps.
extern "C" __global__ void along_columns(
    const float* __restrict__ sums,  // (height, width, CHANNELS), of along_rows
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    constexpr int COLUMNS = THREADS < 32 ? THREADS : 32;
    constexpr int ROWS = THREADS / COLUMNS;
    constexpr int TILE = COLUMNS * (ROWS + 2 * HALO_Y);  // whole rows of COLUMNS, end to end
    DYNAMIC_SHARED(float, tile);

    // 1. Stage.
    const int thread = thread_number();
    const int x0 = blockIdx.x * COLUMNS;
    const int y0 = first_row + blockIdx.y * ROWS - HALO_Y;
    #pragma unroll 4
    for (int at = thread; at < TILE; at += THREADS) {
        const int from_x = x0 + at % COLUMNS;
        const int from_y = border_index(y0 + at / COLUMNS, height);
        if (from_x < width * CHANNELS)
            tile[at] = from_y == OUTSIDE ? 0.0f : row_of(sums, from_y, pitch)[from_x];
    }
    __syncthreads();

    // 2. Convolve.
    const int x = x0 + thread % COLUMNS;
    const int y = y0 + HALO_Y + thread / COLUMNS;
    // Of a 7x5 block's 35 threads the last three have loaded, and have no row of their own.
    if (x >= width * CHANNELS || y >= end_row || thread >= ROWS * COLUMNS) return;

    const float* top = tile + thread;  // under COLUMN[0]
    float sum = OFFSET;
    #pragma unroll
    for (int j = 0; j < KSIZE; ++j) sum += COLUMN[j] * top[j * COLUMNS];
    row_of(dst, y, pitch)[x] = to_sample(is_alpha(x) ? top[HALO_Y * COLUMNS] : sum);
}
