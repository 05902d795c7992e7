/*---
title   = "Morphology, ring by ring"
idea    = "Two launches, each of which walks down the picture with a ring of rows' extremes in shared memory; the second makes the difference as it writes."
after   = "morphology_ring"
filter  = "morphology"
# Measured on an H200, openings alone.
quick   = "KSIZE > (9 if KIND != 2 and (SAMPLE_BYTES == 1 or SAMPLE_BYTES * CHANNELS == 2) else 31)"
includes = ["extremes", "wide", "async", "windows", "strips", "morphology", "differences", "extreme_ring"]
own_block = "A block walks down a strip of the picture."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose morphology_disk."]]
lesson  = """
What one launch keeps for both extremes grows with the window, in registers and at the edges of its strip, which the \
first extreme needs twice as wide. Above some size it is cheaper to write the first extreme to memory and to read it \
again, in the picture's own type: two launches of extreme_ring, the fastest extreme of windows above 31."""

[buffers]
first = "HEIGHT * PITCH * SAMPLE_BYTES"

[[passes]]
function = "first_extreme"
writes = "first"
block  = ["RING_THREADS", "1"]
covers = ["STRIP_BYTES // SAMPLE_BYTES", "EXTREME_COVERS"]
rows_by = "1"
shared_bytes = "RING_BYTES"
loads = { picture = "EXTREME_LOADS" }
stores = { first = "parts(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT" }  # four bytes count as one

[[passes]]
function = "second_extreme"
reads = "first"
also_reads = ["picture"]
block  = ["RING_THREADS", "1"]
covers = ["STRIP_BYTES // SAMPLE_BYTES", "EXTREME_COVERS"]
rows_by = "1"
shared_bytes = "RING_BYTES"
# A gradient's second extreme is of the picture; of the first it takes a word where it writes one.
loads.first = """(EXTREME_LOADS * SAMPLE_BYTES // 4 if KIND != 2
    else parts(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT)"""
loads.picture = "EXTREME_LOADS if KIND == 2 else (KIND >= 3) * up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT"
stores = { picture = "up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

// The extreme of `src`, a word at a time to write(at, word): samples from `at` on.
template <bool MAX, class Write>
__device__ __forceinline__ void extreme_of(
    const sample* src, int height, int width, int pitch, int first_row, int end_row, const Write& write)
{
    DYNAMIC_SHARED(uint4, memory);  // STAGES of rows as they are, and the ring of SLOTS
    const int tall = (end_row - first_row + gridDim.y - 1) / gridDim.y, y = first_row + blockIdx.y * tall;
    const Strip strip = {src, height, width, pitch, static_cast<int>(blockIdx.x) * STRIP, y, min(tall, end_row - y)};
    if (strip.rows <= 0) return;
    AsyncRows<Strip, STAGES> rows = {strip};
    walk<MAX>(reinterpret_cast<unsigned char*>(memory), strip, rows, write);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) first_extreme(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ first,      // the same; of alpha what it is
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of first that this launch writes
{
    extreme_of<FIRST>(src, height, width, pitch, first_row, end_row, [&](long long at, unsigned found) {
        *reinterpret_cast<unsigned*>(first + at) = found;
    });
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) second_extreme(
    const sample* __restrict__ first, const sample* __restrict__ src,
    sample* __restrict__ dst, int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const auto word_at = [&](const sample* from, long long at) { return *reinterpret_cast<const unsigned*>(from + at); };
    extreme_of<SECOND>(KIND == GRADIENT ? src : first, height, width, pitch, first_row, end_row,
                       [&](long long at, unsigned found) {
        const unsigned of_first = KIND == GRADIENT ? word_at(first, at) : 0, original = IS_HAT ? word_at(src, at) : 0;
        const int column = at % pitch / (4 / BYTES);
        *reinterpret_cast<unsigned*>(dst + at) = made_of(of_first, found, original, alpha_bits(column));
    });
}
