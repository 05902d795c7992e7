// Counts what device code loads, stores and computes, block by block, while it runs on the CPU.
//
// g++ -fsanitize=thread calls a function before every access to memory, which libtsan has for a race
// detector.  Here they are ours: an access inside a watched array is added to its bytes.
#include "counted_float.h"
#include "cuda_cpu.h"

#include <cstdint>

namespace {

struct Watched {
    uintptr_t begin, end;
};
struct Bytes {
    uint64_t loaded, stored;
};

const Watched* watched;  // arrays,
unsigned arrays;         // so many,
Bytes* bytes;            // (blocks, arrays)
uint64_t* operations;    // (blocks, 4), by cuda_cpu::Operation

unsigned block() { return blockIdx.y * gridDim.x + blockIdx.x; }

template <uint64_t Bytes::*WAY>
void touch(const void* address, uint64_t size) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (unsigned i = 0; i < arrays; ++i)
        if (watched[i].begin <= at && at < watched[i].end) bytes[block() * arrays + i].*WAY += size;
}

}  // namespace

namespace cuda_cpu {
void count(Operation operation) {
    if (operations) ++operations[4 * block() + operation];
}
}  // namespace cuda_cpu

extern "C" {

// From now on; with no arrays and no operations: no longer.
void watch(const Watched* ranges, unsigned count, Bytes* accessed, uint64_t* computed) {
    watched = ranges;
    arrays = count;
    bytes = accessed;
    operations = computed;
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void* at, unsigned long size) { touch<&Bytes::loaded>(at, size); }
void __tsan_write_range(void* at, unsigned long size) { touch<&Bytes::stored>(at, size); }
#define ACCESSES_OF(size)                                                             \
    void __tsan_read##size(void* at) { touch<&Bytes::loaded>(at, size); }             \
    void __tsan_write##size(void* at) { touch<&Bytes::stored>(at, size); }            \
    void __tsan_unaligned_read##size(void* at) { touch<&Bytes::loaded>(at, size); }   \
    void __tsan_unaligned_write##size(void* at) { touch<&Bytes::stored>(at, size); }
ACCESSES_OF(1)
ACCESSES_OF(2)
ACCESSES_OF(4)
ACCESSES_OF(8)
ACCESSES_OF(16)
}
