/*---
title   = "Minimum, tap by tap"
idea    = "One thread per sample looks at every sample of its window and keeps the least, or the greatest."
filter  = "extremes"
includes = ["extremes"]
lesson  = """
A minimum needs no weights, no rounding and no order: each sample of the window is compared once. What it costs is \
reading them, K x K for each sample that is written. The window may have any shape, a disk for one, and what lies \
outside a picture may not count: it is as if it were infinite."""

[[passes]]
loads = { picture = "SAMPLES + FILTERED * WINDOW" }
---*/

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    float found = row_of(src, y, pitch)[x];
    if (!is_alpha(x)) {
        #pragma unroll 1
        for (int j = -RADIUS; j <= RADIUS; ++j)
            #pragma unroll (KSIZE <= 15 ? KSIZE : 8)
            for (int i = -RADIUS; i <= RADIUS; ++i)
                if (!IS_DISK || i * i + j * j <= RADIUS * RADIUS)
                    found = best(found, read_or_outside(src, x + i * CHANNELS, y + j, height, width, pitch));
    }
    row_of(dst, y, pitch)[x] = to_sample(found);
}
