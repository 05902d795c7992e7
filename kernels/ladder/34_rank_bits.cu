/*---
title   = "Rank, bit by bit"
idea    = "Nothing is put in order: how many samples of the window are less than a number says what the next bit of the answer is."
filter  = "percentiles"
quick   = "PERCENTILE != 50 or IS_DISK or BORDER == 'CROP' or (KSIZE > 19 and SAMPLE != 'uint8')"  # others take no such job, but rank_tile
after   = "median_sort"
includes = ["ranks", "percentile"]
lesson  = """
A sample of 8, 16 or 32 bits is as many questions. Count the samples of the window that are less than 128: if these are no more \
than the rank, the answer is 128 or above, and its first bit is 1. The next question is of 64 more, and so on. So each bit takes \
one look at the window, whatever it holds, and a thread keeps a count and a number for each answer, where sorting keeps all \
samples: any size, any percentile and a disk are the same few lines. Floats have an order of bits as well, once all but the sign of \
negative ones is turned. A thread makes four samples below each other, and compares each that it loads four times."""

[[passes]]
covers = ["BLOCK_X", "4 * BLOCK_Y"]
loads = { picture = """((8 * SAMPLE_BYTES + (BORDER == 'CROP' or IS_DISK))
    * parts(HEIGHT, 4) * (4 + 2 * RADIUS) * PLANES * WIDTH * KSIZE + ALPHA)""" }
---*/

constexpr int ROWS = 4;  // samples that a thread makes
constexpr int BITS = 8 * sizeof(sample);
constexpr bool IS_FLOAT = IS_SAME<sample, float16> || IS_SAME<sample, float32>;
constexpr unsigned LEAST = IS_FLOAT ? 1u << (BITS - 1) : 0;  // of all orders, negated
constexpr int ABOVE_ALL = BITS == 32 ? 0x7FFFFFFF : 1 << BITS % 32;  // of float32 that is no number's

// An integer in the order of samples, and back.
template <typename T>
__device__ __forceinline__ int order_of(T value) {
    if constexpr (IS_SAME<T, float32>) return turned(__float_as_int(value));
    else return key_of(value);
}
template <typename T>
__device__ __forceinline__ T sample_at(int order) {
    if constexpr (IS_SAME<T, float32>) return __int_as_float(turned(order));
    else return sample_of<T>(order);
}

// Of the windows of sample x of ROWS rows from y0 on: how many of their samples are less than `bounds`.  Counted in
// floats: units of their own add these, while those for integers compare.
__device__ __forceinline__ void count_below(
    float (&below)[ROWS], const int (&bounds)[ROWS],
    const sample* __restrict__ src, int x, int y0, int height, int width, int pitch)
{
    for (float& each : below) each = 0.0f;
    const bool inside = x >= HALO_X && x + HALO_X < width * CHANNELS;
    #pragma unroll 1
    for (int j = -RADIUS; j < ROWS + RADIUS; ++j) {
        const int from = border_index(y0 + j, height);
        if (BORDER == CROP && from == OUTSIDE) continue;
        const sample* const row = row_of(src, from == OUTSIDE ? 0 : from, pitch);
        int here[ROWS], most[ROWS];  // bounds, and for a disk what squares along x may be
        for (int r = 0; r < ROWS; ++r) {
            const bool is_row_of_it = -RADIUS <= j - r && j - r <= RADIUS;
            here[r] = is_row_of_it ? bounds[r] : static_cast<int>(0u - LEAST);
            most[r] = RADIUS * RADIUS - (j - r) * (j - r);
        }
        const auto compare = [&](int order, int i) {
            for (int r = 0; r < ROWS; ++r)
                if (order < here[r] && (!IS_DISK || i * i <= most[r])) below[r] += 1.0f;
        };
        if (inside && from != OUTSIDE) {
            #pragma unroll 4
            for (int i = -RADIUS; i <= RADIUS; ++i) compare(order_of(row[x + i * CHANNELS]), i);
            continue;
        }
        #pragma unroll 1
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            const int at = border_sample(x + i * CHANNELS, width);
            if (BORDER == CROP && at == OUTSIDE) continue;
            compare(order_of(from == OUTSIDE || at == OUTSIDE ? sample{} : row[at]), i);
        }
    }
}

// The samples at those places of ROWS windows, in their order.
__device__ __forceinline__ void select(
    sample (&found)[ROWS], const int (&places)[ROWS],
    const sample* __restrict__ src, int x, int y0, int height, int width, int pitch)
{
    unsigned bits[ROWS] = {};  // of their orders, so far
    #pragma unroll 1
    for (unsigned bit = 1u << (BITS - 1); bit != 0; bit >>= 1) {
        int asked[ROWS];
        float below[ROWS];
        for (int r = 0; r < ROWS; ++r) asked[r] = static_cast<int>((bits[r] | bit) - LEAST);
        count_below(below, asked, src, x, y0, height, width, pitch);
        for (int r = 0; r < ROWS; ++r) bits[r] |= below[r] <= static_cast<float>(places[r]) ? bit : 0;
    }
    for (int r = 0; r < ROWS; ++r) found[r] = sample_at<sample>(static_cast<int>(bits[r] - LEAST));
}

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y0 = first_row + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (x >= width * CHANNELS || y0 >= end_row) return;

    if (is_alpha(x)) {
        for (int y = y0; y < min(y0 + ROWS, end_row); ++y) row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    constexpr float ALL = KSIZE * KSIZE;
    float counts[ROWS] = {ALL, ALL, ALL, ALL};
    if (BORDER == CROP || IS_DISK)
        count_below(counts, {ABOVE_ALL, ABOVE_ALL, ABOVE_ALL, ABOVE_ALL}, src, x, y0, height, width, pitch);
    int places[ROWS], others[ROWS];
    bool is_mean = false;  // of two samples, in one of the windows
    for (int r = 0; r < ROWS; ++r) {
        const Ranks at = ranks_of(static_cast<int>(counts[r]));
        places[r] = at.low, others[r] = at.high;
        is_mean = is_mean || at.low != at.high;
    }
    sample low[ROWS], high[ROWS];
    select(low, places, src, x, y0, height, width, pitch);
    if (BORDER == CROP && is_mean) select(high, others, src, x, y0, height, width, pitch);
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        if (y0 + r >= end_row) break;
        const bool is_one = BORDER != CROP || places[r] == others[r];
        row_of(dst, y0 + r, pitch)[x] = is_one ? low[r] : to_sample(0.5f * low[r] + 0.5f * high[r]);
    }
}
