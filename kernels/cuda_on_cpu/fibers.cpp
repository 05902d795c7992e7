// The runtime behind cuda_cpu.h: a scheduler that hands one CPU thread from fiber to fiber.
//
// A fiber runs until it ends or reaches a barrier.  A warp's barrier opens as soon as its lanes have
// come, and the warp runs on while others have not begun: they meet at the block's barriers alone.
// Shared memory is exactly as large as asked for and full of NaN, so that what was never written, or
// not yet, shows.
#include "fibers.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace cuda_cpu {

bool is_showing;
Hooks hooks;
Launched launched;
int64_t only_block = -1;

namespace {

constexpr unsigned WARP = 32;
constexpr unsigned MOST_THREADS = 1024;  // CUDA's limit for a block
constexpr int NEVER_STORED = 0xff;       // in shared memory: NaN, read as floats
constexpr unsigned ALONE = 1 << 12;      // barriers of its own that a warp passes before others run
constexpr uint64_t NO_VALUE = ~0ull;   // of a lane that shuffles none: NaN
constexpr unsigned HELD_UP = 8;          // of so many stores, before one another thread runs

enum State { READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, AT_SHUFFLE, DONE };

struct Fiber {
    char* stack = nullptr;
    void* top = nullptr;  // the stack pointer while it does not run
    State state = READY;
    uint3 thread{};
    const char* file = "";  // of the barrier it waits at,
    int line = 0;           // its line there,
    uint64_t way = 0;       // and, if that is a block's, which of the text it is and the way of calls to it
    unsigned mask = 0, met = 0;  // of lanes, where that is a warp's; and which of them met there
    bool is_missed_by_block = false, is_missed_by_warp = false;  // at a barrier, as it had ended
    unsigned block_barriers = 0, shown = 0;  // so far: reached; values shown to the whole warp
    uint64_t value = 0;            // that it shuffles,
    uint64_t* received = nullptr;  // and where those of the others go: that of
    int from = -1;                 // this lane; of each, where it is -1
};

std::vector<Fiber> fibers;  // of the block
unsigned count;             // of threads in a block
unsigned current;
void* scheduler_top;  // its stack pointer while a thread runs

void* shared;
bool is_in_thread;
using Slots = std::array<uint64_t, WARP>;
constexpr size_t IN_TURN = 8;                   // a warp's: next_warp_slots
Slots* slots;                                   // of the block
std::minstd_rand chance;                        // for SHUFFLED
bool is_by_chance;
using Message = char[512];
Message message;
const char* last_message;  // for when its block has ended
char printed[64 << 10];  // what device code prints
size_t printed_bytes;

unsigned blocks, blocks_begun;  // of the launch
uint64_t launch_began, block_began;  // by the CPU's clock

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

void back_to_scheduler() { switch_stack(&fibers[current].top, scheduler_top); }

void resume(unsigned index) {
    Fiber& fiber = fibers[index];
    current = index;
    threadIdx = fiber.thread;
    is_showing = false;
    is_in_thread = true;
    switch_stack(&scheduler_top, fiber.top);
    is_in_thread = false;
    if (hooks.at_pause) hooks.at_pause();
}

void first_function() {
    launched.thread(launched.arguments);
    fibers[current].state = DONE;
    back_to_scheduler();
    __builtin_unreachable();
}

char* new_stack() {
    void* memory = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    return static_cast<char*>(memory) + GUARD_BYTES;
}

void prepare(Fiber& fiber, uint3 thread) {
    char* const stack = fiber.stack ? fiber.stack : new_stack();
    fiber = {};
    fiber.stack = stack;
    fiber.thread = thread;
    // As if first_function had called switch_stack: its address to return to under the registers.
    // One word stays free above, so that the stack is aligned as the ABI wants it at an entry.
    void** top = reinterpret_cast<void**>(stack + STACK_BYTES) - 1;
    *--top = reinterpret_cast<void*>(&first_function);
    for (int i = 0; i < SAVED_REGISTERS; ++i) *--top = nullptr;
    fiber.top = top;
}

// ---- Barriers. ---------------------------------------------------------------------------------

void wait(State state, const char* file, int line) {
    fibers[current].state = state;
    fibers[current].file = file;
    fibers[current].line = line;
    back_to_scheduler();
}

bool wait_together(const Fiber& one, const Fiber& other) {
    return one.state == other.state && one.line == other.line && one.way == other.way;
}

// Threads that wait in vain: where, how many, and what became of another.
void say_divergence(Message& message, unsigned waiting, unsigned done, const Fiber& first, const Fiber& other) {
    const int length = std::snprintf(
        message, sizeof message, "<%s:%d>: %u of the %u threads of block (%u, %u) wait at this barrier and ", first.file,
        first.line, waiting, count, blockIdx.x, blockIdx.y);
    char* const rest = message + length;
    const size_t room = sizeof message - length;
    const auto [x, y, z] = other.thread;
    if (other.state == DONE) std::snprintf(rest, room, "%u ended without reaching it, thread (%u, %u) among them.", done, x, y);
    else if (other.state == first.state && other.line == first.line)
        std::snprintf(rest, room, "others at another one on the same line, or by another call, thread (%u, %u) among them.", x, y);
    else std::snprintf(rest, room, "others elsewhere, thread (%u, %u) at <%s:%d>.", x, y, other.file, other.line);
}

// Tells of those of `lanes` of each warp that ended without reaching a barrier at which `one` waits, once of each.
void tell_of_missed(bool Fiber::*is_known, unsigned first, unsigned end, unsigned lanes, const Fiber& one) {
    const Fiber* missed = nullptr;
    unsigned waiting = 0, done = 0;
    bool is_new = false;
    for (unsigned i = first; i < end; ++i) {
        Fiber& fiber = fibers[i];
        if (!(lanes >> i % WARP & 1)) continue;
        waiting += wait_together(fiber, one);
        if (fiber.state != DONE) continue;
        ++done;
        if (!missed) missed = &fiber;
        is_new |= !(fiber.*is_known);
        fiber.*is_known = true;
    }
    if (!is_new) return;
    Message words;
    say_divergence(words, waiting, done, one, *missed);
    hooks.at_missed(first, end, words);
}

// Gives each of those lanes what it wants of the values that they shuffle.
void hand_over_values(unsigned first, unsigned lanes) {
    const auto shuffled = [&](unsigned lane) { return lanes >> lane & 1 ? fibers[first + lane].value : NO_VALUE; };
    for (unsigned lane = 0; lane < WARP; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Fiber& fiber = fibers[first + lane];
        if (!fiber.received) continue;
        if (fiber.from >= 0) *fiber.received = shuffled(unsigned(fiber.from));
        else for (unsigned from = 0; from < WARP; ++from) fiber.received[from] = shuffled(from);
    }
}

// Lets those lanes go on that wait for no others than each other: all that a mask names, and that
// have not ended, with that mask.
bool open_warp_barriers(unsigned warp) {
    const unsigned first = warp * WARP, end = std::min(count, first + WARP);
    const auto lanes_where = [&](auto holds) {
        unsigned lanes = 0;
        for (unsigned i = first; i < end; ++i) lanes |= unsigned(holds(fibers[i])) << (i - first);
        return lanes;
    };
    const unsigned alive = lanes_where([](const Fiber& fiber) { return fiber.state != DONE; });
    unsigned left = lanes_where([](const Fiber& fiber) { return fiber.state == AT_WARP_BARRIER || fiber.state == AT_SHUFFLE; });
    bool any = false;
    while (left) {
        const Fiber& one = fibers[first + unsigned(__builtin_ctz(left))];
        const State state = one.state;
        const unsigned mask = one.mask;
        const unsigned met = lanes_where([&](const Fiber& fiber) { return fiber.state == state && fiber.mask == mask; });
        left &= ~met;
        if (mask & alive & ~met) continue;
        any = true;
        if (hooks.at_meeting && state == AT_WARP_BARRIER) hooks.at_meeting(first, met);
        if (state == AT_SHUFFLE) hand_over_values(first, met);
        if (hooks.at_missed && mask & ~met) tell_of_missed(&Fiber::is_missed_by_warp, first, end, mask, one);
        for (unsigned i = first; i < end; ++i)
            if (met >> (i - first) & 1) fibers[i].state = READY, fibers[i].met = met;
    }
    return any;
}

// Lets all go on that have not ended if they wait at one and the same __syncthreads, as compute
// capability 7.0 has it; says so if they never will.
bool open_block_barrier() {
    const Fiber *first = nullptr, *other = nullptr;
    unsigned waiting = 0, done = 0;
    for (unsigned i = 0; i < count; ++i) {
        done += fibers[i].state == DONE;
        if (fibers[i].state != DONE && (!first || (first->state != AT_BLOCK_BARRIER && fibers[i].state == AT_BLOCK_BARRIER)))
            first = &fibers[i];
    }
    if (done == count) return false;
    for (unsigned i = 0; i < count; ++i) {
        const Fiber& fiber = fibers[i];
        if (wait_together(fiber, *first)) ++waiting;
        else if (!other || (other->state == DONE && fiber.state != DONE)) other = &fiber;
    }
    const bool is_open = first->state == AT_BLOCK_BARRIER && (!other || other->state == DONE);
    if (!is_open || (other && last_message)) {  // a race of those that did not wait
        say_divergence(message, waiting, done, *first, other ? *other : *first);
        return false;
    }
    if (hooks.at_missed && other) tell_of_missed(&Fiber::is_missed_by_block, 0, count, ~0u, *first);
    for (unsigned i = 0; i < count; ++i)
        if (fibers[i].state != DONE) fibers[i].state = READY;
    if (hooks.at_block_barrier) hooks.at_block_barrier();
    return true;
}

// ---- Blocks and launches. ----------------------------------------------------------------------

std::vector<unsigned> turns(unsigned number, int order) {
    std::vector<unsigned> turn(number);
    std::iota(turn.begin(), turn.end(), 0u);
    if (order == REVERSE) std::reverse(turn.begin(), turn.end());
    if (order == SHUFFLED) std::shuffle(turn.begin(), turn.end(), chance);
    return turn;
}

// Runs a warp until its lanes have ended, or wait for other warps; returns whether one was held up.
bool run_warp(unsigned warp, int order) {
    const unsigned first = warp * WARP, lanes = std::min(count - first, WARP);
    unsigned turn = 0;
    do {
        const unsigned change = order == FORWARD ? 0 : order == REVERSE ? WARP - 1 : chance() / 64 % WARP;
        for (unsigned i = 0; i < WARP; ++i) {
            const unsigned lane = i ^ change;  // of any two lanes either comes first
            if (lane < lanes && fibers[first + lane].state == READY && !message[0]) resume(first + lane);
        }
    } while (!message[0] && open_warp_barriers(warp) && ++turn < ALONE);
    const auto warp_begin = fibers.begin() + first;
    return std::any_of(warp_begin, warp_begin + lanes, [](const Fiber& fiber) { return fiber.state == READY; });
}

void run_block(const Launch& how) {
    for (unsigned i = 0; i < count; ++i) prepare(fibers[i], {i % how.block_x, i / how.block_x, 0});
    do {
        bool is_held_up;
        do {
            is_held_up = false;
            for (unsigned warp : turns(warps(), how.order))
                if (!message[0]) is_held_up |= run_warp(warp, how.order);
        } while (is_held_up && !message[0]);
    } while (!message[0] && open_block_barrier());
    if (last_message && !message[0]) std::snprintf(message, sizeof message, "%s", last_message);
}

void* poisoned(size_t bytes) {
    void* memory = std::malloc(bytes);
    if (bytes && !memory) abort();
    std::memset(memory, NEVER_STORED, bytes);
    return memory;
}

}  // namespace

