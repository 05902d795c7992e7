/*---
title   = "Global memory"
idea    = "One thread per sample; samples and weights both come from global memory, tap by tap."
weights = "global"

[[passes]]
loads = { picture = "FILTERED * KSIZE**2 + ALPHA", weights = "FILTERED * KSIZE**2" }
flops = "2 * FILTERED * KSIZE**2"
---*/

extern "C" __global__ void convolve(
    const sample* __restrict__ src,     // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,           // the same
    const float* __restrict__ weights,  // (KSIZE, KSIZE)
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    float sum = OFFSET;
    #pragma unroll 1  // or the compiler unrolls until 1024 threads want more registers than there are
    for (int j = 0; j < KSIZE; ++j) {
        const int from = border_index(y + j - RADIUS, height);
        if (from == OUTSIDE) continue;
        const sample* row = row_of(src, from, pitch);
        #pragma unroll 8
        for (int i = 0; i < KSIZE; ++i)
            sum += weights[j * KSIZE + i] * read_along(row, x + (i - RADIUS) * CHANNELS, width);
    }
    row_of(dst, y, pitch)[x] = to_sample(sum);
}
