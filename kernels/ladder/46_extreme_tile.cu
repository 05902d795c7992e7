/*---
title   = "Tile of minima"
idea    = "Small tiles instead of long strips: a block stages one with asynchronous copies, minima along x go back to shared memory, minima down the columns to the picture; so many blocks fit that there is always something to load."
filter  = "extremes"
quick   = "KSIZE <= 9"  # measured on an H200
after   = "extreme_copies"
includes = ["extremes", "wide", "async", "tile", "windows"]
own_block = "A block of 256 threads makes 128 samples of 32 rows."
requires = [
    ["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."],
    ["SAMPLE == 'float32'", "These tiles are of float32; narrower samples are compared two at a time by extreme_ring."],
    ["HALO_X <= 48", "A thread keeps {4 + 2 * HALO_X} samples of a row in registers here, and there is room for 100. Choose a smaller size, or extreme_copies."],
]
lesson  = """
A strip that is walked down reads each row once, but it begins and ends with nothing to do, and as many blocks as fit \
make one wave or two. A small window needs few rows more than it makes: tiles of 32 rows read K - 1 rows twice, \
nearly all of them from the L2, and there are so many tiles that one always begins where another ends. Up to size 9 \
that is worth more than the rows; with wide windows it is not. Bytes gain nothing: what limits them is arithmetic."""

[[passes]]
block  = ["256", "1"]
covers = ["128", "32"]
shared_bytes = "16 * (32 + KSIZE - 1) * (up(32 + 2 * HALO_CHUNKS + HALO_CHUNKS % 2, 2) + 33)"
loads = { picture = "BLOCKS_Y * (COVERS_Y + KSIZE - 1) * STAGED + HAS_ALPHA * up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
stores = { picture = "SAMPLES" }
---*/

constexpr int TILE_THREADS = 256;
constexpr int TILE_H = 32, ROWS = TILE_H + 2 * HALO_Y;  // rows that a block makes, and that it needs for that
constexpr int ALONG_CHUNKS = TILE_CHUNKS + 1;
constexpr int COLUMN_ROWS = TILE_H * TILE_W / TILE_THREADS;  // of a column, that a thread makes

// values[i] becomes the best of KSIZE values from there on, a pixel apart; first of HAVE: two windows that may overlap
// make one of up to twice as many.
template <int COUNT, int HAVE = 1>
__device__ __forceinline__ void double_up(float (&values)[COUNT]) {
    if constexpr (HAVE < KSIZE) {
        constexpr int MADE = 2 * HAVE < KSIZE ? 2 * HAVE : KSIZE;
        #pragma unroll
        for (int i = 0; i < COUNT - (MADE - 1) * CHANNELS; ++i)
            values[i] = best(values[i], values[i + (MADE - HAVE) * CHANNELS]);
        double_up<COUNT, MADE>(values);
    }
}
// Minima along x of a chunk, from the chunks around it.
__device__ __forceinline__ uint4 chunk_along(const uint4* row) {
    float samples[(1 + 2 * HALO_CHUNKS) * CHUNK], values[CHUNK + 2 * HALO_X];
    #pragma unroll
    for (int c = 0; c <= 2 * HALO_CHUNKS; ++c) unpack(row[c], samples + c * CHUNK);
    #pragma unroll
    for (int i = 0; i < CHUNK + 2 * HALO_X; ++i) values[i] = samples[HALO_SPARE + i];
    double_up(values);
    return pack(values);
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);  // [ROWS][STAGE_STRIDE] and [ROWS][ALONG_CHUNKS]
    uint4* const stage = memory + SHIFT;
    uint4* const along = memory + ROWS * STAGE_STRIDE;
    const int x0 = blockIdx.x * TILE_W, y0 = first_row + blockIdx.y * TILE_H;
    const int column = threadIdx.x % TILE_CHUNKS, line = threadIdx.x / TILE_CHUNKS;

    // 1. The tile and its halo.
    stage_tile<TILE_THREADS, ROWS>(memory, src, x0, y0 - HALO_Y, height, width, pitch);

    // 2. Along x.
    #pragma unroll 2
    for (int r = line; r < ROWS; r += TILE_THREADS / TILE_CHUNKS)
        along[r * ALONG_CHUNKS + column] = chunk_along(stage + r * STAGE_STRIDE + column);
    __syncthreads();

    // 3. Down the columns.
    const int x = x0 + threadIdx.x % TILE_W, group = threadIdx.x / TILE_W, y = y0 + group * COLUMN_ROWS;
    if (x >= width * CHANNELS) return;
    const float* const from = reinterpret_cast<const float*>(along + group * COLUMN_ROWS * ALONG_CHUNKS) + x - x0;
    float values[COLUMN_ROWS + 2 * HALO_Y], found[COLUMN_ROWS];
    #pragma unroll
    for (int i = 0; i < COLUMN_ROWS + 2 * HALO_Y; ++i) values[i] = from[i * ALONG_CHUNKS * CHUNK];
    constexpr int B = places_of(COLUMN_ROWS);
    slide_all<IS_MAXIMUM, B, 1, COLUMN_ROWS / B, false>([&](int i) { return values[i]; },
                                                        [&](int i, float made) { found[i] = made; });
    #pragma unroll
    for (int i = 0; i < COLUMN_ROWS && y + i < end_row; ++i)
        row_of(dst, y + i, pitch)[x] = is_alpha(x) ? row_of(src, y + i, pitch)[x] : to_sample(found[i]);
}
