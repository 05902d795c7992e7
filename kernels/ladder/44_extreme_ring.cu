/*---
title   = "Ring of minima"
idea    = "A block walks down the picture: rows' minima stay in a ring in shared memory, and along either axis a thread makes many neighbours at once, whose windows share a core."
after   = "extreme_running"
filter  = "extremes"
includes = ["extremes", "wide", "async", "windows", "strips", "extreme_ring"]
own_block = "A block walks down a strip of the picture."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
Windows that lie side by side share most of their samples, the core. What a thread has of a row in registers it uses \
for all of them: minima from the core to the left are running minima, and so are those to the right, and each place \
needs one of either. Down the columns the same happens with rows of minima, which stay in shared memory for as long \
as a window needs them: every row is read once, and worked out once along x. Bytes are compared two at a time, as \
the upper halves of 16 bits, for which newer GPUs have an instruction."""

[[passes]]
block  = ["RING_THREADS", "1"]
covers = ["STRIP_BYTES // SAMPLE_BYTES", "EXTREME_COVERS"]
rows_by = "1"
shared_bytes = "RING_BYTES"
loads = { picture = "EXTREME_LOADS" }
stores = { picture = "up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);  // STAGES of rows as they are, and the ring of SLOTS
    const int tall = (end_row - first_row + gridDim.y - 1) / gridDim.y, y = first_row + blockIdx.y * tall;
    const Strip strip = {src, height, width, pitch, static_cast<int>(blockIdx.x) * STRIP, y, min(tall, end_row - y)};
    if (strip.rows <= 0) return;
    AsyncRows<Strip, STAGES> rows = {strip};
    walk(reinterpret_cast<unsigned char*>(memory), strip, rows, dst);
}
