// Writes down, of one block, each thread's steps, what it loads and stores at each, and its variables.
//
// The compiler calls a function before every access to memory, for a race detector; here they are
// ours.  What is stored is read at the next step or store: no other thread runs in between.
#include "stepping.h"
#include "fibers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

using namespace cuda_cpu;

namespace {

constexpr int MAX_PATH = 16, MAX_SHARED = 16, MAX_BYTES = 16;
constexpr int32_t DYNAMIC_ARRAY = -1, STATIC_ARRAY = -2;  // as in shared_run.py

// These as HEAD, STEP, ACCESS and VALUE in stepped.py.
struct SharedName {
    uint32_t name;
    int32_t array;
    uint64_t offset;
    uint32_t kind, size, rows, columns;
};
struct Head {
    uint64_t steps, accesses, values;  // so many so far; what is no more room for counts, too
    uint32_t is_found, found_x, found_y, found_thread;
    uint32_t block_x, block_y, threads_x, threads_y;
    uint64_t dynamic_bytes, static_bytes;
    uint64_t shared_names;
    SharedName shared[MAX_SHARED];
};
struct Step {
    uint32_t thread, interval, point;  // interval: barriers that it has reached
    uint32_t path[MAX_PATH];           // calls and loops that it is in, each with its turn
};
struct Access {
    uint32_t step;
    int32_t array;
    uint32_t is_store, size;
    uint64_t offset;
    uint8_t value[MAX_BYTES];
};
struct Value {
    uint32_t step, variable;
    int32_t i, j;
    uint64_t bits;
    uint32_t kind, none;
};
struct Watched {
    uint64_t begin, end;
};

struct Thread {
    std::array<uint32_t, MAX_PATH> path{};
    int depth = 0;
    uint32_t point = 0, calls = 0, step = 0;

    void push(uint32_t part) {
        if (depth < MAX_PATH) path[depth] = part;
        ++depth;
    }
    void pop() {
        if (--depth < MAX_PATH) path[depth] = 0;
    }
};

Head* head;  // null: nobody wants to know
Step* steps;
Access* accesses;
Value* values;
uint64_t room_of_steps, room_of_accesses, room_of_values;
std::vector<Watched> watched;
uint64_t sought;            // whoever stores this byte is looked for; 0: a block is written down
unsigned wanted_x, wanted_y;
bool is_recording;
Access* pending;            // stored by the next step or store,
const void* pending_at;     // there
std::vector<Thread> threads;

Thread& here() { return threads[running().number]; }

void settle() {
    if (pending) std::memcpy(pending->value, pending_at, std::min<size_t>(pending->size, MAX_BYTES));
    pending = nullptr;
}

void begin_block() {
    settle();
    is_recording = head && !sought && blockIdx.x == wanted_x && blockIdx.y == wanted_y;
    threads.assign(blockDim.x * blockDim.y, {});
    if (!is_recording) return;
    head->block_x = blockIdx.x, head->block_y = blockIdx.y;
    head->threads_x = blockDim.x, head->threads_y = blockDim.y;
    head->dynamic_bytes = dynamic_shared_bytes();
    size_t bytes = 0;
    static_shared(&bytes);
    head->static_bytes = bytes;
}

void write_down(int32_t array, bool is_store, const void* at, uint64_t offset, uint64_t size) {
    if (head->accesses++ >= room_of_accesses) return;
    Access& access = accesses[head->accesses - 1];
    access = {here().step, array, is_store, uint32_t(size), offset, {}};
    if (is_store) pending = &access, pending_at = at;
    else std::memcpy(access.value, at, std::min<size_t>(size, MAX_BYTES));
}

void find(const void* address, uint64_t size) {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (at > sought || sought >= at + size || !is_running()) return;
    head->is_found = 1;
    head->found_x = blockIdx.x, head->found_y = blockIdx.y;
    head->found_thread = threadIdx.y * blockDim.x + threadIdx.x;
}

void touch(const void* address, uint64_t size, bool is_store) {
    if (!head) return;
    if (sought && is_store) find(address, size);
    if (!is_recording || !is_running()) return;
    if (is_store) settle();  // not where it loads: a copy tells first of what it stores to
    const auto at = reinterpret_cast<uint64_t>(address);
    for (size_t i = 0; i < watched.size(); ++i)
        if (watched[i].begin <= at && at + size <= watched[i].end)
            return write_down(int32_t(i), is_store, address, at - watched[i].begin, size);
    size_t bytes = 0;
    const auto own = reinterpret_cast<uint64_t>(static_shared(&bytes));
    const auto tile = reinterpret_cast<uint64_t>(dynamic_shared());
    if (tile <= at && at + size <= tile + dynamic_shared_bytes()) write_down(DYNAMIC_ARRAY, is_store, address, at - tile, size);
    else if (own <= at && at + size <= own + bytes) write_down(STATIC_ARRAY, is_store, address, at - own, size);
}

}  // namespace

