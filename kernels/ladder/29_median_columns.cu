/*---
title   = "Sorted columns"
idea    = "Of nine samples the median is the middle of three: the greatest of the columns' least, the middle of their middles, the least of their greatest. Neighbours share columns, and rows below each other share pairs of samples."
filter  = "median"
after   = "median_network"
weights = "median"
includes = ["ranks", "columns", "wide", "async", "tile"]
own_block = "A thread makes four samples of eight rows, and a block is four warps, one above the other."
lesson  = """
Each sample lies in nine windows, and a network for each of them compares the same neighbours over and over. If a \
thread makes a tile, it sorts each column of three once, for all three windows that have it; and of two rows that lie \
below each other it orders the two samples that both have, before each adds its third. Where nine samples took some \
40 minima and maxima, it is then about 18, and the time is that of reading and writing the picture."""
requires = [
    ["KSIZE == 3", "Sorted columns are worked out for size 3 only, not for {KSIZE}; choose another implementation, such as rank_bits."],
    ["not IS_DISK", "Sorted columns take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Sorted columns need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
block  = ["128", "1"]
covers = ["128", "32"]
shared_bytes = "(IS_LARGE and SAMPLE_BYTES == 4) * 16 * 34 * 36"
# Of a large picture of float32 a tile and its halo.  Else of ten rows a thread's own four and a pixel on either side; where
# the row ends within four, its end once more.
loads = { picture = """(BLOCKS_Y * (COVERS_Y + 2) * STAGED if IS_LARGE and SAMPLE_BYTES == 4 else
    parts(HEIGHT, 8) * 10 * ((4 + 2 * CHANNELS) * parts(WIDTH * CHANNELS, 4)
    - 2 * CHANNELS * (BORDER == 'CLAMP' or BORDER == 'REFLECT')
    + CHANNELS * (WIDTH * CHANNELS % 4 > 0) * (parts(WIDTH * CHANNELS, 4) - (WIDTH - 1) * CHANNELS // 128 * 32)))""" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
---*/

constexpr int WIDE = 4, ROWS = 8;           // samples and rows that a thread makes
constexpr int COLUMNS = WIDE + 2 * CHANNELS;  // with a pixel on either side
struct __align__(WIDE * sizeof(sample)) Samples { sample at[WIDE]; };  // loaded and stored as one

__device__ __forceinline__ Key key_at(const sample* row, int from, int i) {
    return BORDER == ZERO && from == OUTSIDE ? 0 : key_of(row[from + i]);
}
// HAS_END: whether a thread of the block has the row's end within what it reads, and not at x + WIDE.
template <bool HAS_END>
__device__ __forceinline__ void read_row(
    Key (&keys)[COLUMNS], const sample* __restrict__ src, const Places& at, int y, int height, int pitch)
{
    const int from_y = at.row(y, height);
    if (BORDER == ZERO && from_y == OUTSIDE) {
        #pragma unroll
        for (int i = 0; i < COLUMNS; ++i) keys[i] = 0;
        return;
    }
    const sample* row = row_of(src, from_y, pitch);
    const Samples own = *reinterpret_cast<const Samples*>(row + at.x);  // rows are padded
    #pragma unroll
    for (int i = 0; i < WIDE; ++i) keys[CHANNELS + i] = key_of(own.at[i]);
    // At a row's ends it is mostly the outermost pixel that stands for what is beyond, and that is here already.
    constexpr bool IS_OWN = BORDER == CLAMP || BORDER == REFLECT;
    #pragma unroll
    for (int i = 0; i < CHANNELS; ++i) {
        if (at.x > 0) keys[i] = key_of(row[at.x - CHANNELS + i]);
        else keys[i] = IS_OWN ? keys[CHANNELS + i] : key_at(row, at.before, i);
        if (at.own > WIDE) keys[CHANNELS + WIDE + i] = key_of(row[at.x + WIDE + i]);
        else keys[CHANNELS + WIDE + i] = IS_OWN ? keys[WIDE + i] : key_at(row, at.beyond, i);
    }
    if (HAS_END) {  // what is behind the end takes its place there
        #pragma unroll
        for (int j = 0; j < CHANNELS; ++j) {
            const Key key = key_at(row, at.beyond, j);
            #pragma unroll
            for (int i = 1; i < WIDE + CHANNELS; ++i)
                keys[CHANNELS + i] = i == at.own + j ? key : keys[CHANNELS + i];
        }
    }
}

