/*---
title   = "Tile of minima"
idea    = "Small tiles instead of long strips: a block stages one with asynchronous copies, minima along x go back to shared memory, minima down the columns to the picture; so many blocks fit that there is always something to load."
filter  = "extremes"
quick   = "SAMPLE_BYTES == 4 and KSIZE <= 9"  # measured on an H200
after   = "extreme_copies"
includes = ["extremes", "wide", "async", "extreme_ring"]
own_block = "A block of 256 threads makes 512 bytes of 32 rows."
requires = [
    ["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."],
    ["HALO_X <= 45", "A thread keeps {8 + 2 * HALO_X} samples of a row in registers here, and there is room for 98. Choose a smaller size, or extreme_copies."],
]
lesson  = """
A strip that is walked down reads each row once, but it begins and ends with nothing to do, and as many blocks as fit \
make one wave or two. A small window needs few rows more than it makes: tiles of 32 rows read K - 1 rows twice, \
nearly all of them from the L2, and there are so many tiles that one always begins where another ends. Up to size 9 \
that is worth more than the rows; with wide windows it is not."""

[[passes]]
block  = ["256", "1"]
covers = ["512 // SAMPLE_BYTES", "32"]
shared_bytes = "16 * (32 + KSIZE - 1) * (up(32 + 2 * HALO_CHUNKS + HALO_CHUNKS % 2, 2) + 33)"
loads = { picture = "BLOCKS_Y * (COVERS_Y + KSIZE - 1) * STAGED + HAS_ALPHA * up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
---*/

constexpr int TILE_H = 32, TILE_CHUNKS = 32;            // rows, and chunks of each, that a block makes
constexpr int ROWS = TILE_H + 2 * HALO_Y;               // that it needs for that
constexpr int STAGE_CHUNKS = TILE_CHUNKS + 2 * HALO_CHUNKS;
// An asynchronous copy fetches 32 bytes of the picture for each half of them, if the halves go to different 32 bytes of
// shared memory: so a row is staged as it lies in the picture.
constexpr int SHIFT = HALO_CHUNKS % 2, STAGE_STRIDE = (STAGE_CHUNKS + SHIFT + 1) / 2 * 2;
constexpr int ALONG_CHUNKS = TILE_CHUNKS + 1;
constexpr int TILE_COLUMNS = 4 * TILE_CHUNKS;           // of four bytes
constexpr int COLUMN_ROWS = TILE_H * TILE_COLUMNS / THREADS;  // rows of one that a thread makes
constexpr int WORDS = CHUNK / AT_ONCE;                  // of a chunk: two samples in each lie half a chunk apart

