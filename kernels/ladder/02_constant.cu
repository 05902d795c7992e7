/*---
title   = "Constant memory"
idea    = "The weights move to constant memory: all threads of a warp want the same one, and get it in one broadcast."
after   = "global"
weights = "constant"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    if (is_alpha(x)) {
        row_of(dst, y, width)[x] = row_of(src, y, width)[x];
        return;
    }
    float sum = 0.0f;
    // Left to itself the compiler unrolls until 1024 threads want more registers than there are.
    #pragma unroll 1
    for (int j = 0; j < KSIZE; ++j)
        #pragma unroll 4
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i]
                 * read_sample(src, x + (i - RADIUS) * CHANNELS, y + j - RADIUS, height, width);
    row_of(dst, y, width)[x] = to_sample(sum);
}
