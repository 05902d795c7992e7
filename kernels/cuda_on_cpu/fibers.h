// What fibers.cpp says of the thread that runs, to what watches it; and what is known of a run that
// went wrong, in memory that its process shares: it may not live to tell.
#pragma once

#include "cuda_cpu.h"

#include <array>

namespace cuda_cpu {

constexpr size_t STACK_BYTES = 64 << 10;
constexpr size_t GUARD_BYTES = 1 << 20;  // below each stack: running over it is a fault, not silence
struct Running {
    const char* stack;        // its lowest byte
    unsigned number;          // in its block
    unsigned block_barriers;  // that it has reached
};
bool is_running();  // whether it is a thread that runs, and not the scheduler
Running running();
bool has_ended(unsigned thread);  // of the block
// Of the launch: its blocks, those that have begun, and whether the one that runs took most of the time.
struct Pace {
    unsigned blocks, begun;
    bool is_stuck;
};
Pace pace();
struct Launched {
    void (*thread)(void*);  // an address in the library
    void* arguments;        // what its threads are handed lies there, and near it
    Statics static_shared;
    size_t dynamic_shared_bytes;
};
extern Launched launched;

// Called as something happens; null: nobody wants to know.
struct Hooks {
    void (*at_block)();  // as each block begins
    void (*at_pause)();  // as a thread waits, is held up or has ended; it is the running one still
    void (*at_refusal)(size_t bytes);  // of memory that a thread asks for
    void (*at_gift)(const void* begin, size_t bytes);  // of such memory
    void (*at_meeting)(unsigned first, unsigned lanes);  // of a warp, by its first thread, at __syncwarp
    void (*at_block_barrier)();  // as it opens
    // As one opens that some of these threads do not reach, since they have ended: what to say of that.
    void (*at_missed)(unsigned first, unsigned end, const char* words);
    void (*at_atomic)(const void* at, size_t bytes, const void* pc, const void* frame);
    void (*at_fence)(bool of_block);
    // A number for the calls that led to a frame: two threads at one barrier in a function may have come
    // there from both branches of an if.
    uint64_t (*way_of)(const void* frame);
};
extern Hooks hooks;

extern int64_t only_block;  // that a launch runs; negative: all

// Where the order is shuffled, may let other threads run before this one goes on.
void hold_up();

[[noreturn]] void give_up(const char* why);  // ends the launch, whose message that is
void give_up_after_block(const char* why);   // likewise, once its block has ended; that may have a better reason
bool is_giving_up();

// As in shared_run.py.
enum Kind : int32_t { NOTHING, CRASH, DEADLINE, BOUNDS, MISALIGNED, RACE, UNINITIALISED, PADDING, READ_ONLY, ELEMENT, BEYOND };
enum : int32_t { DYNAMIC_ARRAY = -1, STATIC_ARRAY = -2, NOWHERE = -3, GIFT = -4 };

// A thread, and where it is: an address of code, and those that its callers go on at.
using Place = std::array<uint64_t, 12>;  // from the library's begin; 0: none
struct Where {
    int32_t block_x, block_y, thread_x, thread_y;
    Place pcs;
};
struct Report {
    int32_t kind;
    int32_t signal;
    int32_t array;  // that was meant, of those watched, or of the enum above
    uint32_t size;
    int64_t offset;  // bytes from its begin; of ELEMENT: the element; of DEADLINE: blocks that were done;
                   // of CRASH: of the address, from these reports
    int32_t is_store, other_stores;
    uint64_t address;
    uint64_t array_bytes;  // of ELEMENT: how many elements it has; of DEADLINE: blocks, 0 if it was stuck in one
    Where here, there;
};
struct Reports {
    Report fault;      // what ended the run
    Report suspicion;  // the first that may be wrong, and need not
    uint64_t refused_bytes;  // of memory, that were asked for and not given; 0: none
};
extern Reports* reports;

void find_where(Where& where, const void* pc, const void* frame);

struct Image {
    uint64_t begin, end;
    uint64_t variables;  // from here on it may be written to
    bool has(uint64_t at) const { return begin <= at && at < end; }
};
Image image();  // of the library that was launched

}  // namespace cuda_cpu