// values[i] becomes the best of KSIZE values from there on, a pixel apart; first of HAVE: three windows that may overlap
// make one of up to three times as many.
template <int COUNT, int HAVE = 1>
__device__ __forceinline__ void triple_up(word (&values)[COUNT]) {
    if constexpr (HAVE < KSIZE) {
        constexpr int MADE = 3 * HAVE < KSIZE ? 3 * HAVE : KSIZE, LAST = MADE - HAVE, MIDDLE = (LAST + 1) / 2;
        #pragma unroll
        for (int i = 0; i < COUNT - (MADE - 1) * CHANNELS; ++i)
            values[i] = best(values[i], values[i + MIDDLE * CHANNELS], values[i + LAST * CHANNELS]);
        triple_up<COUNT, MADE>(values);
    }
}
// Minima along x, of a chunk, from the chunks around it.
__device__ __forceinline__ uint4 chunk_along(const uint4* row) {
    unsigned words[(1 + 2 * HALO_CHUNKS) * 4];
    #pragma unroll
    for (int c = 0; c <= 2 * HALO_CHUNKS; ++c)
        #pragma unroll
        for (int w = 0; w < 4; ++w) words[4 * c + w] = chunk_word(row[c], w);
    word values[WORDS + 2 * HALO_X];
    #pragma unroll
    for (int i = 0; i < WORDS + 2 * HALO_X; ++i)
        values[i] = word_of(AT_ONCE == 1 ? words[HALO_SPARE + i] : both(words, words + 2, HALO_SPARE + i));
    triple_up(values);
    unsigned made[4];
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
        if constexpr (BYTES == 4) {
            made[w] = bits_of(values[w]);
        } else if constexpr (BYTES == 2) {
            const int i = w % 2 * 2;
            made[w] = __byte_perm(bits_of(values[i]), bits_of(values[i + 1]), w < 2 ? 0x5410 : 0x7632);
        } else {  // the upper halves
            const int i = w % 2 * 4;
            const unsigned low = __byte_perm(bits_of(values[i]), bits_of(values[i + 1]), 0x7351);
            const unsigned high = __byte_perm(bits_of(values[i + 2]), bits_of(values[i + 3]), 0x7351);
            made[w] = __byte_perm(low, high, w < 2 ? 0x5410 : 0x7632);
        }
    }
    return make_uint4(made[0], made[1], made[2], made[3]);
}

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);  // [ROWS][STAGE_STRIDE] and [ROWS][ALONG_CHUNKS]
    uint4* const stage = memory + SHIFT;
    uint4* const along = memory + ROWS * STAGE_STRIDE;
    const int x0 = blockIdx.x * TILE_CHUNKS * CHUNK, y0 = first_row + blockIdx.y * TILE_H;
    const int column = threadIdx.x % TILE_CHUNKS, line = threadIdx.x / TILE_CHUNKS;

    // 1. The tile and its halo: a warp a row, and then what is left of all rows.
    const int left = x0 - HALO_CHUNKS * CHUNK, top = y0 - HALO_Y;
    if (left >= 0 && left + STAGE_CHUNKS * CHUNK <= width * CHANNELS && top >= 0 && top + ROWS <= height) {
        const sample* const from = row_of(src, top, pitch) + left;
        #pragma unroll
        for (int r = line; r < ROWS; r += THREADS / TILE_CHUNKS)
            copy_async(stage + r * STAGE_STRIDE + column, row_of(from, r, pitch) + column * CHUNK);
        #pragma unroll
        for (int n = threadIdx.x; n < ROWS * 2 * HALO_CHUNKS; n += THREADS) {
            const int r = n / (2 * HALO_CHUNKS), c = TILE_CHUNKS + n % (2 * HALO_CHUNKS);
            copy_async(stage + r * STAGE_STRIDE + c, row_of(from, r, pitch) + c * CHUNK);
        }
    } else {
        #pragma unroll 1
        for (int n = threadIdx.x; n < ROWS * STAGE_CHUNKS; n += THREADS) {
            const int r = n / STAGE_CHUNKS, c = n % STAGE_CHUNKS, x = left + c * CHUNK;
            if (x < width * CHANNELS + HALO_X)
                stage[r * STAGE_STRIDE + c] = read_chunk(src, x, top + r, height, width, pitch);
        }
    }
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    // 2. Along x.
    #pragma unroll 2
    for (int r = line; r < ROWS; r += THREADS / TILE_CHUNKS)
        along[r * ALONG_CHUNKS + column] = chunk_along(stage + r * STAGE_STRIDE + column);
    __syncthreads();

    // 3. Down the columns, of four bytes each.
    const int word_at = threadIdx.x % TILE_COLUMNS, group = threadIdx.x / TILE_COLUMNS;
    const int x = x0 + word_at * (4 / BYTES), y = y0 + group * COLUMN_ROWS;
    if (x >= width * CHANNELS) return;
    const unsigned* const from = reinterpret_cast<const unsigned*>(along + group * COLUMN_ROWS * ALONG_CHUNKS) + word_at;
    unsigned values[COLUMN_ROWS + 2 * HALO_Y], found[COLUMN_ROWS];
    #pragma unroll
    for (int i = 0; i < COLUMN_ROWS + 2 * HALO_Y; ++i) values[i] = from[i * ALONG_CHUNKS * 4];
    constexpr int B = power_within(COLUMN_ROWS);
    slide_all<B, 1, COLUMN_ROWS / B, false>([&](int i) { return word_of(values[i]); },
                                           [&](int i, word made) { found[i] = bits_of(made); });
    if constexpr (BYTES == 1)  // those were bytes 1 and 3, as upper halves; now 0 and 2
        slide_all<B, 1, COLUMN_ROWS / B, false>(
            [&](int i) { return word_of(values[i] << 8); },
            [&](int i, word made) { found[i] = __byte_perm(bits_of(made), found[i], 0x7351); });
    #pragma unroll
    for (int i = 0; i < COLUMN_ROWS; ++i) {
        if (y + i >= end_row) return;
        unsigned* const to = reinterpret_cast<unsigned*>(row_of(dst, y + i, pitch) + x);
        const unsigned alpha = alpha_bits(word_at % 4);
        *to = HAS_ALPHA ? (found[i] & ~alpha) | (*reinterpret_cast<const unsigned*>(row_of(src, y + i, pitch) + x) & alpha)
                        : found[i];
    }
}
