// Records, of one block, what each thread loads and stores, and at which step of the text.
//
// As in stepping.cpp the text tells of its statements, calls and loops; threads that are in the same
// turns of the same loops are at one step, in whatever order they ran.
#include "step_paths.h"

#include <algorithm>
#include <unordered_map>

using namespace cuda_cpu;

namespace {

constexpr int32_t SHARED = -1;

// These as ACCESS and STEP in recording.py.
struct Access {
    uint32_t thread, step;
    int32_t array;
    uint32_t is_store, size, site;  // size 0: part of the one before; site: which access of the text
    uint64_t offset;
};
struct Step {
    uint32_t interval, point;  // interval: barriers before it
    Path path;
    bool operator==(const Step&) const = default;
};
struct Hash {
    size_t operator()(const Step& step) const {
        size_t hash = (uint64_t(step.interval) << 32) + step.point;
        for (uint32_t part : step.path) hash = (hash ^ part) * 0x9E3779B97F4A7C15;
        return hash ^ hash >> 32;
    }
};
Access* accesses;
Step* steps;
uint64_t *counts, room_of_accesses, room_of_steps;  // counts: of accesses and steps, also beyond the room
std::unordered_map<Step, uint32_t, Hash> numbers;  // of the steps
std::unordered_map<const void*, uint32_t> sites;

uint32_t step_of(Thread& thread) {
    if (thread.step >= 0) return uint32_t(thread.step);
    const Step step{running().block_barriers, thread.point, thread.path_to_step()};
    const auto [found, is_new] = numbers.try_emplace(step, numbers.size());
    thread.step = found->second;
    if (is_new && counts[1]++ < room_of_steps) steps[thread.step] = step;
    return found->second;
}

void begin_block() { threads.assign(blockDim.x * blockDim.y, {}); }

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

void write_down(int32_t array, bool is_store, uint64_t offset, uint64_t size, const void* pc, const void* frame) {
    if (counts[0]++ >= room_of_accesses) return;
    const uint32_t site = sites.try_emplace(pc, sites.size()).first->second;
    Access& access = accesses[counts[0] - 1];
    access = {running().number, step_of(here()), array, is_store, uint32_t(size), site, offset};
    runs[is_store].add(&access, pc, frame);
}

void touch(const void* address, uint64_t size, bool is_store, const void* pc, const void* frame) {
    if (!is_recording || !is_running()) return;
    Found found = find_array(reinterpret_cast<uint64_t>(address), size);
    if (!found.is_any) return;
    size_t bytes = 0;
    static_shared(&bytes);
    // As on a GPU arrays of fixed size come first; what the launch asks for, from the next line of banks on.
    if (found.array == DYNAMIC_ARRAY) found.offset += (bytes + 127) / 128 * 128;
    write_down(std::max(found.array, SHARED), is_store, found.offset, size, pc, frame);
}

inline void on_access(const void* at, uint64_t size, bool is_store, const void* pc, const void* frame) {
    touch(at, size, is_store, pc, *static_cast<void* const*>(frame));  // that of the function which accesses
}

void leave_call(Thread& thread) { thread.step = -1; }

}  // namespace

namespace cuda_cpu {

void step(unsigned point) {
    if (!is_recording) return;
    Thread& thread = here();
    thread.point = point, thread.calls = 0, thread.step = -1;
}
// An assignment of a vector, all of it at once.
void copy(void* to, const void* from, size_t bytes) {
    const void* const pc = __builtin_return_address(1);  // behind the operator
    touch(from, bytes, false, pc, nullptr);
    touch(to, bytes, true, pc, nullptr);
    std::memcpy(to, from, bytes);
}
void tell_value(unsigned, ValueKind, uint64_t, int, int) {}
void tell_shared(unsigned, const void*, ValueKind, unsigned, unsigned, unsigned) {}

}  // namespace cuda_cpu

extern "C" {

// From now on, and of one block, which alone is run; with no room: no longer.
void record(Access* into, uint64_t most_accesses, Step* steps_into, uint64_t most_steps, uint64_t* counted,
            const Watched* arrays, unsigned count, unsigned block) {
    for (Run& run : runs) run.close();
    accesses = into, steps = steps_into, counts = counted;
    room_of_accesses = most_accesses, room_of_steps = most_steps;
    watched.assign(arrays, arrays + count);
    numbers.clear(), sites.clear();
    runs[0].whole = runs[1].whole = {};
    is_recording = into;
    at_block = into ? begin_block : nullptr;
    only_block = into ? int64_t(block) : -1;
}
}

#include "accesses.h"
