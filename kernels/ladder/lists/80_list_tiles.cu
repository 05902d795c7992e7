/*---
title   = "Tiles of a list"
idea    = "A block loads a tile with the halo of all steps, and does them one after another in shared memory: the picture is read once and written once, however long the list is."
filter  = "list"
weights = "list"
includes = ["gradient", "ranks", "blends", "steps"]
quick   = "SAMPLE_BYTES < 4 and LIST_LONGEST <= 5"  # measured on an H200: of float32 a graph is quicker
own_block = "A block of 256 threads shares a tile."
requires = [
    ["LIST_LONGEST <= 9", "Tiles of a list unroll the loops over all weights, too many at size {LIST_LONGEST}; they take sizes up to 9."],
    ["LIST_REACH <= 16", "The halo of this list is {LIST_REACH} pixels on every side: a tile would have more rows of it than the 32 that it makes."],
]
lesson  = """
Each step needs a little more than it gives: two of 3 x 3 need a halo of two pixels, eight of them one of eight. So \
neighbouring tiles load and filter what lies between them both, and the longer the list, the more of it is done \
twice: that is what fusing costs. What it saves is a trip through memory per step, and for bytes four times as much, \
as samples are floats between steps. The border belongs to every step: what lies outside the picture is continued \
anew from what the step before gave, not filtered."""

[[passes]]
block  = ["256", "1"]
covers = ["LIST_ACROSS", "32"]
halo   = ["LIST_REACH * CHANNELS", "LIST_REACH"]
shared_bytes = "8 * (LIST_ACROSS + 2 * LIST_REACH * CHANNELS) * (32 + 2 * LIST_REACH)"
loads  = { picture = "BLOCKS * (LIST_ACROSS + 2 * LIST_REACH * CHANNELS) * (32 + 2 * LIST_REACH)" }
---*/

constexpr int ACROSS = CHANNELS == 3 ? 96 : 64, DOWN = 32;

extern "C" __global__ void __launch_bounds__(256) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, room);
    do_tile<ACROSS, DOWN>(room, src, dst, blockIdx.x * ACROSS, first_row + blockIdx.y * DOWN, width * CHANNELS,
                          end_row, height, width, pitch);
}
