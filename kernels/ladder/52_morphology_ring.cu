/*---
title   = "Morphology in one launch"
idea    = "A block walks down the picture: what the first extreme gives stays in shared memory, where the second looks for its windows, so that the picture is read once and written once."
after   = "morphology_passes"
filter  = "morphology"
quick   = "KSIZE > 1"
includes = ["extremes", "wide", "async", "windows", "strips", "morphology", "differences", "morphology_ring"]
own_block = "A thread takes a column of four bytes down a strip of the picture."
requires = [
    ["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose morphology_disk."],
    ["KSIZE <= 31", "A column's last {KSIZE - 1} rows are kept in registers here, twice, and there is room for 30. Choose morphology_rings."],
]
lesson  = """
An extreme of an extreme needs samples two radii around, but no launch of its own. Of each 16 rows that come in a block \
makes minima along x, then minima down the columns, which are rows of the first extreme; of these it makes maxima along x \
and down the columns, which are rows of the picture. What windows still need of earlier rows, the last K - 1 of each \
column, its thread keeps in registers, so that shared memory holds 16 rows at each stage whatever K is. Beyond the \
picture the border puts its own there, before the second looks."""

[[passes]]
block  = ["up(FIRST_BYTES // 4, 32)", "1"]
covers = ["WIDE_STRIP // SAMPLE_BYTES", "up(parts(HEIGHT, MORPHOLOGY_DOWN), 16)"]
halo = ["FAR * HALO_X", "FAR * HALO_Y"]
rows_by = "16"
shared_bytes = "MORPHOLOGY_BYTES"
# Of 16 rows at a time what lies in the picture; where it wraps around, not what comes from its other end.
loads = { picture = """((up(WIDTH * CHANNELS, CHUNK) + (BLOCKS_X > 1) * (2 * FAR * HALO_CHUNKS * CHUNK * (BLOCKS_X - 1)
        - max(0, FAR * HALO_CHUNKS * CHUNK + COVERS_X * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, CHUNK))))
    * (up(HEIGHT, 16) + segments(16) * up(2 * FAR * RADIUS, 16))
    + (KIND >= 3) * up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);  // STAGES of rows as they are, rows of the first extreme, and of the second
    const int steps = (end_row - first_row + STEP_ROWS - 1) / STEP_ROWS;
    const int tall = (steps + gridDim.y - 1) / gridDim.y * STEP_ROWS, y = first_row + blockIdx.y * tall;
    const Strip strip = {src, height, width, pitch, static_cast<int>(blockIdx.x) * STRIP, y, min(tall, end_row - y)};
    if (strip.rows <= 0) return;
    AsyncRows<Strip, STAGES> rows = {strip};
    walk(reinterpret_cast<unsigned char*>(memory), strip, rows, dst);
}
