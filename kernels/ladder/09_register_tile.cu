/*---
title   = "Register tile"
idea    = "A thread makes a tile of samples, not one: what it loads, sixteen bytes at a time, serves all of them out of registers."
after   = "constant"
weights = "constant"
includes = ["wide"]
requires = [
    ["KSIZE <= 15", "A register tile unrolls all its multiply-adds, too many at size {KSIZE}; it takes sizes up to 15."],
    ["HALO_X * SAMPLE_BYTES <= 60", "A register tile would read {HALO_X * SAMPLE_BYTES} bytes on either side of the sixteen it makes, too many for its registers, which have room for 60. Choose a smaller size, or another implementation, such as shared."],
    ["THREADS <= 512", "A thread with a register tile needs up to 128 registers, so that a block has at most 512 threads, not {THREADS}."],
]

[[passes]]
covers = ["BLOCK_X * 16 // SAMPLE_BYTES", "BLOCK_Y * (2 if SAMPLE_BYTES == 1 or HALO_X * SAMPLE_BYTES > 16 else 4)"]
# Of the rows that a thread makes: COVERS_Y // BLOCK_Y.
loads = { picture = """up(WIDTH * CHANNELS, CHUNK) * (parts(HEIGHT, COVERS_Y // BLOCK_Y)
    * (KSIZE - 1 + COVERS_Y // BLOCK_Y) * (1 + 2 * HALO_CHUNKS) + HAS_ALPHA * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
flops = "2 * up(WIDTH * CHANNELS, CHUNK) * up(HEIGHT, COVERS_Y // BLOCK_Y) * KSIZE**2 * PLANES // CHANNELS"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

// A thread makes CHUNK samples of so many rows: fewer where a row takes more registers.
constexpr int ROWS = CHUNK == 16 || HALO_CHUNKS > 1 ? 2 : 4;
constexpr int WINDOW = (1 + 2 * HALO_CHUNKS) * CHUNK;  // samples it reads of a row

// Reads KSIZE - 1 + ROWS rows, and adds each to every sum that it counts for.  INSIDE the picture the
// loop over rows is unrolled, so that a weight's address is part of its FMA.
template <bool INSIDE>
__device__ __forceinline__ void filter_tile(
    float (&sums)[ROWS][CHUNK], const sample* __restrict__ src,
    int x, int y, int height, int width, int pitch)
{
    #pragma unroll (INSIDE ? KSIZE - 1 + ROWS : 1)
    for (int j = 0; j < KSIZE - 1 + ROWS; ++j) {
        float window[WINDOW];
        #pragma unroll
        for (int c = 0; c < WINDOW; c += CHUNK) {
            const int from_x = x + c - HALO_CHUNKS * CHUNK, from_y = y + j - RADIUS;
            unpack(INSIDE ? load_chunk(row_of(src, from_y, pitch), from_x)
                          : read_chunk(src, from_x, from_y, height, width, pitch), window + c);
        }
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            if (j < row || j - row >= KSIZE) continue;
            #pragma unroll
            for (int i = 0; i < KSIZE; ++i)
                #pragma unroll
                for (int s = 0; s < CHUNK; ++s)
                    if (!is_alpha(s))
                        sums[row][s] += WEIGHTS[(j - row) * KSIZE + i]
                                      * window[HALO_SPARE + s + i * CHANNELS];
        }
    }
}

// One block of 512 has to fit: without that 1 the compiler would rather fit two, and wait for its loads
// in batches.  With wide halos there it would spill instead.
extern "C" __global__ void __launch_bounds__(512, HALO_CHUNKS == 1 ? 1 : 0) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
    const int y = first_row + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (x >= width * CHANNELS || y >= end_row) return;

    constexpr int LEFT = HALO_CHUNKS * CHUNK, RIGHT = LEFT + CHUNK;
    float sums[ROWS][CHUNK];
    begin_with_offset<ROWS * CHUNK>(sums[0]);
    if (x >= LEFT && x + RIGHT <= width * CHANNELS && y >= RADIUS && y + ROWS + RADIUS <= height)
        filter_tile<true>(sums, src, x, y, height, width, pitch);
    else
        filter_tile<false>(sums, src, x, y, height, width, pitch);

    #pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        if (y + row >= end_row) return;
        uint4 chunk = pack(sums[row]);
        if constexpr (HAS_ALPHA) chunk = keep_alpha(chunk, load_chunk(row_of(src, y + row, pitch), x));
        write_chunk(row_of(dst, y + row, pitch), x, chunk);
    }
}
