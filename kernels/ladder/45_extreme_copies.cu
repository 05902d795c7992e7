/*---
title   = "Ring of minima, copy engine"
idea    = "The copy engine brings the rows: one request a row, by one warp, and no thread waits for it or holds an address."
after   = "extreme_ring"
filter  = "extremes"
quick   = "SAMPLE_BYTES == 4 and KSIZE <= 31"  # measured on an H200
includes = ["extremes", "wide", "extreme_ring"]
capability = [9, 0]
own_block = "A block of 256 threads walks down a strip of the picture."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
An asynchronous copy moves sixteen bytes, and every thread has to ask for its own. Newer GPUs have an engine that \
moves any number of them: a row of a strip is one request, which says how many bytes it will bring to a barrier in \
shared memory, and who waits at the barrier knows that all are there. It also does not mind where a row lies in \
shared memory: rows that are sixteen bytes further than a line of 128 apart, so that lanes in different rows meet in \
no bank, are fetched once. Asynchronous copies fetch 32 bytes for each of their halves there."""

[[passes]]
block  = ["256", "1"]
covers = ["STRIP_BYTES // SAMPLE_BYTES", """max(32, up(parts(HEIGHT, max(1,
    (2 if SAMPLE_BYTES == 4 and KSIZE <= 31 else 1) * min(6, 232448 // (RING_BYTES + 1024)) * MULTIPROCESSORS
    // parts(WIDTH * CHANNELS * SAMPLE_BYTES, STRIP_BYTES))) + KSIZE - 1, 32) - (KSIZE - 1))"""]
rows_by = "1"
shared_bytes = "RING_BYTES"
# Of 32 rows at a time what lies in the picture; where it wraps around, not what comes from its other end.
loads = { picture = """((up(WIDTH * CHANNELS, CHUNK) + (BLOCKS_X > 1) * (2 * HALO_CHUNKS * CHUNK * (BLOCKS_X - 1)
        - max(0, HALO_CHUNKS * CHUNK + COVERS_X * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, CHUNK))))
    * ((segments(1) - 1) * up(parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 32)
        + up(HEIGHT - (segments(1) - 1) * parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 32)))""" }
stores = { picture = "up(WIDTH * CHANNELS, 4 // SAMPLE_BYTES) * HEIGHT" }
---*/

// ---- The copy engine. ------------------------------------------------------------------------------

using barrier = unsigned long long;  // in shared memory

#ifdef CUDA_ON_CPU  // what it would bring is there at once
__device__ __forceinline__ void begin_barrier(barrier*) {}
__device__ __forceinline__ void expect(barrier*, unsigned) {}
__device__ __forceinline__ void wait_for(barrier*, int) {}
__device__ __forceinline__ void see_stores() {}
__device__ __forceinline__ void bring(void* to, const void* from, unsigned bytes, barrier*) {
    for (unsigned i = 0; i < bytes / 16; ++i) static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}
#else
__device__ __forceinline__ unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ __forceinline__ void begin_barrier(barrier* bar) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// So many bytes complete the barrier's phase.
__device__ __forceinline__ void expect(barrier* bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bring(void* to, const void* from, unsigned bytes, barrier* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(bar)) : "memory");
}
// Until the phase is complete; phases count 0, 1, 0, 1 ...
__device__ __forceinline__ void wait_for(barrier* bar, int phase) {
    asm volatile("{\n.reg .pred there;\nagain:\n"
                 "mbarrier.try_wait.parity.shared.b64 there, [%0], %1;\n@!there bra again;\n}"
                 ::"r"(shared_address(bar)), "r"(phase) : "memory");
}
// Or the engine might not see what threads have stored, and bring new bytes before it.
__device__ __forceinline__ void see_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

struct Rows {
    const Strip& strip;
    barrier* bars;  // [STAGES]

    __device__ __forceinline__ void begin(unsigned char* stage, int step) const {
        const int r = threadIdx.x;
        if (r >= STEP_ROWS || !strip.has(step)) return;  // one warp
        const unsigned bytes = (strip.end() - strip.from()) * BYTES;
        barrier* const bar = bars + step % STAGES;
        if (r == 0) expect(bar, bytes * STEP_ROWS);
        __syncwarp();
        unsigned char* const to = stage + r * IN_STRIDE + (strip.from() - strip.first()) * BYTES;
        bring(to, strip.row(step, r) + strip.from(), bytes, bar);
    }
    __device__ __forceinline__ void wait(int step) const { wait_for(bars + step % STAGES, step / STAGES & 1); }
    __device__ __forceinline__ void put() const { see_stores(); }
};

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
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
    Rows rows = {strip, bars};
    walk(reinterpret_cast<unsigned char*>(memory), strip, rows, dst);
}
