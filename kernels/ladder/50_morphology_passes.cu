/*---
title   = "Morphology, pass by pass"
idea    = "An opening is the maximum of a minimum, and each is running minima down the columns and along the rows: four launches, with a picture of floats between two of them."
filter  = "morphology"
includes = ["extremes", "running", "morphology"]
own_block = "A thread takes a column down, or a part of K samples of a row."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose morphology_disk."]]
lesson  = """
The second extreme needs K x K of what the first one gives, so all of that has to be there first: the end of a launch \
is a barrier for the whole picture. The border continues what the first gave, not the picture: with zeros, an opening \
ends in zeros all around. Running minima take three comparisons whatever K is, but each launch reads and writes as \
many floats as the picture has samples: of bytes eight times as much."""

[buffers]
columns = "HEIGHT * PITCH * 4"
first = "HEIGHT * PITCH * 4"

[[passes]]
function = "first_down"
writes = "columns"
halo = ["0", "HALO_Y"]
block = ["128", "1"]
covers = ["128", "KSIZE * parts(128, KSIZE)"]
shared_bytes = "128 * KSIZE * 4"
loads = { picture = "WIDTH * CHANNELS * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + ALPHA" }

[[passes]]
function = "first_along"
reads = "columns"
writes = "first"
halo = ["HALO_X", "0"]
block = ["256", "1"]
covers = ["256 // CHANNELS * CHANNELS", "16"]
# ROWS * STRIDE floats, twice
shared_bytes = "2 * 4 * 16 * (parts(256 // CHANNELS + KSIZE - 1, KSIZE) * KSIZE * CHANNELS | 1)"
loads = { columns = "HEIGHT * (WIDTH * CHANNELS + BLOCKS_X * 2 * HALO_X) + ALPHA" }

[[passes]]
function = "second_down"
reads = "first"
also_reads = ["picture"]
writes = "columns"
halo = ["0", "HALO_Y"]
block = ["128", "1"]
covers = ["128", "KSIZE * parts(128, KSIZE)"]
shared_bytes = "128 * KSIZE * 4"
loads = { first = "(KIND != 2) * (WIDTH * CHANNELS * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + ALPHA)", picture = "(KIND == 2) * (WIDTH * CHANNELS * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + ALPHA)" }

[[passes]]
function = "second_along"
reads = "columns"
also_reads = ["first", "picture"]
halo = ["HALO_X", "0"]
block = ["256", "1"]
covers = ["256 // CHANNELS * CHANNELS", "16"]
shared_bytes = "2 * 4 * 16 * (parts(256 // CHANNELS + KSIZE - 1, KSIZE) * KSIZE * CHANNELS | 1)"
loads = { columns = "HEIGHT * (WIDTH * CHANNELS + BLOCKS_X * 2 * HALO_X) + ALPHA", first = "(KIND == 2) * FILTERED", picture = "(KIND >= 3) * FILTERED" }
---*/

extern "C" __global__ void first_down(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ columns,     // the same, as first and dst below; of alpha what it is
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows that this launch writes
{
    DYNAMIC_SHARED(float, all_ends);
    run_down<FIRST>(all_ends, src, columns, height, width, pitch, first_row, end_row);
}

extern "C" __global__ void __launch_bounds__(THREADS) first_along(
    const float* __restrict__ columns, float* __restrict__ first,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, beginnings);
    run_along<FIRST>(beginnings, columns, height, width, pitch, first_row, end_row,
                     [&](int x, int y, float found) { row_of(first, y, pitch)[x] = found; });
}

extern "C" __global__ void second_down(
    const float* __restrict__ first, const sample* __restrict__ src, float* __restrict__ columns,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, all_ends);
    if constexpr (KIND == GRADIENT) run_down<SECOND>(all_ends, src, columns, height, width, pitch, first_row, end_row);
    else run_down<SECOND>(all_ends, first, columns, height, width, pitch, first_row, end_row);
}

extern "C" __global__ void __launch_bounds__(THREADS) second_along(
    const float* __restrict__ columns, const float* __restrict__ first, const sample* __restrict__ src,
    sample* __restrict__ dst, int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, beginnings);
    run_along<SECOND>(beginnings, columns, height, width, pitch, first_row, end_row, [&](int x, int y, float found) {
        write_made(first, found, src, dst, x, y, pitch);
    });
}
