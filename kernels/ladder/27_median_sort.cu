/*---
title   = "Sorted windows"
idea    = "One thread per sample puts the samples of its window in order, one by one, in memory of its own."
filter  = "percentiles"
includes = ["ranks", "percentile"]
lesson  = """
A thread has registers for a few dozen numbers, each with a name of its own: an array that is looked up by a number that the \
compiler does not know lies in local memory instead, which is the thread's share of global memory. An insertion sort moves half \
of what it has for each new sample, so a window of K x K costs about K^4 / 4 such moves."""
requires = [["KSIZE <= 15", "Sorting {KSIZE * KSIZE} samples in each thread would take minutes. Choose a smaller size, or rank_bits."]]

[[passes]]
loads = { picture = "FILTERED * WINDOW + ALPHA" }
---*/

constexpr int COUNT = KSIZE * KSIZE;

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
    int ordered[COUNT];
    int count = 0;
    #pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j) {
        #pragma unroll 1
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            if (IS_DISK && i * i + j * j > RADIUS * RADIUS) continue;
            const bool is_there = border_index(y + j, height) != OUTSIDE
                && border_sample(x + i * CHANNELS, width) != OUTSIDE;
            if (BORDER == CROP && !is_there) continue;
            // Floats themselves are compared, as all rungs are compiled, with the tiniest taken for zeros.
            const int value = turned<float>(__float_as_int(
                read_sample(src, x + i * CHANNELS, y + j, height, width, pitch)));
            int at = count++;
            for (; at > 0 && ordered[at - 1] > value; --at) ordered[at] = ordered[at - 1];
            ordered[at] = value;
        }
    }
    const Ranks at = ranks_of(count);
    const float low = __int_as_float(turned<float>(ordered[at.low]));
    const float high = __int_as_float(turned<float>(ordered[at.high]));
    row_of(dst, y, pitch)[x] = to_sample(at.low == at.high ? low : 0.5f * low + 0.5f * high);
}
