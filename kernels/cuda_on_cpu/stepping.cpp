// Writes down, of one block, each thread's steps, what it loads and stores at each, and its variables.
//
// What is stored is read at the next step or store: no other thread runs in between.
#include "step_paths.h"

#include <algorithm>
#include <cstring>

using namespace cuda_cpu;

namespace {

constexpr int MAX_SHARED = 16, MAX_BYTES = 16;

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
    Path path;
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
Head* head;  // null: nobody wants to know
Step* steps;
Access* accesses;
Value* values;
uint64_t room_of_steps, room_of_accesses, room_of_values;
uint64_t sought;            // whoever stores this byte is looked for; 0: a block is written down
unsigned wanted_x, wanted_y;
Access* pending;            // stored by the next step or store,
const void* pending_at;     // there

void settle() {
    if (pending) std::memcpy(pending->value, pending_at, std::min<size_t>(pending->size, MAX_BYTES));
    pending = nullptr;
}

void begin_block() {
    settle();
    is_recording = head && !sought && blockIdx.x == wanted_x && blockIdx.y == wanted_y;
    threads.assign(blockDim.x * blockDim.y, {});
    for (Thread& each : threads) each.step = 0;  // of an access before the first statement
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
    access = {uint32_t(here().step), array, is_store, uint32_t(size), offset, {}};
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

void on_access(const void* address, uint64_t size, bool is_store, const void*, const void*) {
    if (!head) return;
    if (sought && is_store) find(address, size);
    if (!is_recording || !is_running()) return;
    if (is_store) settle();  // not where it loads: a copy tells first of what it stores to
    const Found found = find_array(reinterpret_cast<uint64_t>(address), size);
    if (found.is_any) write_down(found.array, is_store, address, found.offset, size);
}

void leave_call(Thread&) { settle(); }

}  // namespace

namespace cuda_cpu {

void step(unsigned point) {
    if (!is_recording) return;
    settle();
    Thread& thread = here();
    thread.point = point;
    thread.calls = 0;
    thread.step = int64_t(head->steps);
    if (head->steps++ < room_of_steps)
        steps[thread.step] = {running().number, running().block_barriers, point, thread.path_to_step()};
}

void tell_value(unsigned variable, ValueKind kind, uint64_t bits, int i, int j) {
    if (!is_recording) return;
    settle();
    if (head->values++ < room_of_values) values[head->values - 1] = {uint32_t(here().step), variable, i, j, bits, uint32_t(kind), 0};
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
}

#include "accesses.h"