void* dynamic_shared() { return shared; }
unsigned lane() { return current % WARP; }
unsigned lanes_alive() {
    const unsigned first = current / WARP * WARP;
    unsigned alive = 0;
    for (unsigned i = first; i < std::min(count, first + WARP); ++i) alive |= unsigned(fibers[i].state != DONE) << i % WARP;
    return alive;
}
uint64_t* next_warp_slots() {
    is_showing = true;
    return slots[IN_TURN * (current / WARP) + fibers[current].shown++ % IN_TURN].data();
}

void add_products(void* sum, const uint64_t* left, const uint64_t* right) {
    float total = *static_cast<float*>(sum);
    for (int i = 0; i < 8; ++i)
        total += half_to_float(left[i / 2] >> 16 * (i % 2)) * half_to_float(right[i / 2] >> 16 * (i % 2));
    *static_cast<float*>(sum) = total;
}

void sync_block(const char* file, int line, int barrier) {
    fibers[current].way = uint64_t(barrier) ^ (hooks.way_of ? hooks.way_of(__builtin_frame_address(0)) : 0);
    ++fibers[current].block_barriers;
    wait(AT_BLOCK_BARRIER, file, line);
}

void meet(State state, unsigned mask, const char* file, int line) {
    if (!(mask >> lane() & 1)) stopped("waits with a mask that does not name its own lane", "", file, line);
    fibers[current].mask = mask;
    wait(state, file, line);
}
void sync_warp(unsigned mask, const char* file, int line) { meet(AT_WARP_BARRIER, mask, file, line); }
unsigned shuffle_values(unsigned mask, uint64_t value, uint64_t* received, int from, const char* file, int line) {
    fibers[current].value = value;
    fibers[current].received = received;
    fibers[current].from = from;
    meet(AT_SHUFFLE, mask, file, line);
    return fibers[current].met;
}

