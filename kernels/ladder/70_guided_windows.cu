/*---
title   = "Guided, window by window"
idea    = "One launch gives each window's mean and variance, and of these its a and b; another takes the means of these over all windows that a sample lies in."
filter  = "guided"
weights = "numbers"
includes = ["guided"]
lesson  = """
The guided filter asks of each window how much it varies: where that is much more than ε the window's line a x + b is the sample \
itself, and edges stay; where it is much less the line is the mean. A pixel lies in K x K windows, and takes the mean of their \
lines. The variance is the mean of squares less the square of the mean: in a bright flat window two large numbers that are \
nearly the same, whose difference would be mostly rounding. So these sums are integers, or float64 where samples are floats."""
# Variances are as good as exact. Sums of a and b have K additions along a row and K of rows; a x + b is no larger than the
# largest sample, of whose roundings the bound has four times as many.
chain_length = "parts(2 * KSIZE + 8, 4)"

[buffers]
factors = "HEIGHT * PITCH * 8"

[[passes]]
function = "factor"
writes = "factors"
loads  = { picture = "SAMPLES * KSIZE**2" }
stores = { factors = "2 * SAMPLES" }
flops  = "SAMPLES * (3 * KSIZE**2 + 2 * KSIZE + 11)"

[[passes]]
function = "draw"
reads  = "factors"
also_reads = ["picture"]
loads  = { factors = "2 * SAMPLES * KSIZE**2", picture = "SAMPLES" }
flops  = "SAMPLES * (2 * KSIZE**2 + 2 * KSIZE) + 3 * FILTERED"
---*/

// The sums of the window around sample x of row y, its rows' first.
template <typename T, typename From>
__device__ __forceinline__ Two<T> window_sums(const From* from, int x, int y, int height, int width, int pitch) {
    Two<T> sums{};
    #pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j) {
        const int from_y = border_index(y + j, height);
        Two<T> along{};
        #pragma unroll 4
        for (int i = -RADIUS; i <= RADIUS; ++i)
            along += read_two(from, border_sample(x + i * CHANNELS, width), from_y, pitch);
        sums += along;
    }
    return sums;
}

extern "C" __global__ void factor(
    const sample* __restrict__ src, Two<float>* __restrict__ factors,
    int height, int width, int pitch, int first_row, int end_row)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    const Two<total> sums = window_sums<total>(src, x, y, height, width, pitch);
    row_of(factors, y, pitch)[x] = factors_of(sums, count_at(x, y, height, width));
}

// Beyond the edges the factors are continued, which is not the same as factors of a picture that was continued further.
extern "C" __global__ void draw(
    const Two<float>* __restrict__ factors, const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    const Two<float> sums = window_sums<float>(factors, x, y, height, width, pitch);
    row_of(dst, y, pitch)[x] = drawn(sums, count_at(x, y, height, width), row_of(src, y, pitch)[x], x);
}