__device__ __forceinline__ void write_row(sample* row, const Key (&made)[WIDE], const Key (&original)[COLUMNS]) {
    Samples samples;
    #pragma unroll
    for (int i = 0; i < WIDE; ++i) samples.at[i] = sample_of(is_alpha(i) ? original[CHANNELS + i] : made[i]);
    *reinterpret_cast<Samples*>(row) = samples;
}

// read(keys, i): row i of those that the thread makes, and one above and below.
template <int UNROLLED, class Read>
__device__ __forceinline__ void filter_tile(
    const Read& read, sample* __restrict__ dst, int x, int y0, int pitch, int end_row)
{
    Key above[COLUMNS], first[COLUMNS], second[COLUMNS], below[COLUMNS], low[COLUMNS], high[COLUMNS], made[WIDE];
    read(above, -1);
    read(first, 0);
    #pragma unroll UNROLLED
    for (int r = 0; r < ROWS; r += 2) {
        const int y = y0 + r;
        read(second, r + 1);
        read(below, r + 2);
        #pragma unroll
        for (int i = 0; i < COLUMNS; ++i) low[i] = least(first[i], second[i]), high[i] = greatest(first[i], second[i]);
        medians(made, low, high, above);
        if (y < end_row) write_row(row_of(dst, y, pitch) + x, made, first);
        medians(made, low, high, below);
        if (y + 1 < end_row) write_row(row_of(dst, y + 1, pitch) + x, made, second);
        #pragma unroll
        for (int i = 0; i < COLUMNS; ++i) above[i] = second[i], first[i] = below[i];
    }
}

// Of a large picture of float32 a block stages its tile and the halo by asynchronous copies: rows are read once, and no
// thread waits for them one after the other.  Of a small one all blocks would wait at the same time.
constexpr int WARPS = 4;
constexpr bool STAGES = IS_LARGE && sizeof(sample) == 4;
constexpr int BLOCKS = !STAGES ? 0 : CHANNELS == 1 ? 11 : 9;  // of a multiprocessor: more of them, fewer registers

// The thread's row, from the sample CHUNK before its own on.
__device__ __forceinline__ void read_staged(Key (&keys)[COLUMNS], const uint4* chunks) {
    const sample* const row = reinterpret_cast<const sample*>(chunks) + CHUNK - CHANNELS;
    const Samples own = *reinterpret_cast<const Samples*>(chunks + 1);
    #pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
        const bool is_own = CHANNELS <= i && i < CHANNELS + WIDE;
        keys[i] = key_of(is_own ? own.at[(i - CHANNELS) & (WIDE - 1)] : row[i]);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int end = width * CHANNELS;
    const int x = (blockIdx.x * 32 + threadIdx.x % 32) * WIDE;
    const int y0 = first_row + (blockIdx.y * WARPS + threadIdx.x / 32) * ROWS;
    using Keys = Key (&)[COLUMNS];
    if constexpr (STAGES) {
        DYNAMIC_SHARED(uint4, memory);  // [WARPS * ROWS + 2][STAGE_STRIDE]
        const int x0 = blockIdx.x * TILE_W, top = first_row + blockIdx.y * WARPS * ROWS - 1;
        stage_tile<32 * WARPS, WARPS * ROWS + 2>(memory, src, x0, top, height, width, pitch);
        const uint4* const stage = memory + SHIFT + (threadIdx.x / 32 * ROWS + 1) * STAGE_STRIDE + threadIdx.x % 32;
        const auto read = [&](Keys keys, int i) { read_staged(keys, stage + i * STAGE_STRIDE); };
        if (x < end && y0 < end_row) filter_tile<ROWS>(read, dst, x, y0, pitch, end_row);
    } else {
        if (x >= end || y0 >= end_row) return;
        const Places at(x, height, width);
        const auto read = [&](Keys keys, int i) { read_row<false>(keys, src, at, y0 + i, height, pitch); };
        const auto read_end = [&](Keys keys, int i) { read_row<true>(keys, src, at, y0 + i, height, pitch); };
        // All warps of a block go one way.
        if (end % WIDE != 0 && end < static_cast<int>(blockIdx.x + 1) * 32 * WIDE + CHANNELS)
            filter_tile<1>(read_end, dst, x, y0, pitch, end_row);
        else
            filter_tile<ROWS>(read, dst, x, y0, pitch, end_row);
    }
}
