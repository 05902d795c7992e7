// Checks each access of device code while it runs on the CPU: is it within an array, aligned, stored
// before, and in no race?
//
// The compiler calls a function before every access to memory, for a race detector; here they are
// ours.  Each byte that can be stored to has a cell that remembers who stored and read it last.
#include "cuda_cpu.h"
#include "fibers.h"
#include "report.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

using namespace cuda_cpu;

namespace {

// As WATCHED in checked.py.
struct Watched {
    uint64_t begin, end;
    uint64_t row_bytes, pitch_bytes;  // 0: it has no rows
    uint32_t is_stored, may_store;    // from the start; by device code
};

// Who: a launch, a block and a thread, and how many barriers it had reached.
struct Touch {
    uint64_t who = 0;
    uint32_t block_barriers = 0, warp_barriers = 0, place = 0;
};
struct Cell {
    Touch store, read, other_read;
    bool is_stored = false;
};
struct Memory {
    uint64_t begin = 0, end = 0;
    std::unique_ptr<Cell[]> cells;
    int32_t array = NOWHERE;
};
struct Place {
    uint64_t pcs[DEPTH];
};

constexpr uint64_t ARGUMENT_BYTES = 512;  // what launches a kernel keeps them so near
constexpr uint64_t CHUNK_BYTES = 16;      // the most that a thread stores at once
constexpr uint64_t BLOCKS = 1ull << 40, THREADS = 1 << 10, WARP = 32;

std::vector<Watched> watched;
std::vector<Memory> memories;  // of those watched that may be stored to; then a block's own
std::vector<Place> places;
std::unordered_map<uint64_t, uint32_t> known_places;
std::map<uint64_t, uint64_t> gifts;  // memory that threads asked for: its begin, and its end
uint64_t launches;
bool is_watching;
Where* writers;              // of the picture's samples, each
uint64_t sample_bytes;

// To note it takes memory as well, which is none of a thread's.
void take_gift(const void* begin, size_t bytes) {
    static bool is_noting;
    if (is_noting || !is_running()) return;
    is_noting = true;
    gifts[reinterpret_cast<uint64_t>(begin)] = reinterpret_cast<uint64_t>(begin) + bytes;
    is_noting = false;
}

void begin_launch() {
    ++launches;
}

void put_memory(size_t index, int32_t array, const void* begin, size_t bytes) {
    Memory& memory = memories[index];
    memory = {reinterpret_cast<uint64_t>(begin), reinterpret_cast<uint64_t>(begin) + bytes, nullptr, array};
    memory.cells = std::make_unique<Cell[]>(bytes);
}

void begin_block() {
    size_t bytes = 0;
    put_memory(watched.size(), DYNAMIC_ARRAY, dynamic_shared(), dynamic_shared_bytes());
    const char* begin = static_shared(&bytes);
    put_memory(watched.size() + 1, STATIC_ARRAY, begin, bytes);
}

uint64_t block() { return uint64_t(blockIdx.y) * gridDim.x + blockIdx.x; }

Touch touch_of(uint32_t place) {
    const Running thread = running();
    return {launches * BLOCKS + block() * THREADS + thread.number + 1, thread.block_barriers, thread.warp_barriers, place};
}

// Whether what `before` did is over by the time of `now`, whatever the order that threads run in.
bool is_over(const Touch& before, const Touch& now) {
    if (!before.who || before.who == now.who || before.who / BLOCKS != now.who / BLOCKS) return true;
    if ((before.who - 1) / THREADS != (now.who - 1) / THREADS) return false;
    if (before.block_barriers < now.block_barriers) return true;
    const bool is_one_warp = (before.who - 1) % THREADS / WARP == (now.who - 1) % THREADS / WARP;
    return is_one_warp && before.warp_barriers < now.warp_barriers;
}

Where where_of(const Touch& touch) {
    const uint64_t number = (touch.who - 1) % BLOCKS, thread = number % THREADS, block = number / THREADS;
    Where where{int32_t(block % gridDim.x), int32_t(block / gridDim.x), int32_t(thread % blockDim.x), int32_t(thread / blockDim.x), {}};
    std::memcpy(where.pcs, places[touch.place].pcs, sizeof where.pcs);
    return where;
}

struct Access {
    uint64_t at, size;
    bool is_store;
    const void *pc, *frame;
};

uint32_t place_of(const Access& access) {
    const auto* words = static_cast<const uint64_t*>(access.frame);
    uint64_t key = reinterpret_cast<uint64_t>(access.pc) * 0x9e3779b97f4a7c15;
    for (int depth = 0; depth < 3; ++depth) {
        key = (key ^ words[1]) * 0x9e3779b97f4a7c15;
        if (words[0] <= reinterpret_cast<uint64_t>(words)) break;
        words = reinterpret_cast<const uint64_t*>(words[0]);
    }
    const auto [found, is_new] = known_places.try_emplace(key, uint32_t(places.size()));
    if (is_new) {
        Where where{};
        find_where(where, access.pc, access.frame);
        places.emplace_back();
        std::memcpy(places.back().pcs, where.pcs, sizeof where.pcs);
    }
    return found->second;
}

uint64_t bytes_of(int32_t array) {
    if (array >= 0) return watched[array].end - watched[array].begin;
    for (size_t i = watched.size(); i < memories.size(); ++i)
        if (memories[i].array == array) return memories[i].end - memories[i].begin;
    return 0;
}

void fill(Report& report, Kind kind, int32_t array, uint64_t begin, const Access& access) {
    report.array = array;
    report.array_bytes = bytes_of(array);
    report.offset = int64_t(access.at - begin);
    report.size = uint32_t(access.size);
    report.is_store = access.is_store;
    report.address = access.at;
    find_where(report.here, access.pc, access.frame);
    report.kind = kind;
}

[[noreturn]] void fault(Kind kind, int32_t array, uint64_t begin, const Access& access) {
    fill(reports->fault, kind, array, begin, access);
    give_up("fault");
}

void suspect(Kind kind, int32_t array, uint64_t begin, const Access& access) {
    if (!reports->suspicion.kind) fill(reports->suspicion, kind, array, begin, access);
}

// Goes on until the block has ended: where one of the two waits at a barrier that the other never comes
// to, that is why there is a race.
void race(const Memory& memory, const Touch& before, bool stored, const Access& access) {
    reports->fault.there = where_of(before);
    reports->fault.other_stores = stored;
    fill(reports->fault, RACE, memory.array, memory.begin, access);
    give_up_after_block("fault");
}

void remember_read(Cell& cell, const Touch& now) {
    if (cell.read.who == now.who || is_over(cell.read, now)) cell.read = now;
    else cell.other_read = now;
}

void check_cells(Memory& memory, const Access& access) {
    const Touch now = touch_of(place_of(access));
    for (uint64_t at = access.at; at < access.at + access.size; ++at) {
        Cell& cell = memory.cells[at - memory.begin];
        if (!is_over(cell.store, now)) return race(memory, cell.store, true, access);
        if (access.is_store) {
            if (!is_over(cell.read, now)) return race(memory, cell.read, false, access);
            if (!is_over(cell.other_read, now)) return race(memory, cell.other_read, false, access);
            cell = {now, {}, {}, true};
        } else {
            if (!cell.is_stored) suspect(UNINITIALISED, memory.array, memory.begin, access);
            remember_read(cell, now);
        }
    }
}

bool is_within(uint64_t begin, uint64_t end, const Access& access) {
    return begin <= access.at && access.at < end;
}

// What an access outside of all arrays was meant for: the nearest that is loaded from, or stored to,
// which it may begin within.
[[noreturn]] void out_of_bounds(const Access& access) {
    uint64_t nearest = UINT64_MAX, begin = 0;
    int32_t array = NOWHERE;
    const auto look = [&](int32_t which, uint64_t first, uint64_t end) {
        if (first == end) return;
        const uint64_t away = access.at < first ? first - access.at : access.at < end ? 0 : access.at - end + 1;
        if (away < nearest) nearest = away, array = which, begin = first;
    };
    for (size_t i = 0; i < watched.size(); ++i)
        if (access.is_store ? watched[i].may_store : watched[i].is_stored) look(int32_t(i), watched[i].begin, watched[i].end);
    for (size_t i = watched.size(); i < memories.size(); ++i) look(memories[i].array, memories[i].begin, memories[i].end);
    if (nearest > 1 << 28) array = NOWHERE;
    fault(BOUNDS, array, begin, access);
}

void check_watched(size_t index, const Access& access) {
    const Watched& array = watched[index];
    if (access.at + access.size > array.end) out_of_bounds(access);
    if (access.is_store && !array.may_store) fault(READ_ONLY, int32_t(index), array.begin, access);
    if (array.row_bytes) {
        const uint64_t column = (access.at - array.begin) % array.pitch_bytes;
        // The last chunk of a row may be stored as a whole, as poison.py has it.
        const uint64_t chunks = (array.row_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
        if (access.is_store && column >= chunks) fault(PADDING, int32_t(index), array.begin, access);
        if (column >= array.row_bytes) suspect(PADDING, int32_t(index), array.begin, access);
        if (access.is_store && writers)
            for (uint64_t at = access.at; at < access.at + access.size; at += sample_bytes)
                find_where(writers[(at - array.begin) / sample_bytes], access.pc, access.frame);
    }
    if (array.may_store) check_cells(memories[index], access);
}

void check(const Access& access) {
    if (!is_watching || !is_running() || !access.size || is_giving_up()) return;
    const Running thread = running();
    const auto lowest = reinterpret_cast<uint64_t>(thread.stack);
    if (is_within(lowest - thread.guard_bytes, lowest + thread.stack_bytes, access)) return;
    const bool is_misaligned = access.size <= 16 && (access.size & (access.size - 1)) == 0 && access.at % access.size;
    for (size_t i = 0; i < watched.size(); ++i)
        if (is_within(watched[i].begin, watched[i].end, access)) {
            if (is_misaligned) fault(MISALIGNED, int32_t(i), watched[i].begin, access);
            return check_watched(i, access);
        }
    for (size_t i = watched.size(); i < memories.size(); ++i)
        if (is_within(memories[i].begin, memories[i].end, access)) {
            if (access.at + access.size > memories[i].end) out_of_bounds(access);
            if (is_misaligned) fault(MISALIGNED, memories[i].array, memories[i].begin, access);
            return check_cells(memories[i], access);
        }
    if (image().has(access.at)) return;  // constants
    const auto behind = gifts.upper_bound(access.at);
    if (behind != gifts.begin() && access.at + access.size <= std::prev(behind)->second) return;
    for (const void* word : {static_cast<const void*>(&threadIdx), static_cast<const void*>(&blockIdx), static_cast<const void*>(&blockDim), static_cast<const void*>(&gridDim)})
        if (is_within(reinterpret_cast<uint64_t>(word), reinterpret_cast<uint64_t>(word) + sizeof(dim3), access)) return;
    const auto handed = reinterpret_cast<uint64_t>(arguments());
    if (is_within(handed - ARGUMENT_BYTES, handed + ARGUMENT_BYTES, access)) return;
    out_of_bounds(access);
}

}  // namespace

extern "C" {

// From now on: no arrays, no longer.
void check_accesses(const Watched* arrays, unsigned count, Where* stored_by, unsigned bytes_of_sample) {
    watched.assign(arrays, arrays + count);
    memories.clear();
    memories.resize(count + 2);
    for (unsigned i = 0; i < count; ++i) {
        const Watched& array = watched[i];
        if (!array.may_store) continue;
        put_memory(i, int32_t(i), reinterpret_cast<void*>(array.begin), array.end - array.begin);
        if (array.is_stored)
            for (uint64_t byte = 0; byte < array.end - array.begin; ++byte) memories[i].cells[byte].is_stored = true;
    }
    writers = stored_by;
    sample_bytes = bytes_of_sample;
    at_launch = begin_launch;
    at_block = begin_block;
    at_gift = take_gift;
    is_watching = count;
}

#define HERE __builtin_return_address(0), __builtin_frame_address(0)
#define LOAD(at, size) check({reinterpret_cast<uint64_t>(at), size, false, HERE})
#define STORE(at, size) check({reinterpret_cast<uint64_t>(at), size, true, HERE})
void __tsan_init() {}
void __tsan_func_entry(void*) {}  // clang calls these two
void __tsan_func_exit() {}
void __tsan_read_range(void* at, unsigned long size) { LOAD(at, size); }
void __tsan_write_range(void* at, unsigned long size) { STORE(at, size); }
void* __tsan_memcpy(void* to, const void* from, unsigned long size) { LOAD(from, size); STORE(to, size); return std::memcpy(to, from, size); }
void* __tsan_memmove(void* to, const void* from, unsigned long size) { LOAD(from, size); STORE(to, size); return std::memmove(to, from, size); }
void* __tsan_memset(void* to, int value, unsigned long size) { STORE(to, size); return std::memset(to, value, size); }
#define ACCESSES_OF(size)                                        \
    void __tsan_read##size(void* at) { LOAD(at, size); }             \
    void __tsan_write##size(void* at) { STORE(at, size); }           \
    void __tsan_unaligned_read##size(void* at) { LOAD(at, size); }   \
    void __tsan_unaligned_write##size(void* at) { STORE(at, size); }
ACCESSES_OF(1)
ACCESSES_OF(2)
ACCESSES_OF(4)
ACCESSES_OF(8)
ACCESSES_OF(16)
}
