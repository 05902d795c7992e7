// The copy engine of newer GPUs: a request brings a row, or takes one away.

using barrier = unsigned long long;  // in shared memory

#ifdef CUDA_ON_CPU  // what it would bring is there at once, and seen when all threads have come
__device__ __forceinline__ void begin_barrier(barrier*, int = 1) {}
__device__ __forceinline__ void expect(barrier*, unsigned) {}
__device__ __forceinline__ void arrive(barrier*) {}
__device__ __forceinline__ void wait_for(barrier*, int) { __syncthreads(); }
__device__ __forceinline__ void see_stores() {}
__device__ __forceinline__ void bring(void* to, const void* from, unsigned bytes, barrier*) {
    for (unsigned i = 0; i < bytes / 16; ++i) static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}
__device__ __forceinline__ void send(void* to, const void* from, unsigned bytes) { bring(to, from, bytes, nullptr); }
__device__ __forceinline__ void end_sending() {}
template <int PENDING> __device__ __forceinline__ void wait_for_sent() {}
#else
__device__ __forceinline__ unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ __forceinline__ void begin_barrier(barrier* bar, int threads = 1) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(threads) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// So many bytes complete the barrier's phase, if each of its threads has said how many.
__device__ __forceinline__ void expect(barrier* bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(barrier* bar) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
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
// From shared memory to the picture.
__device__ __forceinline__ void send(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
}
// What this thread has sent since the last call is one group, and it waits until at most PENDING of
// these are still to be read.
__device__ __forceinline__ void end_sending() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for_sent() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
#endif

// As rows of a walk down a strip.
template <class Strip, int STEP_ROWS, int STAGES, int IN_STRIDE>
struct Copies {
    const Strip& strip;
    barrier* bars;  // [STAGES]

    __device__ __forceinline__ void begin(unsigned char* stage, int step) const {
        if (threadIdx.x >= 32 || !strip.has(step)) return;  // one warp
        const unsigned bytes = (strip.end() - strip.from()) * sizeof(sample);
        barrier* const bar = bars + step % STAGES;
        if (threadIdx.x == 0) expect(bar, bytes * STEP_ROWS);
        __syncwarp();
        unsigned char* const to = stage + (strip.from() - strip.first()) * sizeof(sample);
        #pragma unroll
        for (int first = 0; first < STEP_ROWS; first += 32) {
            const int r = first + threadIdx.x;
            if (r < STEP_ROWS) bring(to + r * IN_STRIDE, strip.row(step, r) + strip.from(), bytes, bar);
        }
    }
    __device__ __forceinline__ void wait(int step) const { wait_for(bars + step % STAGES, step / STAGES & 1); }
    __device__ __forceinline__ void put() const { see_stores(); }
};
