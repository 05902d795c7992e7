// Counts what device code loads, stores and computes, block by block, while it runs on the CPU.
//
// An access inside a watched array is added to its bytes, and, where that is requested, written down
// together with those to the block's shared memory.
#include "counted_float.h"
#include "cuda_cpu.h"
#include "fibers.h"

#include <algorithm>
#include <cstdint>

namespace {

struct Watched {
    uintptr_t begin, end;
};
struct Span {
    uintptr_t begin;
    size_t bytes;
};
struct Bytes {
    uint64_t loaded, stored;
};

constexpr int32_t SHARED = -1;
constexpr int DEPTH = 5;

// As ACCESS in counting.py.
struct Access {
    uint32_t block, thread;
    int32_t array;  // of those watched, or SHARED
    uint32_t is_store;
    uint64_t offset;  // bytes from its begin
    uint64_t size;
    uint64_t pcs[DEPTH];  // where: an address of code, and those that its callers go on at
};

const Watched* watched;  // arrays,
unsigned arrays;         // so many,
uintptr_t first, span;   // all of them between these: what lies elsewhere is most often a stack's
Bytes* bytes;            // (blocks, arrays)
uint64_t* operations;    // (blocks, 4), by cuda_cpu::Operation
Access* accesses;        // written down, in the order in which the threads got to run,
uint64_t room;           // so many at most,
uint64_t* written;       // so many so far, also beyond that
Span own, tile;          // the block's shared memory: of fixed size, and what the launch asks for

unsigned block() { return blockIdx.y * gridDim.x + blockIdx.x; }

struct Place {
    const void *pc, *frame;
};

void write_down(int32_t array, bool is_store, uint64_t offset, uint64_t size, Place place) {
    if ((*written)++ >= room) return;
    Access& access = accesses[*written - 1];
    access = {block(), threadIdx.y * blockDim.x + threadIdx.x, array, is_store, offset, size, {}};
    access.pcs[0] = reinterpret_cast<uint64_t>(place.pc);
    // Each function's frame begins with that of its caller, and where that goes on.
    const auto* frame = static_cast<const uint64_t*>(place.frame);
    for (int depth = 1; depth < DEPTH; ++depth) {
        frame = reinterpret_cast<const uint64_t*>(frame[0]);
        if (!frame) break;
        access.pcs[depth] = frame[1];
    }
}

[[gnu::noinline]] void find(uintptr_t at, uint64_t size, bool is_store, Place place) {
    for (unsigned i = 0; i < arrays; ++i)
        if (watched[i].begin <= at && at < watched[i].end) {
            Bytes& sums = bytes[block() * arrays + i];
            (is_store ? sums.stored : sums.loaded) += size;
            write_down(int32_t(i), is_store, at - watched[i].begin, size, place);
        }
}

void begin_block() {
    const auto [begin, end] = cuda_cpu::static_shared();
    own = {reinterpret_cast<uintptr_t>(begin), size_t(end - begin)};
    tile = {reinterpret_cast<uintptr_t>(cuda_cpu::dynamic_shared()), cuda_cpu::dynamic_shared_bytes()};
}

// Nearly all accesses are to a stack, and pass here, too.
inline void find_shared(uintptr_t at, bool is_store, uint64_t size, Place place) {
    if (at - own.begin < own.bytes) write_down(SHARED, is_store, at - own.begin, size, place);
    if (at - tile.begin < tile.bytes) write_down(SHARED, is_store, at - tile.begin, size, place);
}

inline void on_access(const void* address, uint64_t size, bool is_store, const void* pc, const void* frame) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at - first < span) find(at, size, is_store, {pc, frame});
    if (room) find_shared(at, is_store, size, {pc, frame});
}

}  // namespace

namespace cuda_cpu {
void count(Operation operation) {
    if (operations) ++operations[4 * block() + operation];
}
}  // namespace cuda_cpu

extern "C" {

// From now on, and as many accesses as there is room for; with no arrays and no operations: no longer.
void watch(unsigned count, const Watched* ranges, Bytes* accessed, uint64_t* computed, Access* into, uint64_t* number,
           uint64_t most) {
    watched = ranges, arrays = count, bytes = accessed, operations = computed;
    accesses = into, written = number, room = into ? most : 0;
    own = tile = {};
    cuda_cpu::hooks.at_block = count ? begin_block : nullptr;
    uintptr_t last = 0;
    first = count ? UINTPTR_MAX : 0;
    for (unsigned i = 0; i < count; ++i) {
        first = std::min(first, ranges[i].begin);
        last = std::max(last, ranges[i].end);
    }
    span = last - first;
}
}

#include "accesses.h"
