// Where the threads of the block are in the text, and what memory they access there: for stepping.cpp and
// recording.cpp, which write down one block each.
#pragma once

#include "fibers.h"
#include "stepping.h"

#include <array>
#include <vector>

namespace {

constexpr int MAX_PATH = 16;
constexpr int32_t DYNAMIC_ARRAY = -1, STATIC_ARRAY = -2;  // as in report.h
using Path = std::array<uint32_t, MAX_PATH>;              // calls and loops, each with its turn

struct Watched {
    uint64_t begin, end;
};
struct Thread {
    Path path{};
    int depth = 0;
    uint32_t point = 0, calls = 0;
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
    Path path_to_step() const {
        Path found = path;
        if (depth < MAX_PATH) found[depth] = point + 1;
        return found;
    }
};

bool is_recording;  // the block that runs is written down
std::vector<Watched> watched;
std::vector<Thread> threads;

Thread& here() { return threads[cuda_cpu::running().number]; }
void leave_call(Thread& thread);  // in the file that includes this

// An array of those watched, or of the block's own, and bytes from its begin.
struct Found {
    bool is_any;
    int32_t array;
    uint64_t offset;
};
Found find_array(uint64_t at, uint64_t size) {
    for (size_t i = 0; i < watched.size(); ++i)
        if (watched[i].begin <= at && at + size <= watched[i].end) return {true, int32_t(i), at - watched[i].begin};
    size_t bytes = 0;
    const auto own = reinterpret_cast<uint64_t>(cuda_cpu::static_shared(&bytes));
    const auto tile = reinterpret_cast<uint64_t>(cuda_cpu::dynamic_shared());
    if (tile <= at && at + size <= tile + cuda_cpu::dynamic_shared_bytes()) return {true, DYNAMIC_ARRAY, at - tile};
    if (own <= at && at + size <= own + bytes) return {true, STATIC_ARRAY, at - own};
    return {};
}

}  // namespace

namespace cuda_cpu {

Call::Call() : point(0), calls(0) {
    if (!is_recording) return;
    Thread& thread = here();
    point = thread.point, calls = thread.calls + 1;
    thread.push(point + 1, calls);
}
Call::~Call() {
    if (!is_recording) return;
    Thread& thread = here();
    thread.pop();
    thread.point = point, thread.calls = calls;
    leave_call(thread);
}
Loop::Loop(unsigned point) {
    if (is_recording) here().push(point + 1, 0);
}
Loop::~Loop() {
    if (is_recording) here().pop();
}
void Loop::next() {
    if (!is_recording) return;
    Thread& thread = here();
    if (thread.depth <= MAX_PATH) ++thread.path[thread.depth - 1];
}

}  // namespace cuda_cpu
