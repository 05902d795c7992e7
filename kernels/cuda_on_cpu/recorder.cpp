// Records, of one block, what each thread loads and stores and at which step of the text; where the block is
// followed, also each thread's way through the steps, its variables, and the values that it loads and stores.
// Or counts, of all blocks, what they load, store and compute.
//
// Threads that are in the same turns of the same loops are at one step, in whatever order they ran.  What is
// stored is read at the next step or store: no other thread runs in between.
#include "counted_float.h"
#include "fibers.h"
#include "stepping.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

using namespace cuda_cpu;

namespace {

constexpr int MAX_PATH = 16, MAX_BYTES = 16, WARP = 32;
using Path = std::array<uint32_t, MAX_PATH>;  // calls and loops, each with its turn
using Site = std::array<uint64_t, 5>;  // an address of code; where all is counted, those of its callers, too

struct Range {
    uint64_t begin, end;
    bool has(uint64_t at) const { return at - begin < end - begin; }
};
struct Bytes {
    uint64_t loaded, stored;
};

// These as in recording.py.
enum Part { STEPS, ACCESSES, TURNS, VALUES, PARTS };
struct Head {
    uint64_t counts[PARTS];  // so many so far; what is no more room for counts, too
    uint32_t is_found, found_x, found_y, none;
    uint32_t block_x, block_y, threads_x, threads_y;
    Range dynamic_memory, static_memory;  // of the block
};
struct Step {
    uint32_t interval, point;  // interval: barriers before it
    Path path;
    bool operator==(const Step&) const = default;
};
struct Access {
    uint32_t thread, step;  // where all is counted, the number of the block
    int16_t array;
    uint16_t warp_barriers;  // that its warp has passed
    uint32_t is_store, size, site;  // size 0: part of the one before; site: which access of the text
    uint64_t offset;
    uint8_t value[MAX_BYTES];
};
struct Turn {
    uint32_t thread, step;
};
struct Value {
    uint32_t thread, step, variable, kind;
    int32_t i, j;
    uint64_t bits;
};
struct Hash {
    template <class All> static size_t of(size_t hash, const All& parts) {
        for (const auto part : parts) hash = (hash ^ part) * 0x9E3779B97F4A7C15;
        return hash ^ hash >> 32;
    }
    size_t operator()(const Step& step) const { return of((uint64_t(step.interval) << 32) + step.point, step.path); }
    size_t operator()(const Site& site) const { return of(0, site); }
};

struct Thread {
    Path path{};
    int depth = 0;
    uint32_t point = 0, calls = 0;
    uint16_t warp_barriers = 0;  // of its warp, where it is the first of that
    int64_t step = -1;  // the number of its step; -1: it has none yet

    void push(uint32_t part, uint32_t turn) {
        for (const uint32_t each : {part, turn}) {
            if (depth < MAX_PATH) path[depth] = each;
            ++depth;
        }
    }
    void pop() {
        for (int i = 0; i < 2; ++i)
            if (--depth < MAX_PATH) path[depth] = 0;
    }
};

Head* head;  // null: nobody wants to know
uint64_t room[PARTS];
Step* steps;
Access* accesses;
Turn* turns;
Value* values;
bool is_recording;  // the block that runs is written down
bool is_followed;
const volatile bool* is_stopped;  // by another thread of the process; null: nobody stops it
uint64_t sought;    // whoever stores this byte is looked for; 0: a block is written down
unsigned wanted_x, wanted_y;
Bytes* bytes;          // (blocks, arrays), where all is counted; else null
uint64_t* operations;  // (blocks, 4), by Operation
std::vector<Range> watched;
Range all, tile, own;  // what all of those lie in, and the block's shared memory: dynamic, static
std::vector<Thread> threads;
std::unordered_map<Step, uint32_t, Hash> numbers;  // of the steps
std::unordered_map<Site, uint32_t, Hash> sites;
std::vector<Site> known_sites;
Access* pending;         // stored by the next step or store,
const void* pending_at;  // there

Thread& here() { return threads[running().number]; }
unsigned block() { return blockIdx.y * gridDim.x + blockIdx.x; }

// The place of the next of these; null: there is no room.
template <class T> T* next_of(Part part, T* all) {
    const uint64_t number = head->counts[part]++;
    return number < room[part] ? all + number : nullptr;
}

void settle() {
    if (pending) std::memcpy(pending->value, pending_at, std::min<size_t>(pending->size, MAX_BYTES));
    pending = nullptr;
}

uint32_t step_of(Thread& thread) {
    if (thread.step >= 0) return uint32_t(thread.step);
    Step step{running().block_barriers, thread.point, thread.path};
    if (thread.depth < MAX_PATH) step.path[thread.depth] = thread.point + 1;
    const auto [found, is_new] = numbers.try_emplace(step, numbers.size());
    thread.step = found->second;
    if (is_new)
        if (Step* const place = next_of(STEPS, steps)) *place = step;
    return found->second;
}

void begin_block() {
    settle();
    is_recording = head && !sought && (bytes || (blockIdx.x == wanted_x && blockIdx.y == wanted_y));
    threads.assign(blockDim.x * blockDim.y, {});
    tile = own = {};
    if (!is_recording || !room[ACCESSES]) return;
    const auto begin = reinterpret_cast<uint64_t>(dynamic_shared()), first = reinterpret_cast<uint64_t>(launched.static_shared.begin);
    tile = {begin, begin + launched.dynamic_shared_bytes}, own = {first, reinterpret_cast<uint64_t>(launched.static_shared.end)};
    head->block_x = blockIdx.x, head->block_y = blockIdx.y;
    head->threads_x = blockDim.x, head->threads_y = blockDim.y;
    head->dynamic_memory = tile, head->static_memory = own;
}

void pass_warp_barrier(unsigned first, unsigned) { ++threads[first].warp_barriers; }

// Numbers that lie side by side, and that one function loads or stores one after the other: a GPU's
// compiler makes one access of them where they are aligned to what that takes.
struct Run {
    std::vector<Access*> parts;
    const void *pc, *frame;
    Access whole{};  // the one before

