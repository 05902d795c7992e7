/*---
title   = "Separable minimum"
idea    = "The minimum of a square is that of its rows' minima: a block keeps these in shared memory, and looks down their columns."
after   = "extreme_taps"
filter  = "extremes"
includes = ["extremes"]
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
A minimum of minima is the minimum of all: so a square takes 2 K comparisons for each sample instead of K x K, as \
separable weights take 2 K products. Nothing is lost on the way, since nothing is rounded. The rows of a block's \
halo cost the more, the fewer rows a block has: it works out BLOCK_Y + K - 1 of them."""

[[passes]]
shared_bytes = "BLOCK_X * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "PLANES * WIDTH * BLOCKS_Y * (BLOCK_Y + 2 * HALO_Y) * KSIZE + ALPHA" }
---*/

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, along);  // BLOCK_Y + 2 * HALO_Y rows of BLOCK_X

    // 1. Along the rows, those of the halo above and below as well.
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y0 = first_row + blockIdx.y * BLOCK_Y;
    if (x < width * CHANNELS && !is_alpha(x)) {
        #pragma unroll 1
        for (int j = threadIdx.y; j < BLOCK_Y + 2 * HALO_Y; j += BLOCK_Y) {
            const int from_y = y0 - HALO_Y + j;
            float found = read_or_outside(src, x, from_y, height, width, pitch);
            #pragma unroll (KSIZE <= 15 ? KSIZE : 8)
            for (int i = -RADIUS; i <= RADIUS; ++i)
                if (i != 0) found = best(found, read_or_outside(src, x + i * CHANNELS, from_y, height, width, pitch));
            along[j * BLOCK_X + threadIdx.x] = found;
        }
    }
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Down the columns.
    const int y = y0 + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    const float* const column = along + threadIdx.y * BLOCK_X + threadIdx.x;
    float found = column[0];
    #pragma unroll (KSIZE <= 31 ? KSIZE : 8)
    for (int j = 1; j < KSIZE; ++j) found = best(found, column[j * BLOCK_X]);
    row_of(dst, y, pitch)[x] = to_sample(found);
}
