/*---
title   = "Merged tiles"
idea    = "A thread makes 4 x 4 medians: it sorts what all their windows share once, halves the tile again and again, and merges into each half what its windows have besides."
filter  = "median"
after   = "median_pairs"
weights = "median"
includes = ["ranks", "lists"]
own_block = "A thread makes 4 x 4 samples of a channel, of a small picture 4 x 1, and a block is four to sixteen warps."
lesson  = """
Sixteen windows of 5 x 5, side by side, share a core of 2 x 2 samples; two halves of the tile share more each, \
quarters again more, down to one window. So sorting is done from the whole to the parts: what is sorted for many \
windows is merged for fewer with what they have besides. And since the median of 25 is the thirteenth, of n samples \
in order only some in the middle can still be it: with each step the window has fewer samples to come, the ends are \
dropped, and no step orders what it will drop. 5 x 5 takes about 62 minima and maxima a sample; a network for each \
window took 260."""
requires = [
    ["KSIZE == 5", "Merged tiles are written out for size 5 only: size {KSIZE} would be too long a program. Choose another implementation, such as rank_bits."],
    ["not IS_DISK", "Merged tiles take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Merged tiles need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
block  = ["32 * PLANES * MEDIAN_TILES", "1"]
covers = ["128 * CHANNELS", "MEDIAN_ROWS * MEDIAN_TILES * (2 if SAMPLE_BYTES <= 2 else 1)"]
shared_bytes = """max(PLANES * (MEDIAN_ROWS * MEDIAN_TILES + KSIZE - 1) * (128 + 2 * up(RADIUS, 4)) * 4,
    (CHANNELS > 1) * MEDIAN_ROWS * MEDIAN_TILES * (2 if SAMPLE_BYTES <= 2 else 1)
    * (128 * CHANNELS * SAMPLE_BYTES + 4))"""
loads = { picture = """(BLOCKS * (MEDIAN_ROWS * MEDIAN_TILES + KSIZE - 1) * (128 + 2 * up(RADIUS, 4)) * CHANNELS
    * (2 if SAMPLE_BYTES <= 2 else 1) + ALPHA)""" }
stores = { picture = "up(WIDTH * CHANNELS, 4 if CHANNELS == 1 else 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

// Samples of the thread's windows: (X, Y) from the upper left one's first.
struct Windows {
    const Word* base;
    template <int X, int Y> __device__ __forceinline__ Word at() const {
        return base[Y * STRIDE + place(X + LEFT - RADIUS)];
    }
};
template <int X, int FIRST, int END, int I = FIRST>
__device__ __forceinline__ void read_column(List<END - FIRST>& list, const Windows& from) {
    if constexpr (I < END) list.at[I - FIRST] = from.at<X, I>(), read_column<X, FIRST, END, I + 1>(list, from);
}
template <int Y, int FIRST, int END, int I = FIRST>
__device__ __forceinline__ void read_row(List<END - FIRST>& list, const Windows& from) {
    if constexpr (I < END) list.at[I - FIRST] = from.at<I, Y>(), read_row<Y, FIRST, END, I + 1>(list, from);
}
__device__ constexpr int half_of(int n) { return n <= 2 ? 1 : 2 * half_of((n + 1) / 2); }

// Rows FIRST to END - 1 of a column in order.  Of a window's column all but one are those of the window below as well, or
// of that above: in order once for both, before each has its own put in.
template <int X, int FIRST, int END>
__device__ __forceinline__ List<END - FIRST> column(const Windows& from) {
    constexpr bool IS_SHARED = END - FIRST == KSIZE, IS_UPPER = FIRST % 2 == 0;
    List<END - FIRST - IS_SHARED> list;
    read_column<X, FIRST + (IS_SHARED && IS_UPPER), END - (IS_SHARED && !IS_UPPER)>(list, from);
    if constexpr (!IS_SHARED) return sorted<true>(list);
    else {
        const List<1> own = {{from.at<X, IS_UPPER ? FIRST : END - 1>()}};
        return merge<true, 0, KSIZE>(sorted<true>(list), own);
    }
}
// Rows FIRST to END - 1 of columns X0 to X1 - 1 in order, at least in ranks LOW to HIGH - 1.
template <int X0, int X1, int FIRST, int END, int LOW, int HIGH>
__device__ __forceinline__ List<(X1 - X0) * (END - FIRST)> columns(const Windows& from) {
    if constexpr (X1 - X0 == 1) return column<X0, FIRST, END>(from);
    else {
        constexpr int X = X0 + half_of(X1 - X0);
        return merge<true, LOW, HIGH>(columns<X0, X, FIRST, END, 0, (X - X0) * (END - FIRST)>(from),
                                      columns<X, X1, FIRST, END, 0, (X1 - X) * (END - FIRST)>(from));
    }
}
// The same of columns FIRST to END - 1 of rows Y0 to Y1 - 1.
template <int Y0, int Y1, int FIRST, int END>
__device__ __forceinline__ List<(Y1 - Y0) * (END - FIRST)> rows(const Windows& from) {
    if constexpr (Y1 - Y0 == 1) {
        List<END - FIRST> list;
        read_row<Y0, FIRST, END>(list, from);
        return sorted<true>(list);
    } else {
        constexpr int Y = Y0 + half_of(Y1 - Y0);
        return merge<true, 0, (Y1 - Y0) * (END - FIRST)>(rows<Y0, Y, FIRST, END>(from), rows<Y, Y1, FIRST, END>(from));
    }
}

// Of float32, which no instruction compares three of, two comparisons less than to put that sample in its place.
constexpr bool SHARES_LAST = IS_LARGE && !IS_PAIR;

// The median of a window, of whose other columns `core` has the ranks that may count, and whose last one is X.  Of that
// column all samples but one are the window's below as well, or those of the window above: in order once for both.
template <int X, int Y, int N>
__device__ __forceinline__ Word median(const List<N>& core, const Windows& from) {
    constexpr bool IS_UPPER = Y % 2 == 0;
    constexpr int RANK = MIDDLE - first_rank(TOTAL - KSIZE);
    List<KSIZE - 1> common;
    read_column<X, Y + IS_UPPER, Y + KSIZE - !IS_UPPER>(common, from);
    const auto all = merge<true, RANK - 1, RANK + 1>(core, sorted<true>(common));
    return greatest(all.at[RANK - 1], least(all.at[RANK], from.at<X, IS_UPPER ? Y : Y + KSIZE - 1>()));
}

// Samples that all windows of a part of the tile share.
__device__ constexpr int shared_by(int wide, int tall) { return (KSIZE - wide + 1) * (KSIZE - tall + 1); }

// The medians of windows X0 to X1 - 1, Y0 to Y1 - 1, of whose common samples `core` has the ranks that may count.
template <int X0, int X1, int Y0, int Y1, int N>
__device__ __forceinline__ void split(Word (&made)[TILE_ROWS][TILE], const List<N>& core, const Windows& from);

// The same, with `more` that they share, but the OLD samples behind `core` are not all of.
template <int X0, int X1, int Y0, int Y1, int OLD, int N, int M>
__device__ __forceinline__ void grow(
    Word (&made)[TILE_ROWS][TILE], const List<N>& core, const List<M>& more, const Windows& from)
{
    constexpr int COUNT = OLD + M;
    static_assert(COUNT == shared_by(X1 - X0, Y1 - Y0), "all that they share");
    constexpr int LOW = first_rank(COUNT) - first_rank(OLD), HIGH = end_rank(COUNT) - first_rank(OLD);
    if constexpr (COUNT == TOTAL) made[Y0][X0] = ranked<LOW>(core, more);
    else {
        const auto both = merge<true, LOW, HIGH>(core, more);
        List<HIGH - LOW> next;
        #pragma unroll
        for (int i = LOW; i < HIGH; ++i) next.at[i - LOW] = both.at[i];
        split<X0, X1, Y0, Y1>(made, next, from);
    }
}
template <int X0, int X1, int Y0, int Y1, int N>
__device__ __forceinline__ void split(Word (&made)[TILE_ROWS][TILE], const List<N>& core, const Windows& from) {
    constexpr int WIDE = X1 - X0, TALL = Y1 - Y0, COUNT = shared_by(WIDE, TALL);
    if constexpr (SHARES_LAST && COUNT == TOTAL - KSIZE) {
        made[Y0][X0] = median<X0, Y0>(core, from);
        made[Y0][X0 + 1] = median<X0 + KSIZE, Y0>(core, from);
    } else if constexpr (WIDE > TALL || (WIDE == TALL && WIDE > 2)) {
        constexpr int X = (X0 + X1) / 2, FIRST = Y1 - 1, END = Y0 + KSIZE, ALL = WIDE / 2 * (END - FIRST);
        grow<X0, X, Y0, Y1, COUNT>(made, core, columns<X - 1, X1 - 1, FIRST, END, 0, ALL>(from), from);
        grow<X, X1, Y0, Y1, COUNT>(made, core, columns<X0 + KSIZE, X + KSIZE, FIRST, END, 0, ALL>(from), from);
    } else {
        constexpr int Y = (Y0 + Y1) / 2, FIRST = X1 - 1, END = X0 + KSIZE;
        grow<X0, X1, Y0, Y, COUNT>(made, core, rows<Y - 1, Y1 - 1, FIRST, END>(from), from);
        grow<X0, X1, Y, Y1, COUNT>(made, core, rows<Y0 + KSIZE, Y + KSIZE, FIRST, END>(from), from);
    }
}

// So many blocks a multiprocessor: more of them cover each other's loads, and need not spill for that.
extern "C" __global__ void __launch_bounds__(
    THREADS, (PLANES > 1 ? 4 : !IS_PAIR ? 8 : QUICK_PAIRS ? 6 : 4) / (IS_LARGE ? 1 : 2)) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(Word, stage);  // [PLANES][ROWS_IN][STRIDE]
    const int x0 = blockIdx.x * 32 * TILE, y0 = first_row + blockIdx.y * ROWS_OUT * (1 + IS_PAIR);
    stage_block(stage, src, x0, y0, height, width, pitch);
    __syncthreads();

    const int lane = threadIdx.x % 32, tile = threadIdx.x / 32 % TILES, plane = threadIdx.x / (32 * TILES);
    const Windows from = {stage + plane * PLANE + tile * TILE_ROWS * STRIDE + lane};
    Word made[TILE_ROWS][TILE];
    constexpr int COUNT = shared_by(TILE, TILE_ROWS);
    const auto all = columns<TILE - 1, KSIZE, TILE_ROWS - 1, KSIZE, first_rank(COUNT), end_rank(COUNT)>(from);
    List<kept(COUNT)> core;
    #pragma unroll
    for (int i = 0; i < kept(COUNT); ++i) core.at[i] = all.at[first_rank(COUNT) + i];
    split<0, TILE, 0, TILE_ROWS>(made, core, from);
    write_block(made, stage, src, dst, x0, y0, end_row, width, pitch);
}
