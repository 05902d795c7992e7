/*---
title   = "Minima by doubling"
idea    = "Minima of two neighbours, of four, of eight: each step joins two windows of the one before, in registers, and the last two may overlap."
after   = "extreme_running"
filter  = "extremes"
includes = ["extremes", "wide"]
own_block = "A block of 256 threads makes 256 samples of 32 rows."
requires = [
    ["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."],
    ["HALO_X <= 63", "Doubling keeps {32 + 2 * HALO_X} samples of a row in registers here, and there is room for 158. Choose a smaller size, or extreme_running."],
]
lesson  = """
A minimum may count a sample twice. So a window of 7 is two windows of 4 that share one sample, a window of 4 two of \
2: log2 K comparisons for each place, rounded up, and all places are independent of each other, where running minima \
wait for one another. A thread has a piece of a line in registers, and replaces each number by the better of it and \
its neighbour at 1, 2, 4 ... places' distance. It pays for the pieces' ends: 32 places need K - 1 samples more, and \
a block K - 1 rows more."""

[[passes]]
block  = ["256", "1"]
covers = ["256", "32"]
shared_bytes = "(32 + KSIZE - 1) * 264 * 4"
loads = { picture = """(BLOCKS_Y * (32 + KSIZE - 1) * parts(WIDTH * CHANNELS, 32)
    * (32 + 2 * HALO_CHUNKS * CHUNK) + ALPHA)""" }
---*/

constexpr int THREADS = 256;
constexpr int TILE_W = 256, TILE_H = 32;      // samples and rows that a block makes
constexpr int PART = 32;                      // of a row or a column, that a thread makes
constexpr int ROWS = TILE_H + 2 * HALO_Y;
constexpr int PLACE = PART + 1;               // of a part in shared memory: no bank is asked twice
constexpr int STRIDE = TILE_W / PART * PLACE;

// values[i] becomes the best of KSIZE values from there on, APART from each other; first of HAVE.
template <int APART, int COUNT, int HAVE = 1>
__device__ __forceinline__ void double_up(float (&values)[COUNT]) {
    if constexpr (HAVE < KSIZE) {
        constexpr int MORE = HAVE < KSIZE - HAVE ? HAVE : KSIZE - HAVE;
        #pragma unroll
        for (int i = 0; i + (HAVE + MORE - 1) * APART < COUNT; ++i)
            values[i] = best(values[i], values[i + MORE * APART]);
        double_up<APART, COUNT, HAVE + MORE>(values);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, along);    // [ROWS][STRIDE]
    const int x0 = blockIdx.x * TILE_W, y0 = first_row + blockIdx.y * TILE_H;

    // 1. Along x.
    #pragma unroll 1
    for (int n = threadIdx.x; n < ROWS * (TILE_W / PART); n += THREADS) {
        const int row = n / (TILE_W / PART), part = n % (TILE_W / PART), x = x0 + part * PART;
        if (x >= width * CHANNELS) continue;
        float values[PART + 2 * HALO_X];
        #pragma unroll
        for (int c = -HALO_CHUNKS; c < PART / CHUNK + HALO_CHUNKS; ++c) {
            float chunk[CHUNK];
            unpack(read_chunk(src, x + c * CHUNK, y0 - HALO_Y + row, height, width, pitch), chunk);
            #pragma unroll
            for (int i = 0; i < CHUNK; ++i) {
                const int at = c * CHUNK + i + HALO_X;
                if (0 <= at && at < PART + 2 * HALO_X) values[at] = chunk[i];
            }
        }
        double_up<CHANNELS>(values);
        #pragma unroll
        for (int i = 0; i < PART; ++i) along[row * STRIDE + part * PLACE + i] = values[i];
    }
    __syncthreads();

    // 2. Down the columns.
    const int x = x0 + threadIdx.x;
    if (x >= width * CHANNELS) return;
    float values[PART + KSIZE - 1];
    #pragma unroll
    for (int j = 0; j < PART + KSIZE - 1; ++j)
        values[j] = along[j * STRIDE + threadIdx.x / PART * PLACE + threadIdx.x % PART];
    double_up<1>(values);
    #pragma unroll
    for (int j = 0; j < PART; ++j)
        if (y0 + j < end_row)
            row_of(dst, y0 + j, pitch)[x] = is_alpha(x) ? row_of(src, y0 + j, pitch)[x] : to_sample(values[j]);
}
