/*---
title   = "Running minimum"
idea    = "Lines are cut into parts of K: a window is the end of one part and the beginning of the next, and minima of both are running minima."
after   = "extreme_separable"
filter  = "extremes"
includes = ["extremes", "running"]
own_block = "A thread takes a column down, or a part of K samples of a row."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
A sum can run along a line: what leaves is taken away. A minimum cannot, for who tells what is left when the least \
leaves? But of parts that are as long as the window, any window covers the end of one part and the beginning of the \
next. Minima of all beginnings are made from left to right, one comparison each, minima of all ends from right to \
left, and a third comparison joins the two: three for a sample, whatever K is (van Herk, and Gil and Werman, 1992 \
and 1993). The price is order: a thread has to walk along a whole part, and keeps K values while it does."""

[buffers]
columns = "HEIGHT * PITCH * 4"

[[passes]]
function = "down_columns"
writes = "columns"
halo = ["0", "HALO_Y"]
block = ["128", "1"]
covers = ["128", "KSIZE * parts(128, KSIZE)"]
shared_bytes = "128 * KSIZE * 4"
loads = { picture = "WIDTH * CHANNELS * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + ALPHA" }

[[passes]]
function = "along_rows"
reads = "columns"
halo = ["HALO_X", "0"]
block = ["256", "1"]
covers = ["256 // CHANNELS * CHANNELS", "16"]
# ROWS * STRIDE floats, twice
shared_bytes = "2 * 4 * 16 * (parts(256 // CHANNELS + KSIZE - 1, KSIZE) * KSIZE * CHANNELS | 1)"
loads = { columns = "HEIGHT * (WIDTH * CHANNELS + BLOCKS_X * 2 * HALO_X) + ALPHA" }
---*/

extern "C" __global__ void down_columns(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ columns,     // the same; of alpha what it is
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of columns that this launch writes
{
    DYNAMIC_SHARED(float, all_ends);  // [KSIZE][COLUMNS]
    run_down(all_ends, src, columns, height, width, pitch, first_row, end_row);
}

extern "C" __global__ void __launch_bounds__(THREADS) along_rows(
    const float* __restrict__ columns,  // (height, width, CHANNELS), of down_columns
    sample* __restrict__ dst,           // the same
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, beginnings);  // [ROWS][STRIDE], and as many ends
    run_along(beginnings, columns, height, width, pitch, first_row, end_row,
              [&](int x, int y, float found) { row_of(dst, y, pitch)[x] = to_sample(found); });
}
