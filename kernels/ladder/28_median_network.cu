/*---
title   = "Median network"
idea    = "Minima and maxima in a fixed order, whatever the samples are: then all of them have names, and stay in registers."
filter  = "median"
after   = "median_sort"
includes = ["ranks"]
lesson  = """
Sorting by comparisons has to look up its samples by numbers that depend on what it finds. A network does the same \
exchanges for all windows: the compiler knows each place, so that all threads of a warp go the same way and nothing \
leaves the registers. And to find the middle it need not sort. Of n / 2 + 2 samples neither the least nor the \
greatest can be the median of all n: it drops both, takes the next sample, and so on until three are left."""
requires = [
    ["KSIZE <= 7", "The network would need {KSIZE * KSIZE // 2 + 2} registers for samples, and thousands of instructions. Choose a size up to 7, or another implementation, such as rank_bits."],
    ["not IS_DISK", "The network takes squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "The network needs all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
loads = { picture = "FILTERED * KSIZE**2 + ALPHA" }
---*/

constexpr int COUNT = KSIZE * KSIZE;
constexpr int HELD = COUNT == 1 ? 1 : COUNT / 2 + 2;  // samples at a time

__device__ __forceinline__ void exchange(Key& low, Key& high) {
    const Key less = least(low, high);
    high = greatest(low, high), low = less;
}

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    int along[KSIZE];
    #pragma unroll
    for (int i = 0; i < KSIZE; ++i) along[i] = border_sample(x + (i - RADIUS) * CHANNELS, width);
    const auto read = [&](int n) -> Key {
        const int from = border_index(y + n / KSIZE - RADIUS, height), at = along[n % KSIZE];
        return from == OUTSIDE || at == OUTSIDE ? 0 : key_of(row_of(src, from, pitch)[at]);
    };
    Key held[HELD];
    #pragma unroll
    for (int n = 0; n < HELD; ++n) held[n] = read(n);
    #pragma unroll
    for (int count = HELD; count >= 3; --count) {
        // Pairs; then the least of their lesser ones goes to the front, the greatest of the others to the end.
        #pragma unroll
        for (int n = 0; n < count / 2; ++n) exchange(held[n], held[count - 1 - n]);
        #pragma unroll
        for (int n = 1; n < (count + 1) / 2; ++n) exchange(held[0], held[n]);
        #pragma unroll
        for (int n = count / 2; n < count - 1; ++n) exchange(held[n], held[count - 1]);
        // In the place of the least; that of the greatest stays empty.
        if (count > 3) held[0] = read(COUNT + 3 - count);
    }
    row_of(dst, y, pitch)[x] = sample_of(held[COUNT > 1]);
}