void fence(bool of_block) {
    if (hooks.at_fence) hooks.at_fence(of_block);
}

void hold_up() {
    if (!is_by_chance || !is_in_thread || chance() / 64 % HELD_UP) return;
    const bool was_showing = is_showing;
    back_to_scheduler();
    is_showing = was_showing;
}

void before_atomic(const void* at, size_t bytes) {
    hold_up();
    if (hooks.at_atomic) hooks.at_atomic(at, bytes, __builtin_return_address(0), __builtin_frame_address(0));
}

const char* launch(const Launch& how, void (*thread)(void*), void* data, Statics static_shared) {
    count = how.block_x * how.block_y;
    if (count < 1 || count > MOST_THREADS) return "a block must have 1 to 1024 threads";
    gridDim = {how.grid_x, how.grid_y, 1};
    blockDim = {how.block_x, how.block_y, 1};
    launched = {thread, data, static_shared, how.shared_bytes};
    message[0] = 0;
    last_message = nullptr;
    if (fibers.size() < count) fibers.resize(count);
    blocks = how.grid_x * how.grid_y, blocks_begun = 0;
    launch_began = __builtin_ia32_rdtsc();
    std::vector<Slots> all_slots(IN_TURN * warps());
    slots = all_slots.data();
    chance.seed(how.seed + 1);
    is_by_chance = how.order == SHUFFLED;
    const unsigned column = how.cross % how.grid_x, row = how.cross / how.grid_x % how.grid_y;
    for (unsigned block : turns(blocks, how.order)) {
        if (only_block >= 0 && block != only_block) continue;
        if (how.cross && block % how.grid_x != column && block / how.grid_x != row && block + 1 != blocks) continue;
        blockIdx = {block % how.grid_x, block / how.grid_x, 0};
        block_began = __builtin_ia32_rdtsc(), ++blocks_begun;
        shared = poisoned(how.shared_bytes);
        if (static_shared.begin) std::memset(static_shared.begin, NEVER_STORED, static_shared.end - static_shared.begin);
        if (hooks.at_block) hooks.at_block();
        run_block(how);
        std::free(shared);
        if (message[0]) break;
    }
    return message[0] ? message : nullptr;
}

