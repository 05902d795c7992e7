/*---
title   = "Untiled picture"
idea    = "No tiles and no halo: the whole picture lies in one block's shared memory, and the rest of the GPU does nothing."
after   = "shared"
weights = "constant"

[[passes]]
covers = ["WIDTH * CHANNELS", "HEIGHT"]  # so there is one block
halo = ["0", "0"]
shared_bytes = "HEIGHT * WIDTH * CHANNELS * 4"
loads = { picture = "SAMPLES + ALPHA" }
flops = "2 * FILTERED * KSIZE**2"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tile);  // the picture: 241x241 in 227 KiB, 110x110 in 48 KiB, if it is grey

    // 1. Stage.  A thread takes every blockDim-th sample along both axes.
    const int samples = width * CHANNELS;  // of a row
    for (int y = threadIdx.y; y < height; y += blockDim.y)
        #pragma unroll 4
        for (int x = threadIdx.x; x < samples; x += blockDim.x)
            tile[y * samples + x] = static_cast<float>(row_of(src, y, pitch)[x]);
    __syncthreads();

    // 2. Convolve out of shared memory; with no halo there, each tap has to mind the border.
    for (int y = first_row + threadIdx.y; y < end_row; y += blockDim.y)
        for (int x = threadIdx.x; x < samples; x += blockDim.x) {
            if (is_alpha(x)) {
                row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
                continue;
            }
            float sum = OFFSET;
            #pragma unroll 1  // or the compiler unrolls until 1024 threads want more registers than there are
            for (int j = 0; j < KSIZE; ++j) {
                const int from = border_index(y + j - RADIUS, height);
                if (from == OUTSIDE) continue;
                const float* row = tile + from * samples;
                #pragma unroll (KSIZE <= 7 ? KSIZE : 4)  // more would want more registers than 64
                for (int i = 0; i < KSIZE; ++i)
                    sum += WEIGHTS[j * KSIZE + i] * read_along(row, x + (i - RADIUS) * CHANNELS, width);
            }
            row_of(dst, y, pitch)[x] = to_sample(sum);
        }
}
