/*---
title   = "Sorted columns, in pairs"
idea    = "Two samples of up to sixteen bits ride in one register, from rows some way apart: a minimum or maximum of both halves takes no longer than one of 32 bits."
filter  = "median"
after   = "median_columns"
weights = "median"
includes = ["ranks", "columns"]
own_block = "A thread makes eight or sixteen samples of some rows, of a large picture as many as the grid leaves it, and a block is four warps, one above the other."
lesson  = """
A register has 32 bits, and a byte needs eight. GPUs since Hopper compare two halves of a register in one \
instruction, at the rate of one comparison of 32 bits, so that half as many are needed; older ones put it together \
from several. Which two samples share a register is free to choose. Two neighbours would have to be moved about to \
meet their own neighbours; the same column of two rows never has to. A byte is put into the upper half of its sixteen \
bits, and what is below stays what it was: one instruction makes a pair, and what lies below decides only between \
equals."""
requires = [
    ["KSIZE == 3", "Sorted columns are worked out for size 3 only, not for {KSIZE}; choose another implementation, such as rank_bits."],
    ["SAMPLE_BYTES <= 2", "Two samples of type {SAMPLE} do not fit into a register; choose another implementation, such as median_columns."],
    ["not IS_DISK", "Sorted columns take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Sorted columns need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
block  = ["128", "1"]
covers = ["32 * (16 if SAMPLE_BYTES == 1 and CHANNELS > 1 else 8)", "4 * PAIRS_ROWS"]
rows_by = "16 if IS_LARGE else 1"
# Of four rows more than it makes, a thread's own samples and words on either side; at the ends pixels.
loads = { picture = """(parts(HEIGHT, PAIRS_ROWS) * (PAIRS_ROWS + 4)
    * (parts(WIDTH * CHANNELS, COVERS_X // 32) * (COVERS_X // 32)
    + 2 * up(CHANNELS, 4 // SAMPLE_BYTES) * (parts(WIDTH * CHANNELS, COVERS_X // 32) - 1)
    + CHANNELS * (BORDER != 'CLAMP' and BORDER != 'REFLECT') * (1 + (WIDTH * CHANNELS % (COVERS_X // 32) == 0))
    + CHANNELS * (WIDTH * CHANNELS % (COVERS_X // 32) > 0)
    * (parts(WIDTH * CHANNELS, COVERS_X // 32) - (WIDTH - 1) * CHANNELS // COVERS_X * 32)))""" }
stores = { picture = "up(WIDTH * CHANNELS, COVERS_X // 32) * HEIGHT" }
---*/

constexpr int WORDS = A_WORD == 4 && CHANNELS == 1 ? 2 : 4;  // that a thread makes of a row,
constexpr int WIDE = WORDS * A_WORD;                         // samples,
constexpr int ROWS = CHANNELS == 1 ? 4 : 2;                  // and rows; as many again are the lower ones of the pairs
constexpr int COLUMNS = WIDE + 2 * CHANNELS;                 // with a pixel on either side,
constexpr int BESIDE = (CHANNELS + A_WORD - 1) / A_WORD;     // which is in so many words
// Of a walk, pairs of rows a turn: two of them copy no registers, where there are enough of these.
constexpr int TURN = QUICK_PAIRS && (BORDER == CLAMP || BORDER == REFLECT) && (CHANNELS > 1 || A_WORD == 2) ? 2 : 1;
struct Row { unsigned words[BESIDE + WORDS + BESIDE]; };