    bool goes_on(const Access& next, const void* next_pc, const void* next_frame) const {
        if (parts.empty()) return false;
        const Access& last = *parts.back();
        return last.thread == next.thread && last.step == next.step && last.array == next.array && frame == next_frame &&
               last.offset + last.size == next.offset && (pc < next_pc || (!frame && pc == next_pc));
    }
    void add(Access* next, const void* next_pc, const void* next_frame) {
        if (!goes_on(*next, next_pc, next_frame)) close();
        parts.push_back(next);
        pc = next_pc, frame = next_frame;
    }
    void close() {
        if (parts.empty()) return;
        Access& first = *parts.front();
        const uint64_t size = parts.back()->offset + parts.back()->size - first.offset;
        const bool is_whole = first.is_store || !frame ? (size & (size - 1)) == 0 : size == 16;
        if (parts.size() > 1 && size <= 16 && is_whole && first.offset % size == 0) {
            for (Access* part : parts) part->size = 0;
            // What it has just loaded a thread does not load again for each of its numbers.
            const bool is_again = !first.is_store && whole.size == size && whole.offset == first.offset &&
                                  whole.thread == first.thread && whole.array == first.array;
            if (!is_again) first.size = uint32_t(size);
            whole = first, whole.size = uint32_t(size);
        }
        parts.clear();
    }
};
Run runs[2];  // of loads, of stores

void write_down(int16_t array, uint64_t offset, const void* at, uint64_t size, bool is_store, const void* pc, const void* frame) {
    Access* const access = next_of(ACCESSES, accesses);
    if (!access && !bytes) give_up("A block does more than there is room to record.");
    if (!access) return;
    Site site{reinterpret_cast<uint64_t>(pc)};
    // Each function's frame begins with that of its caller, and where that goes on.
    const auto* words = static_cast<const uint64_t*>(frame);
    for (size_t depth = 1; bytes && words && depth < site.size(); ++depth, words = reinterpret_cast<const uint64_t*>(*words))
        site[depth] = words[1];
    const auto [found, is_new] = sites.try_emplace(site, sites.size());
    if (is_new) known_sites.push_back(site);
    const uint32_t step = bytes ? block() : step_of(here());
    const uint16_t barriers = threads[running().number / WARP * WARP].warp_barriers;
    *access = {running().number, step, array, barriers, is_store, uint32_t(size), found->second, offset, {}};
    if (bytes) return;
    if (!is_followed) runs[is_store].add(access, pc, frame);
    else if (is_store) pending = access, pending_at = at;
    else std::memcpy(access->value, at, std::min<size_t>(size, MAX_BYTES));
}

void touch(const void* address, uint64_t size, bool is_store, const void* pc, const void* frame) {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (!head || !is_running()) return;
    if (is_store && at <= sought && sought < at + size) head->is_found = 1, head->found_x = blockIdx.x, head->found_y = blockIdx.y;
    // Before a thread's first step there is none to show it at.
    if (!is_recording || (is_followed && here().step < 0)) return;
    if (is_store) settle();  // not where it loads: a copy tells first of what it stores to
    const auto write = [&](int16_t array, const Range& of) { write_down(array, at - of.begin, address, size, is_store, pc, frame); };
    bool is_known = false;
    for (size_t i = 0; i < watched.size(); ++i) {
        if (!watched[i].has(at) || at + size > watched[i].end) continue;
        if (!is_known) write(int16_t(i), watched[i]);
        is_known = true;
        if (!bytes) return;
        Bytes& sums = bytes[block() * watched.size() + i];
        (is_store ? sums.stored : sums.loaded) += size;
    }
    if (tile.has(at)) write(DYNAMIC_ARRAY, tile);
    if (own.has(at)) write(STATIC_ARRAY, own);
}

// Nearly all accesses are to a stack, and pass here.
inline void on_access(const void* address, uint64_t size, bool is_store, const void* pc, const void* frame) {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (all.has(at) || tile.has(at) || own.has(at))
        touch(address, size, is_store, pc, *static_cast<void* const*>(frame));  // that of the function which accesses
}

}  // namespace

