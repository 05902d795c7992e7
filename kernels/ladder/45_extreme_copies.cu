/*---
title   = "Ring of minima, copy engine"
idea    = "The copy engine brings the rows: one request a row, by one warp, and no thread waits for it or holds an address."
after   = "extreme_ring"
filter  = "extremes"
quick   = "SAMPLE_BYTES == 4 and KSIZE <= 31"  # measured on an H200
includes = ["extremes", "wide", "windows", "strips", "copies", "extreme_ring"]
capability = [9, 0]
own_block = "A block walks down a strip of the picture."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
An asynchronous copy moves sixteen bytes, and every thread has to ask for its own. Newer GPUs have an engine that \
moves any number of them: a row of a strip is one request, which says how many bytes it will bring to a barrier in \
shared memory, and who waits at the barrier knows that all are there. It also does not mind where a row lies in \
shared memory: rows that are sixteen bytes further than a line of 128 apart, so that lanes in different rows meet in \
no bank, are fetched once. Asynchronous copies fetch 32 bytes for each of their halves there."""

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
    __shared__ barrier bars[STAGES];
    const int tall = (end_row - first_row + gridDim.y - 1) / gridDim.y, y = first_row + blockIdx.y * tall;
    const Strip strip = {src, height, width, pitch, static_cast<int>(blockIdx.x) * STRIP, y, min(tall, end_row - y)};
    if (strip.rows <= 0) return;
    if (threadIdx.x < STAGES) begin_barrier(bars + threadIdx.x);
    __syncthreads();
    Copies<Strip, STEP_ROWS, STAGES, IN_STRIDE> rows = {strip, bars};
    walk(reinterpret_cast<unsigned char*>(memory), strip, rows, dst);
}