template <int COUNT>
__device__ __forceinline__ void load_words(unsigned* words, const sample* from) {
    if constexpr (COUNT == 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from);
        words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
    } else if constexpr (COUNT == 2) {
        const uint2 two = *reinterpret_cast<const uint2*>(from);
        words[0] = two.x, words[1] = two.y;
    } else words[0] = *reinterpret_cast<const unsigned*>(from);
}
template <int COUNT>
__device__ __forceinline__ void store_words(sample* to, const unsigned* words) {
    if constexpr (COUNT == 4) *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
    else *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
}
__device__ __forceinline__ const sample* row_at(const sample* src, const Places& at, int y, int height, int pitch) {
    const int from = at.row(y, height);
    return BORDER == ZERO && from == OUTSIDE ? nullptr : row_of(src, from, pitch);
}
__device__ __forceinline__ Row load_row(const sample* row, const Places& at) {
    Row made = {};
    if (BORDER == ZERO && !row) return made;
    load_words<WORDS>(made.words + BESIDE, row + at.x);  // rows are padded
    // What belongs there at a row's ends follows.
    if (at.x > 0) load_words<BESIDE>(made.words, row + at.x - BESIDE * A_WORD);
    if (at.own > WIDE) load_words<BESIDE>(made.words + BESIDE + WORDS, row + at.x + WIDE);
    return made;
}
template <typename T>
__device__ __forceinline__ unsigned bits_of(const T* row, int from, int i) {
    if (BORDER == ZERO && (from == OUTSIDE || !row)) return 0;
    if constexpr (sizeof(T) == 1) return row[from + i];
    else return reinterpret_cast<const unsigned short*>(row)[from + i];
}
template <int I = 0>
__device__ __forceinline__ void pair_rows(Pair (&columns)[COLUMNS], const Row& upper, const Row& lower) {
    if constexpr (I < COLUMNS) {
        constexpr int AT = I + BESIDE * A_WORD - CHANNELS;
        columns[I] = pair_of<AT % A_WORD>(upper.words[AT / A_WORD], lower.words[AT / A_WORD]);
        pair_rows<I + 1>(columns, upper, lower);
    }
}
// Row y and, as the other halves of the pairs, the one `rows` below it.
// HAS_END: whether a thread of the block has the row's end within what it reads, and not at x + WIDE.
template <bool HAS_END>
__device__ __forceinline__ void read_rows(
    Pair (&columns)[COLUMNS], const sample* __restrict__ src, const Places& at, int y, int rows, int height, int pitch)
{
    const sample* const upper = row_at(src, at, y, height, pitch);
    const sample* const lower = row_at(src, at, y + rows, height, pitch);
    pair_rows(columns, load_row(upper, at), load_row(lower, at));

    // What stands for the pixels beyond the row's ends: mostly the outermost, which is here already.
    constexpr bool IS_OWN = BORDER == CLAMP || BORDER == REFLECT;
    const auto pixel_at = [&](int from, int i) { return pair_of<0>(bits_of(upper, from, i), bits_of(lower, from, i)); };
    if (at.x == 0) {
        #pragma unroll
        for (int j = 0; j < CHANNELS; ++j) columns[j] = IS_OWN ? columns[CHANNELS + j] : pixel_at(at.before, j);
    }
    if (at.own == WIDE) {
        #pragma unroll
        for (int j = 0; j < CHANNELS; ++j)
            columns[CHANNELS + WIDE + j] = IS_OWN ? columns[WIDE + j] : pixel_at(at.beyond, j);
    }
    if (HAS_END) {
        #pragma unroll
        for (int j = 0; j < CHANNELS; ++j) {
            const Pair pair = pixel_at(at.beyond, j);
            #pragma unroll
            for (int i = 1; i < WIDE + CHANNELS; ++i)
                columns[CHANNELS + i].bits = i == at.own + j ? pair.bits : columns[CHANNELS + i].bits;
        }
    }
}

template <bool HAS_END>
__device__ __forceinline__ void filter_tile(
    const sample* __restrict__ src, sample* __restrict__ dst,
    const Places& at, int y0, int rows, int height, int pitch, int end_row)
{
    const auto write = [&](int y, const Pair (&made)[WIDE], const Pair (&original)[COLUMNS]) {
        Pair pairs[WIDE];
        unsigned upper[WORDS], lower[WORDS];
        #pragma unroll
        for (int i = 0; i < WIDE; ++i) pairs[i] = is_alpha(i) ? original[CHANNELS + i] : made[i];
        #pragma unroll
        for (int i = 0; i < WORDS; ++i) words_of(pairs + i * A_WORD, upper[i], lower[i]);
        if (y < end_row) store_words<WORDS>(row_of(dst, y, pitch) + at.x, upper);
        if (y + rows < end_row) store_words<WORDS>(row_of(dst, y + rows, pitch) + at.x, lower);
    };
    Pair above[COLUMNS], first[COLUMNS], second[COLUMNS], below[COLUMNS], low[COLUMNS], high[COLUMNS], made[WIDE];
    read_rows<HAS_END>(above, src, at, y0 - 1, rows, height, pitch);
    read_rows<HAS_END>(first, src, at, y0, rows, height, pitch);
    #pragma unroll (HAS_END ? 1 : IS_LARGE ? TURN : ROWS)
    for (int y = y0; y < y0 + rows; y += 2) {
        read_rows<HAS_END>(second, src, at, y + 1, rows, height, pitch);
        read_rows<HAS_END>(below, src, at, y + 2, rows, height, pitch);
        #pragma unroll
        for (int i = 0; i < COLUMNS; ++i) low[i] = least(first[i], second[i]), high[i] = greatest(first[i], second[i]);
        medians(made, low, high, above);
        write(y, made, first);
        medians(made, low, high, below);
        write(y + 1, made, second);
        #pragma unroll
        for (int i = 0; i < COLUMNS; ++i) above[i] = second[i], first[i] = below[i];
    }
}

// So many blocks a multiprocessor, to cover each other's loads.
extern "C" __global__ void __launch_bounds__(128, !QUICK_PAIRS || CHANNELS > 1 ? 3 : A_WORD == 4 ? 5 : 4) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = (blockIdx.x * 32 + threadIdx.x % 32) * WIDE;
    const int walked = (end_row - first_row + gridDim.y * 16 - 1) / (gridDim.y * 16) * 2, rows = IS_LARGE ? walked : ROWS;
    const int y0 = first_row + (blockIdx.y * 4 + threadIdx.x / 32) * 2 * rows;
    if (x >= width * CHANNELS || y0 >= end_row) return;
    const int end = width * CHANNELS;
    const Places at(x, height, width);
    // All warps of a block go one way.
    if (end % WIDE != 0 && end < static_cast<int>(blockIdx.x + 1) * 32 * WIDE + CHANNELS)
        filter_tile<true>(src, dst, at, y0, rows, height, pitch, end_row);
    else
        filter_tile<false>(src, dst, at, y0, rows, height, pitch, end_row);
}
