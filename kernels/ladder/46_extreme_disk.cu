/*---
title   = "Minima of a disk's rows"
idea    = "Each row of a disk is one run of samples, and of any run two windows of 1, 2, 4, 8 ... samples make the minimum: two reads for a row of the disk, not one for each sample."
after   = "extreme_doubling"
filter  = "extremes"
includes = ["extremes"]
requires = [["IS_DISK == 1", "Of a square all rows are equally long, and this rung is for a disk's, which differ. Choose extreme_separable."]]
lesson  = """
A disk is no rows times columns, but each of its K rows is a run of samples. A block stages its tile and the halo, and \
replaces each sample by the minimum of 2, of 4, of 8 from there on. A run of 13 is two windows of 8 that overlap: so a \
thread looks at its disk's rows from the shortest to the longest, and at each as soon as windows are more than half as \
long. A disk of diameter 63 takes 126 reads, instead of 3117."""

[[passes]]
shared_bytes = "2 * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }
---*/

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // samples
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // rows
constexpr int TILE = TILE_W * TILE_H;

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tiles);    // two of TILE_H rows of TILE_W, by turns
    float *windows = tiles, *next = tiles + TILE;

    // 1. Stage.  tile[0] is the sample HALO_X left of and HALO_Y above the block's first.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    #pragma unroll 4
    for (int at = thread; at < TILE; at += THREADS)
        windows[at] = read_or_outside(src, x0 + at % TILE_W, y0 + at / TILE_W, height, width, pitch);
    __syncthreads();

    // 2. Of `span` samples from each place on.  Near the end of a row these are the next one's: nobody asks for them.
    const int centre = (threadIdx.y + HALO_Y) * TILE_W + threadIdx.x + HALO_X;
    float found = windows[centre];
    int j = RADIUS;  // rows above and below the centre
    #pragma unroll 1
    for (int span = 1; ; span *= 2) {
        for (; j >= 0; --j) {
            const int half = static_cast<int>(sqrtf(static_cast<float>(RADIUS * RADIUS - j * j)));
            const int length = 2 * half + 1;
            if (length >= 2 * span) break;
            const float* const above = windows + centre - j * TILE_W - half * CHANNELS;
            const float* const below = above + 2 * j * TILE_W;
            const int second = (length - span) * CHANNELS;
            found = best(found, best(best(above[0], above[second]), best(below[0], below[second])));
        }
        if (j < 0) break;
        #pragma unroll 4
        for (int at = thread; at < TILE; at += THREADS)
            next[at] = at + span * CHANNELS < TILE ? best(windows[at], windows[at + span * CHANNELS]) : windows[at];
        __syncthreads();  // and all are done with `windows`
        float* const done = windows;
        windows = next, next = done;
    }

    const int x = x0 + HALO_X + threadIdx.x, y = y0 + HALO_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    row_of(dst, y, pitch)[x] = is_alpha(x) ? row_of(src, y, pitch)[x] : to_sample(found);
}
