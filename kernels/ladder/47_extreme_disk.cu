/*---
title   = "Minima of a disk's rows"
idea    = "Each row of a disk is one run of samples, and of any run two windows of 1, 2, 4, 8 ... samples make the minimum: two reads for a row of the disk, not one for each sample."
after   = "extreme_running"
filter  = "extremes"
includes = ["extremes", "disks"]
requires = [["IS_DISK == 1", "Of a square all rows are equally long, and this rung is for a disk's, which differ. Choose extreme_separable."]]
lesson  = """
A disk is no rows times columns, but each of its K rows is a run of samples. A block stages its tile and the halo, and \
replaces each sample by the minimum of 2, of 4, of 8 from there on. A run of 13 is two windows of 8 that overlap: so a \
thread looks at its disk's rows from the shortest to the longest, and at each as soon as windows are more than half as \
long. A disk of diameter 63 takes 126 reads, instead of 3001."""

[[passes]]
shared_bytes = "2 * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }
---*/

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tiles);    // two of TILE_H rows of TILE_W, by turns
    const float found = disk_extreme(tiles, src, height, width, pitch, first_row);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    row_of(dst, y, pitch)[x] = is_alpha(x) ? row_of(src, y, pitch)[x] : to_sample(found);
}
