// Counts what device code loads, stores and computes, block by block, while it runs on the CPU.
//
// g++ -fsanitize=thread calls a function before every access to memory, which libtsan has for a race
// detector.  Here they are ours: an access inside a watched array is added to its bytes, and, where that
// is asked for, written down together with those to the block's shared memory.
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

// As ACCESS in counting.py.
struct Access {
    uint32_t block, thread;
    int32_t array;  // of those watched, or SHARED
    uint32_t is_store;
    uint64_t offset;  // bytes from its begin
    uint64_t size;
};
constexpr int32_t SHARED = -1;

const Watched* watched;  // arrays,
unsigned arrays;         // so many,
Bytes* bytes;            // (blocks, arrays)
uint64_t* operations;    // (blocks, 4), by cuda_cpu::Operation
Access* accesses;        // written down, in the order in which the threads got to run,
uint64_t room;           // so many at most,
uint64_t* written;       // so many so far, also beyond that
uint64_t shared_bytes;   // of a block

unsigned block() { return blockIdx.y * gridDim.x + blockIdx.x; }

void write_down(int32_t array, bool is_store, uint64_t offset, uint64_t size) {
    if (!accesses || (*written)++ >= room) return;
    accesses[*written - 1] = {block(), threadIdx.y * blockDim.x + threadIdx.x, array, is_store, offset, size};
}

template <uint64_t Bytes::*WAY>
void touch(const void* address, uint64_t size) {
    constexpr bool IS_STORE = WAY == &Bytes::stored;
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (unsigned i = 0; i < arrays; ++i)
        if (watched[i].begin <= at && at < watched[i].end) {
            bytes[block() * arrays + i].*WAY += size;
            write_down(int32_t(i), IS_STORE, at - watched[i].begin, size);
        }
    const auto tile = reinterpret_cast<uintptr_t>(cuda_cpu::dynamic_shared());
    if (accesses && tile <= at && at < tile + shared_bytes) write_down(SHARED, IS_STORE, at - tile, size);
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

// From now on, every access, too; with no room: no longer.
void write_down_accesses(Access* into, uint64_t most, uint64_t* number, uint64_t shared_bytes_of_block) {
    accesses = into;
    room = most;
    written = number;
    shared_bytes = shared_bytes_of_block;
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