int words::printf(const char* words, ...) {
    va_list values;
    va_start(values, words);
    const size_t room = sizeof printed - printed_bytes;
    const int length = std::vsnprintf(printed + printed_bytes, room, words, values);
    va_end(values);
    if (length > 0) printed_bytes += std::min<size_t>(length, room - 1);
    return length;
}

void* words::malloc(size_t bytes) {
    void* memory = std::malloc(bytes);
    if (!memory && hooks.at_refusal) hooks.at_refusal(bytes);
    if (memory && hooks.at_gift) hooks.at_gift(memory, bytes);
    return memory;
}

void give_up(const char* why) {
    std::snprintf(message, sizeof message, "%s", why);
    fibers[current].state = DONE;
    back_to_scheduler();
    __builtin_unreachable();
}

void give_up_after_block(const char* why) { last_message = why; }
bool is_giving_up() { return last_message; }

void stopped(const char* words, const char* more, const char* file, int line) {
    Message why;
    std::snprintf(why, sizeof why, "<%s:%d>: thread (%u, %u) of block (%u, %u) %s%s.", file, line, threadIdx.x, threadIdx.y,
                  blockIdx.x, blockIdx.y, words, more);
    give_up(why);
}

bool is_running() { return is_in_thread; }
Pace pace() {
    const uint64_t now = __builtin_ia32_rdtsc();
    return {blocks, blocks_begun, now - block_began > (now - launch_began) / 2};
}
bool has_ended(unsigned thread) { return fibers[thread].state == DONE; }
Running running() { return {fibers[current].stack, current, fibers[current].block_barriers}; }

}  // namespace cuda_cpu

// What was printed so far; from now on, nothing was.
extern "C" const char* take_printed() {
    cuda_cpu::printed[cuda_cpu::printed_bytes] = 0;
    cuda_cpu::printed_bytes = 0;
    return cuda_cpu::printed;
}

// ---- Loading device code where the process may open no file any more: see confinement.py. -------

namespace {
int library_file;

void on_refused_call(int, siginfo_t* facts, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (facts->si_syscall == SYS_openat && library_file >= 0)
        registers[REG_RAX] = std::exchange(library_file, -1);
    else if (facts->si_syscall == SYS_newfstatat)  // by which the loader means fstat
        registers[REG_RAX] = syscall(SYS_fstat, registers[REG_RDI], registers[REG_RDX]);
    else
        std::signal(SIGSYS, SIG_DFL), std::raise(SIGSYS);
}
}  // namespace

// The file that is opened next, by whatever name, is this one; a second is none.
extern "C" void hand_over(int file) {
    library_file = file;
    struct sigaction action{};
    action.sa_sigaction = on_refused_call;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, nullptr);
}
// The library is loaded: from now on a call that is refused ends the process.
extern "C" void end_hand_over() { std::signal(SIGSYS, SIG_DFL); }