namespace cuda_cpu {

void step(unsigned point) {
    if (!is_recording) return;
    settle();
    Thread& thread = here();
    thread.point = point;
    thread.calls = 0;
    thread.step = uint32_t(head->steps);
    if (head->steps++ >= room_of_steps) return;
    Step& step = steps[head->steps - 1];
    step = {running().number, running().block_barriers, point, {}};
    std::copy(thread.path.begin(), thread.path.end(), step.path);
    if (thread.depth < MAX_PATH) step.path[thread.depth] = point + 1;
}

Call::Call() : point(0), calls(0) {
    if (!is_recording) return;
    Thread& thread = here();
    point = thread.point, calls = thread.calls + 1;
    thread.push(point + 1);
    thread.push(calls);
}
Call::~Call() {
    if (!is_recording) return;
    settle();
    Thread& thread = here();
    thread.pop();
    thread.pop();
    thread.point = point, thread.calls = calls;
}
Loop::Loop(unsigned point) {
    if (!is_recording) return;
    here().push(point + 1);
    here().push(0);
}
Loop::~Loop() {
    if (!is_recording) return;
    here().pop();
    here().pop();
}
void Loop::next() {
    if (!is_recording) return;
    Thread& thread = here();
    if (thread.depth <= MAX_PATH) ++thread.path[thread.depth - 1];
}

void tell_value(unsigned variable, ValueKind kind, uint64_t bits, int i, int j) {
    if (!is_recording) return;
    settle();
    if (head->values++ < room_of_values) values[head->values - 1] = {here().step, variable, i, j, bits, uint32_t(kind), 0};
}

void tell_shared(unsigned name, const void* at, ValueKind kind, unsigned size, unsigned rows, unsigned columns) {
    if (!is_recording || head->shared_names >= MAX_SHARED) return;
    for (uint64_t i = 0; i < head->shared_names; ++i)
        if (head->shared[i].name == name) return;
    size_t bytes = 0;
    const char* const own = static_shared(&bytes);
    const char* const begin = static_cast<const char*>(at);
    const bool is_static = own <= begin && begin < own + bytes;
    const char* const from = is_static ? own : static_cast<const char*>(dynamic_shared());
    head->shared[head->shared_names++] = {name, is_static ? STATIC_ARRAY : DYNAMIC_ARRAY, uint64_t(begin - from), uint32_t(kind), size, rows, columns};
}

}  // namespace cuda_cpu

extern "C" {

// From now on: write down a block, or, where an address is sought, only who stores there; null: nothing.
void step_through(Head* into, uint64_t most_steps, uint64_t most_accesses, uint64_t most_values,
                  const Watched* arrays, unsigned count, uint64_t address, unsigned block_x, unsigned block_y) {
    settle();
    is_recording = false;
    head = into;
    at_block = begin_block;
    watched.assign(arrays, arrays + count);
    sought = address, wanted_x = block_x, wanted_y = block_y;
    room_of_steps = most_steps, room_of_accesses = most_accesses, room_of_values = most_values;
    steps = reinterpret_cast<Step*>(into + 1);
    accesses = reinterpret_cast<Access*>(steps + most_steps);
    values = reinterpret_cast<Value*>(accesses + most_accesses);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}  // clang calls these two
void __tsan_func_exit() {}
void __tsan_read_range(void* at, unsigned long size) { touch(at, size, false); }
void __tsan_write_range(void* at, unsigned long size) { touch(at, size, true); }
void* __tsan_memcpy(void* to, const void* from, unsigned long size) { touch(from, size, false); touch(to, size, true); return std::memcpy(to, from, size); }
void* __tsan_memmove(void* to, const void* from, unsigned long size) { touch(from, size, false); touch(to, size, true); return std::memmove(to, from, size); }
void* __tsan_memset(void* to, int value, unsigned long size) { touch(to, size, true); return std::memset(to, value, size); }
#define ACCESSES_OF(size)                                                 \
    void __tsan_read##size(void* at) { touch(at, size, false); }           \
    void __tsan_write##size(void* at) { touch(at, size, true); }           \
    void __tsan_unaligned_read##size(void* at) { touch(at, size, false); } \
    void __tsan_unaligned_write##size(void* at) { touch(at, size, true); }
ACCESSES_OF(1)
ACCESSES_OF(2)
ACCESSES_OF(4)
ACCESSES_OF(8)
ACCESSES_OF(16)
}
