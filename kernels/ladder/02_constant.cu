/*---
title   = "Constant memory"
idea    = "The weights move to constant memory: all threads of a warp want the same one, and get it in one broadcast."
after   = "global"
weights = "constant"

[[passes]]
loads = { picture = "FILTERED * KSIZE**2 + ALPHA" }
flops = "2 * FILTERED * KSIZE**2"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

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
    float sum = OFFSET;
    #pragma unroll 1  // or the compiler unrolls until 1024 threads want more registers than there are
    for (int j = 0; j < KSIZE; ++j) {
        const int from = border_index(y + j - RADIUS, height);
        if (from == OUTSIDE) continue;
        const sample* row = row_of(src, from, pitch);
        #pragma unroll 8
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i] * read_along(row, x + (i - RADIUS) * CHANNELS, width);
    }
    row_of(dst, y, pitch)[x] = to_sample(sum);
}
