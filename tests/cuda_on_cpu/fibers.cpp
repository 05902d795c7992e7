// The runtime behind cuda_cpu.h: a scheduler that hands one CPU thread from fiber to fiber.
//
// A fiber runs until it ends or reaches a barrier; when all that can run have run, barriers that
// are complete open.  Shared memory is exactly as large as asked for and full of NaN, so that what
// was never written, or not yet, shows.  AddressSanitizer is told of every change of stack; for the
// race detector, build this file without -fsanitize=thread but with -DRACE_DETECTOR.
#include "cuda_cpu.h"
#include "sanitizers.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#if !defined(__x86_64__)
#error "switch_stack is written for x86-64 alone"
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace cuda_cpu {

bool is_showing;

namespace {

constexpr unsigned WARP = 32;
constexpr unsigned MOST_THREADS = 1024;  // CUDA's limit for a block
constexpr size_t STACK_BYTES = 64 << 10;
constexpr size_t GUARD_BYTES = 4096;  // below each stack: running over it is a fault, not silence

enum State { READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, DONE };

struct Fiber {
    char* stack = nullptr;
    void* top = nullptr;  // the stack pointer while it does not run
    State state = READY;
    uint3 thread{};
    int line = 0;       // of the barrier it waits at
    unsigned mask = 0;  // of lanes, where that is a warp's
    unsigned block_barriers = 0, warp_barriers = 0;  // reached so far
    unsigned shown = 0;                              // values, to the whole warp
    void* asan = nullptr;
    void* tsan = nullptr;
};

// What the race detector takes for a mutex: all release it at a barrier, and acquire it behind it.
// Two by turns, so that nobody acquires what a quicker thread released at the next barrier.
struct alignas(16) Tag {
    char bytes[16];
};
using Tags = std::array<Tag, 2>;

std::vector<Fiber> fibers;  // of the block
unsigned count;             // of threads in a block
unsigned current;
Fiber scheduler;
const void* scheduler_bottom;  // of its stack, found out by ASan
size_t scheduler_bytes;

void (*thread_function)(void*);
void* thread_data;
void* shared;
using Slots = std::array<uint64_t, WARP>;
constexpr size_t IN_TURN = 8, SLOTS = 1 + IN_TURN;  // a warp's: warp_slots, and next_warp_slots
Slots* slots;                                   // of the block
Tags* tags;                                     // of the block: its own, then its warps'
Tag begin, all_done;
char message[256];

// What a CUDA thread runs on: a stack, and a thread to the race detector, which takes half a
// millisecond to make.  That wants others for every block of a launch: it would take the variables on a
// stack for those of the block before.  The next launch, which begins when this one has ended, has them
// again.
struct Place {
    char* stack;
    void* tsan;
};
std::vector<Place> places;
size_t taken;                       // of them, in this launch or block
constexpr size_t MOST_KEPT = 4096;  // the detector knows no more than some 8000 at once

unsigned warps() { return (count + WARP - 1) / WARP; }

// ---- Changing stacks. --------------------------------------------------------------------------

// Saves what a function must keep, leaves the stack pointer in *from and goes on at `to`.
extern "C" void switch_stack(void** from, void* to);
asm(R"(
.text
.type switch_stack,@function
switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size switch_stack, .-switch_stack
)");
constexpr int SAVED_REGISTERS = 6;

void back_to_scheduler(bool for_good) {
    asan::leave(for_good ? nullptr : &fibers[current].asan, scheduler_bottom, scheduler_bytes);
    tsan::change_to(scheduler.tsan);
    switch_stack(&fibers[current].top, scheduler.top);
    asan::arrive(fibers[current].asan, &scheduler_bottom, &scheduler_bytes);
}

void resume(unsigned index) {
    Fiber& fiber = fibers[index];
    current = index;
    threadIdx = fiber.thread;
    is_showing = false;
    asan::leave(&scheduler.asan, fiber.stack, STACK_BYTES);
    tsan::change_to(fiber.tsan);
    switch_stack(&scheduler.top, fiber.top);
    asan::arrive(scheduler.asan, nullptr, nullptr);
}

void first_function() {
    asan::arrive(nullptr, &scheduler_bottom, &scheduler_bytes);
    tsan::acquire(&begin);
    thread_function(thread_data);
    fibers[current].state = DONE;
    tsan::release(&all_done);
    back_to_scheduler(true);
    __builtin_unreachable();
}

char* new_stack() {
    void* memory = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    return static_cast<char*>(memory) + GUARD_BYTES;
}

const Place& next_place() {
    if (taken == places.size()) places.push_back({new_stack(), tsan::create()});
    return places[taken++];
}

void give_back_places() {
    for (; places.size() > MOST_KEPT; places.pop_back()) {
        tsan::destroy(places.back().tsan);
        munmap(places.back().stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
    }
    taken = tsan::IS_ON ? std::min(taken, places.size()) : 0;
}

void prepare(Fiber& fiber, uint3 thread) {
    const Place& place = next_place();
    fiber.stack = place.stack;
    fiber.tsan = place.tsan;
    fiber.state = READY;
    fiber.thread = thread;
    fiber.block_barriers = fiber.warp_barriers = fiber.shown = 0;
    // As if first_function had called switch_stack: its address to return to under the registers.
    // One word stays free above, so that the stack is aligned as the ABI wants it at an entry.
    void** top = reinterpret_cast<void**>(fiber.stack + STACK_BYTES) - 1;
    *--top = reinterpret_cast<void*>(&first_function);
    for (int i = 0; i < SAVED_REGISTERS; ++i) *--top = nullptr;
    fiber.top = top;
}

// ---- Barriers. ---------------------------------------------------------------------------------

void wait(State state, int line, Tag* tag) {
    fibers[current].state = state;
    fibers[current].line = line;
    tsan::release(tag);
    back_to_scheduler(false);
    tsan::acquire(tag);
}

// Lets a warp go on if all its lanes asked for have come; lanes that ended are not waited for.
bool open_warp_barrier(unsigned warp) {
    unsigned alive = 0, arrived = 0, mask = 0;
    const unsigned end = std::min(count, (warp + 1) * WARP);
    for (unsigned i = warp * WARP; i < end; ++i) {
        if (fibers[i].state != DONE) alive |= 1u << i % WARP;
        if (fibers[i].state != AT_WARP_BARRIER) continue;
        arrived |= 1u << i % WARP;
        mask |= fibers[i].mask;
    }
    if (!arrived || (mask & alive & ~arrived)) return false;
    for (unsigned i = warp * WARP; i < end; ++i)
        if (fibers[i].state == AT_WARP_BARRIER) fibers[i].state = READY;
    return true;
}

bool open_warp_barriers() {
    bool any = false;
    for (unsigned warp = 0; warp < warps(); ++warp) any |= open_warp_barrier(warp);
    return any;
}

void say_divergence(unsigned waiting, unsigned done, int line, bool elsewhere) {
    std::snprintf(message, sizeof message,
                  "barrier divergence in block (%u, %u): of %u threads %u wait at __syncthreads "
                  "(line %d%s), %u ended, %u wait in their warp",
                  blockIdx.x, blockIdx.y, count, waiting, line, elsewhere ? " and others" : "",
                  done, count - done - waiting);
}

// Lets all go on if all wait at one and the same __syncthreads; says so if they never will.
bool open_block_barrier() {
    unsigned waiting = 0, done = 0;
    int line = 0;
    bool elsewhere = false;
    for (unsigned i = 0; i < count; ++i) {
        done += fibers[i].state == DONE;
        if (fibers[i].state != AT_BLOCK_BARRIER) continue;
        elsewhere |= waiting++ && fibers[i].line != line;
        line = fibers[i].line;
    }
    if (done == count) return false;
    if (waiting != count || elsewhere) {
        say_divergence(waiting, done, line, elsewhere);
        return false;
    }
    for (unsigned i = 0; i < count; ++i) fibers[i].state = READY;
    return true;
}

// ---- Blocks and launches. ----------------------------------------------------------------------

std::vector<unsigned> turns(unsigned number, int order, std::mt19937& random) {
    std::vector<unsigned> turn(number);
    std::iota(turn.begin(), turn.end(), 0u);
    if (order == REVERSE) std::reverse(turn.begin(), turn.end());
    if (order == SHUFFLED) std::shuffle(turn.begin(), turn.end(), random);
    return turn;
}

void run_block(const Launch& how, std::mt19937& random) {
    tsan::release(&begin);  // what was done for this block; what other blocks did is not in it
    for (unsigned i = 0; i < count; ++i) prepare(fibers[i], {i % how.block_x, i / how.block_x, 0});
    do {
        for (unsigned i : turns(count, how.order, random))
            if (fibers[i].state == READY) resume(i);
    } while (open_warp_barriers() || open_block_barrier());
    give_back_places();
}

void* poisoned(size_t bytes) {
    void* memory = std::malloc(bytes);  // exact, so that ASan sees the first byte beyond it
    if (bytes && !memory) abort();
    std::memset(memory, 0xff, bytes);  // NaN, read as floats
    return memory;
}

}  // namespace

void* dynamic_shared() { return shared; }
unsigned lane() { return current % WARP; }
uint64_t* warp_slots() { return slots[SLOTS * (current / WARP)].data(); }
uint64_t* next_warp_slots() {
    is_showing = true;
    return slots[SLOTS * (current / WARP) + 1 + fibers[current].shown++ % IN_TURN].data();
}

void sync_block(int line) {
    wait(AT_BLOCK_BARRIER, line, &tags[0][fibers[current].block_barriers++ % 2]);
}

void sync_warp(unsigned mask, int line) {
    fibers[current].mask = mask;
    wait(AT_WARP_BARRIER, line, &tags[1 + current / WARP][fibers[current].warp_barriers++ % 2]);
}

const char* launch(const Launch& how, void (*thread)(void*), void* data) {
    count = how.block_x * how.block_y;
    if (count < 1 || count > MOST_THREADS) return "a block must have 1 to 1024 threads";
    gridDim = {how.grid_x, how.grid_y, 1};
    blockDim = {how.block_x, how.block_y, 1};
    thread_function = thread;
    thread_data = data;
    message[0] = 0;
    if (fibers.size() < count) fibers.resize(count);
    scheduler.tsan = tsan::current();
    taken = 0;

    // Tags, slots and shared memory of all blocks live until the end: used again at the same address,
    // tags would look to the race detector as if one block had waited for another, the others as if
    // it ought to have.
    const unsigned blocks = how.grid_x * how.grid_y;
    std::vector<Slots> all_slots(SLOTS * blocks * warps());
    std::vector<Tags> all_tags(size_t(blocks) * (1 + warps()));
    std::vector<void*> all_shared;
    std::mt19937 random(how.seed);
    for (unsigned block : turns(blocks, how.order, random)) {
        blockIdx = {block % how.grid_x, block / how.grid_x, 0};
        tags = &all_tags[size_t(block) * (1 + warps())];
        slots = &all_slots[SLOTS * block * warps()];
        all_shared.push_back(shared = poisoned(how.shared_bytes));
        run_block(how, random);
        if (message[0]) break;
    }
    tsan::acquire(&all_done);
    for (void* memory : all_shared) std::free(memory);
    return message[0] ? message : nullptr;
}

}  // namespace cuda_cpu
