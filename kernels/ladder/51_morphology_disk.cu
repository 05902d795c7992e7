/*---
title   = "Morphology of a disk"
idea    = "Two launches, each from two reads for each row of the disk; the second works out the difference as well."
after   = "morphology_passes"
filter  = "morphology"
includes = ["extremes", "disks", "morphology"]
requires = [["IS_DISK == 1", "Of a square all rows are equally long, and this rung is for a disk's, which differ. Choose morphology_passes."]]
lesson  = """
A disk cannot be done rows first and columns then, but each of its rows is a run of samples, of which two windows of 1, \
2, 4, 8 ... make the minimum. So an extreme is one launch, and an opening two. An opening by a disk leaves round what is \
round, where a square leaves corners."""

[buffers]
first = "HEIGHT * PITCH * 4"

[[passes]]
function = "first_extreme"
writes = "first"
shared_bytes = "2 * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { picture = "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + ALPHA" }

[[passes]]
function = "second_extreme"
reads = "first"
also_reads = ["picture"]
shared_bytes = "2 * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) * 4"
loads = { first = "(KIND != 2) * BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + (KIND == 2) * FILTERED + ALPHA", picture = "(KIND == 2) * BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y) + (KIND >= 3) * FILTERED" }
---*/

extern "C" __global__ void first_extreme(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ first,       // the same; of alpha what it is
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of first that this launch writes
{
    DYNAMIC_SHARED(float, tiles);    // two of TILE_H rows of TILE_W, by turns
    const float found = disk_extreme<FIRST>(tiles, src, height, width, pitch, first_row);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    row_of(first, y, pitch)[x] = is_alpha(x) ? static_cast<float>(row_of(src, y, pitch)[x]) : found;
}

extern "C" __global__ void second_extreme(
    const float* __restrict__ first, const sample* __restrict__ src,
    sample* __restrict__ dst, int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tiles);
    float found;
    if constexpr (KIND == GRADIENT) found = disk_extreme<SECOND>(tiles, src, height, width, pitch, first_row);
    else found = disk_extreme<SECOND>(tiles, first, height, width, pitch, first_row);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    if (is_alpha(x)) found = row_of(first, y, pitch)[x];
    write_made(first, found, src, dst, x, y, pitch);
}