namespace cuda_cpu {

void count(Operation operation) {
    if (operations) ++operations[4 * block() + operation];
}

Call::Call() {
    if (!is_recording) return;
    Thread& thread = here();
    point = thread.point, calls = thread.calls + 1;
    thread.push(point + 1, calls);
}
Call::~Call() {
    if (!is_recording) return;
    Thread& thread = here();
    settle();
    thread.pop();
    thread.point = point, thread.calls = calls;
    if (!is_followed) thread.step = -1;
}
Loop::Loop(unsigned point) {
    if (is_recording) here().push(point + 1, 0);
}
Loop::~Loop() {
    if (is_recording) here().pop();
}
void Loop::next() {
    if (is_recording && here().depth <= MAX_PATH) ++here().path[here().depth - 1];
}

void step(unsigned point) {
    if (!is_recording) return;
    settle();
    if (is_stopped && *is_stopped) give_up("stopped");
    Thread& thread = here();
    thread.point = point, thread.calls = 0, thread.step = -1;
    if (!is_followed) return;
    if (Turn* const place = next_of(TURNS, turns)) *place = {running().number, step_of(thread)};
}

// An assignment of a vector, all of it at once.
void copy(void* to, const void* from, size_t bytes) {
    const void* const pc = __builtin_return_address(1);  // behind the operator
    touch(from, bytes, false, pc, nullptr);
    touch(to, bytes, true, pc, nullptr);
    std::memcpy(to, from, bytes);
}

void tell_value(unsigned variable, unsigned kind, uint64_t bits, int i, int j) {
    if (!is_recording || !is_followed) return;
    settle();
    if (Value* const place = next_of(VALUES, values)) *place = {running().number, step_of(here()), variable, kind, i, j, bits};
}

}  // namespace cuda_cpu

extern "C" {

// From now on: write down a block, or, where an address is sought, only who stores there, or, where there are
// sums, count all blocks; null: nothing.  Of a launch only one block runs; negative: all do.  It ends at the
// next statement where *stop has become true.
void record(Head* into, const uint64_t* most, const Range* arrays, unsigned count, uint64_t address, unsigned block_x,
            unsigned block_y, bool follows, int64_t only, const volatile bool* stop, Bytes* accessed, uint64_t* computed) {
    settle();
    for (Run& run : runs) run.close(), run.whole = {};
    is_recording = false, is_followed = follows;
    head = into;
    std::copy_n(most, PARTS, room);
    hooks.at_block = into ? begin_block : nullptr;
    hooks.at_meeting = into ? pass_warp_barrier : nullptr;
    only_block = into ? only : -1;
    is_stopped = into ? stop : nullptr;
    bytes = into ? accessed : nullptr, operations = into ? computed : nullptr;
    watched.assign(arrays, arrays + count);
    all = tile = own = {};
    for (const Range& each : watched) all = {all.end ? std::min(all.begin, each.begin) : each.begin, std::max(all.end, each.end)};
    if (into) numbers.clear(), sites.clear(), known_sites.clear();
    sought = address, wanted_x = block_x, wanted_y = block_y;
    steps = reinterpret_cast<Step*>(into + 1);
    accesses = reinterpret_cast<Access*>(steps + room[STEPS]);
    turns = reinterpret_cast<Turn*>(accesses + room[ACCESSES]);
    values = reinterpret_cast<Value*>(turns + room[TURNS]);
}
// Sites that were written down, by their numbers.
const Site* sites_found(uint64_t* number) { return *number = known_sites.size(), known_sites.data(); }
}

#include "accesses.h"
