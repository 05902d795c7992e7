/*---
title   = "Merged tiles, in loops"
idea    = "Both halves of a split run through the same instructions, and columns are sorted once for all tiles that they cross: the program fits the instruction cache, and larger sizes compile."
filter  = "median"
quick   = "KSIZE > 5"  # measured on an H200
after   = "median_tiles"
includes = ["ranks", "lists"]
own_block = "A thread makes 4 x 4 samples of a channel, and a block is four, six or eight warps."
lesson  = """
A multiprocessor reads its instructions through a cache of some 128 KB, and a compiler takes time for each of them. \
Written out for every window of a tile, size 15 would be ten thousand instructions of sixteen bytes. So a tile is \
halved in loops of two turns that are not unrolled: what differs between the halves is where they read, and a median \
goes to shared memory, since registers have no index. In return a column's samples that all windows of a tile share \
are sorted once by the block; each of the tiles whose windows cross it reads it in order."""
requires = [
    ["5 <= KSIZE <= 19", "Merged tiles of size {KSIZE} would not fit into registers, or share nothing; they take sizes 5 to 19. Choose another implementation, such as rank_bits."],
    ["not IS_DISK", "Merged tiles take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Merged tiles need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
block  = ["32 * PLANES * (4 if PLANES == 1 else 2)", "1"]
covers = ["128 * CHANNELS", "(16 if PLANES == 1 else 8) * (2 if SAMPLE_BYTES <= 2 else 1)"]
# Staged rows, columns in order and medians; or medians of all channels.
shared_bytes = """max(
    PLANES * (((16 if PLANES == 1 else 8) + KSIZE - 1 + (4 if PLANES == 1 else 2) * (KSIZE - 3))
    * (128 + 2 * up(RADIUS, 4)) + (16 if PLANES == 1 else 8) * 128) * 4,
    (CHANNELS > 1) * (16 if PLANES == 1 else 8) * (2 if SAMPLE_BYTES <= 2 else 1)
    * (128 * CHANNELS * SAMPLE_BYTES + 4))"""
loads = { picture = """(BLOCKS * ((16 if PLANES == 1 else 8) + KSIZE - 1) * (128 + 2 * up(RADIUS, 4)) * CHANNELS
    * (2 if SAMPLE_BYTES <= 2 else 1) + ALPHA)""" }
stores = { picture = "up(WIDTH * CHANNELS, 4 if CHANNELS == 1 else 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

constexpr int CORE_ROWS = KSIZE - TILE + 1;           // of a column, that all windows of a tile share
constexpr int SORTED = TILES * CORE_ROWS * STRIDE;    // words of a channel
constexpr int MADE_ROW = 32 * TILE;
constexpr bool MIX = KSIZE <= (IS_PAIR && PLANES == 1 ? 13 : 17);  // see lists.cuh: more of them would not pay

// A part of a thread's tile of medians, WIDE x TALL of them, that begins at (x, y).
struct Part {
    const Word* staged;  // from the first row of the tile's windows on
    const Word* sorted;  // its columns' core rows in order
    Word* made;
    int x, y;
};
// COUNT samples of a staged row from column x on: a pointer for each remainder of x by four.
template <int COUNT>
__device__ __forceinline__ List<COUNT> sorted_row(const Word* row, int x) {
    const Word* const from[4] = {row + place(x), row + place(x + 1), row + place(x + 2), row + place(x + 3)};
    List<COUNT> list;
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) list.at[i] = from[i % 4][i / 4];
    return sorted<MIX>(list);
}
__device__ __forceinline__ List<CORE_ROWS> core_column(const Word* from) {
    List<CORE_ROWS> list;
    #pragma unroll
    for (int i = 0; i < CORE_ROWS; ++i) list.at[i] = from[i * STRIDE];
    return list;
}
// Rows y + TALL - 1 to y + KSIZE - 1 of column x in order: the core rows, and what a lower part has besides.
template <int TALL>
__device__ __forceinline__ List<KSIZE - TALL + 1> column(const Part& part, int x) {
    const List<CORE_ROWS> core = core_column(part.sorted + place(x));
    if constexpr (TALL == TILE) return core;
    else {
        List<TILE - TALL> more;
        #pragma unroll
        for (int i = 0; i < TILE - TALL; ++i) {
            const int row = part.y + TALL - 1 + i;  // above the core, or below
            more.at[i] = part.staged[place(x) + (row < TILE - 1 ? row : row + CORE_ROWS) * STRIDE];
        }
        return merge<MIX, 0, KSIZE - TALL + 1>(core, sorted<MIX>(more));
    }
}
__device__ constexpr int half_of(int n) { return n <= 2 ? 1 : 2 * half_of((n + 1) / 2); }
template <int COUNT, int TALL, int LOW, int HIGH>
__device__ __forceinline__ List<COUNT * (KSIZE - TALL + 1)> columns(const Part& part, int x) {
    if constexpr (COUNT == 1) return column<TALL>(part, x);
    else {
        constexpr int A = half_of(COUNT), B = COUNT - A, ROWS = KSIZE - TALL + 1;
        return merge<MIX, LOW, HIGH>(columns<A, TALL, 0, A * ROWS>(part, x),
                                     columns<B, TALL, 0, B * ROWS>(part, x + A));
    }
}
template <int COUNT, int WIDE>
__device__ __forceinline__ List<COUNT * (KSIZE - WIDE + 1)> rows(const Part& part, int y) {
    constexpr int LENGTH = KSIZE - WIDE + 1;
    if constexpr (COUNT == 1) return sorted_row<LENGTH>(part.staged + y * STRIDE, part.x + WIDE - 1 + LEFT - RADIUS);
    else {
        constexpr int A = half_of(COUNT), B = COUNT - A;
        return merge<MIX, 0, COUNT * LENGTH>(rows<A, WIDE>(part, y), rows<B, WIDE>(part, y + A));
    }
}

// Samples that all windows of a part of the tile share.
__device__ constexpr int shared_by(int wide, int tall) { return (KSIZE - wide + 1) * (KSIZE - tall + 1); }

// The medians of a part, of whose common samples `core` has the ranks that may count.
template <int WIDE, int TALL, int N>
__device__ __forceinline__ void split(const List<N>& core, const Part& part);

// The same, with `more` that they share, but the OLD samples behind `core` are not all of.
template <int WIDE, int TALL, int OLD, int N, int M>
__device__ __forceinline__ void grow(const List<N>& core, const List<M>& more, const Part& part) {
    constexpr int COUNT = OLD + M;
    static_assert(COUNT == shared_by(WIDE, TALL), "all that they share");
    constexpr int LOW = first_rank(COUNT) - first_rank(OLD), HIGH = end_rank(COUNT) - first_rank(OLD);
    if constexpr (COUNT == TOTAL) part.made[part.y * MADE_ROW + part.x] = ranked<LOW>(core, more);
    else {
        const auto both = merge<MIX, LOW, HIGH>(core, more);
        List<HIGH - LOW> next;
        #pragma unroll
        for (int i = LOW; i < HIGH; ++i) next.at[i - LOW] = both.at[i];
        split<WIDE, TALL>(next, part);
    }
}
template <int WIDE, int TALL, int N>
__device__ __forceinline__ void split(const List<N>& core, const Part& part) {
    constexpr int COUNT = shared_by(WIDE, TALL);
    Part half = part;
    #pragma unroll 1
    for (int second = 0; second < 2; ++second) {
        if constexpr (WIDE > TALL || (WIDE == TALL && WIDE > 2)) {
            constexpr int MORE = WIDE / 2;
            half.x = part.x + second * MORE;
            const int from = part.x + (second ? KSIZE : MORE - 1) + LEFT - RADIUS;
            grow<MORE, TALL, COUNT>(core, columns<MORE, TALL, 0, MORE * (KSIZE - TALL + 1)>(half, from), half);
        } else {
            constexpr int MORE = TALL / 2;
            half.y = part.y + second * MORE;
            grow<WIDE, MORE, COUNT>(core, rows<MORE, WIDE>(half, part.y + (second ? KSIZE : MORE - 1)), half);
        }
    }
}

// So many blocks a multiprocessor, where more of them gain more than their spills cost.
constexpr int RESIDENT = PLANES > 1 ? (KSIZE <= 7 ? 4 : KSIZE == 9 ? 3 : 2)
    : KSIZE >= 15 ? (IS_PAIR || KSIZE > 15 ? 2 : 4) : KSIZE == 13 ? 4 : KSIZE <= 7 && !IS_PAIR ? 6 : 1;

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(Word, stage);  // [PLANES][ROWS_IN][STRIDE]
    Word* const all_sorted = stage + PLANES * PLANE;       // [PLANES][TILES][CORE_ROWS][STRIDE]
    Word* const all_made = all_sorted + PLANES * SORTED;   // [PLANES][ROWS_OUT][MADE_ROW]
    const int x0 = blockIdx.x * 32 * TILE, y0 = first_row + blockIdx.y * ROWS_OUT * (1 + IS_PAIR);
    stage_block(stage, src, x0, y0, height, width, pitch);
    __syncthreads();

    #pragma unroll 1
    for (int n = threadIdx.x; n < PLANES * TILES * STRIDE; n += THREADS) {
        const int column = n % STRIDE, tile = n / STRIDE % TILES, plane = n / (STRIDE * TILES);
        const auto list = sorted<MIX>(core_column(stage + plane * PLANE + (tile * TILE + TILE - 1) * STRIDE + column));
        #pragma unroll
        for (int i = 0; i < CORE_ROWS; ++i)
            all_sorted[plane * SORTED + (tile * CORE_ROWS + i) * STRIDE + column] = list.at[i];
    }
    __syncthreads();

    const int lane = threadIdx.x % 32, tile = threadIdx.x / 32 % TILES, plane = threadIdx.x / (32 * TILES);
    const Part whole = {stage + plane * PLANE + tile * TILE * STRIDE + lane,
                        all_sorted + plane * SORTED + tile * CORE_ROWS * STRIDE + lane,
                        all_made + (plane * ROWS_OUT + tile * TILE) * MADE_ROW + lane * TILE, 0, 0};
    {
        constexpr int COUNT = shared_by(TILE, TILE);
        constexpr int LOW = first_rank(COUNT), HIGH = end_rank(COUNT);
        const auto all = columns<KSIZE - TILE + 1, TILE, LOW, HIGH>(whole, TILE - 1 + LEFT - RADIUS);
        List<kept(COUNT)> core;
        #pragma unroll
        for (int i = 0; i < kept(COUNT); ++i) core.at[i] = all.at[LOW + i];
        split<TILE, TILE>(core, whole);
    }
    Word made[TILE][TILE];
    #pragma unroll
    for (int row = 0; row < TILE; ++row)
        #pragma unroll
        for (int i = 0; i < TILE; ++i) made[row][i] = whole.made[row * MADE_ROW + i];
    write_block(made, stage, src, dst, x0, y0, end_row, width, pitch);
}
