// What timing needs around a kernel: the first two run before the timed events.

// Read `count` words, so that whatever the L2 held before is gone.  Reads, not writes: a memset
// would leave dirty lines, whose write-back lands inside the next short kernel.
extern "C" __global__ void evict(const unsigned* words, long long count, unsigned* sink)
{
    unsigned seen = 0;
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        seen |= words[i];
    if (seen == 0xdeadbeefu) *sink = seen;  // never so, but the compiler cannot know
}

// Keep the stream busy for `cycles`, while the host queues the events and the kernel behind it:
// the events then stand next to the kernel on the GPU, not next to Python's launching of it.
extern "C" __global__ void hold(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}

// What a launch takes that does nothing.
extern "C" __global__ void nothing() {}
