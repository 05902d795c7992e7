// Copies from global to shared memory that no thread waits for and no register holds: Ampere's
// cp.async.  ASYNC_COPIES is the one switch: without it the same words copy at once.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ASYNC_COPIES 1
#else
#define ASYNC_COPIES 0
#endif

// Begin to copy sixteen bytes; both addresses are multiples of sixteen.
__device__ __forceinline__ void copy_async(uint4* shared, const void* global) {
#if ASYNC_COPIES
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
#else
    *shared = *static_cast<const uint4*>(global);
#endif
}

// Begin `*shared = read_chunk(...)`; a chunk that reaches beyond the picture is there at once.  Needs
// wide.cuh, before this file.
__device__ __forceinline__ void read_chunk_async(
    uint4* shared, const sample* src, int x, int y, int height, int width, int pitch)
{
    if (0 <= y && y < height && 0 <= x && x + CHUNK <= width * CHANNELS)
        copy_async(shared, row_of(src, y, pitch) + x);
    else
        *shared = read_chunk(src, x, y, height, width, pitch);
}

// What was begun since the last call is one group.
__device__ __forceinline__ void end_group() {
#if ASYNC_COPIES
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Wait until at most PENDING of this thread's groups are under way; others see the bytes behind the
// next barrier.
template <int PENDING>
__device__ __forceinline__ void wait_for_groups() {
#if ASYNC_COPIES
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

// As rows of a walk down a strip.
template <class Strip, int STAGES>
struct AsyncRows {
    const Strip& strip;

    __device__ __forceinline__ void begin(unsigned char* stage, int step) const {
        if (strip.has(step))
            strip.each_chunk(stage, step, [](uint4* to, const sample* from) { copy_async(to, from); });
        end_group();  // an empty one at the end: so the wait is the same for all steps
    }
    __device__ __forceinline__ void wait(int) const { wait_for_groups<STAGES - 1>(); }
    __device__ __forceinline__ void put() const {}
};
