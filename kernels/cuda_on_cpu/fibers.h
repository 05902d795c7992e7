// What fibers.cpp says of the thread that runs, to what watches it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_cpu {

struct Running {
    const char* stack;          // its lowest byte,
    size_t stack_bytes;         // and how many there are
    size_t guard_bytes;         // below it, which nobody may touch
    unsigned number;            // in its block
    unsigned block_barriers;    // that it has reached
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
const void* of_the_library();   // an address in the library that was launched
const void* arguments();        // what its threads are handed lies there, and near it
const char* static_shared(size_t* bytes);
size_t dynamic_shared_bytes();

// Called as each launch, and each block, begins; null: nobody wants to know.
extern void (*at_launch)();
extern void (*at_block)();
extern void (*at_pause)();  // as a thread waits, is held up or has ended; it is the running one still
extern void (*at_refusal)(size_t bytes);  // of memory that a thread asks for
extern void (*at_gift)(const void* begin, size_t bytes);  // of such memory
extern void (*at_meeting)(unsigned first, unsigned lanes);  // of a warp, by its first thread, at __syncwarp
extern void (*at_block_barrier)();  // as it opens
// As one opens that some of these threads do not reach, since they have ended: what to say of that.
extern void (*at_missed)(unsigned first, unsigned end, const char* words);
extern void (*at_atomic)(const void* at, size_t bytes, const void* pc, const void* frame);
extern void (*at_fence)(bool of_block);

extern int64_t only_block;  // that a launch runs; negative: all

// Where the order is shuffled, may let other threads run before this one goes on.
void hold_up();

// A number for the calls that led to a frame: two threads at one barrier in a function may have come
// there from both branches of an if.
extern uint64_t (*way_of)(const void* frame);

[[noreturn]] void give_up(const char* why);  // ends the launch, whose message that is
void give_up_after_block(const char* why);   // likewise, once its block has ended; that may have a better reason
bool is_giving_up();

}  // namespace cuda_cpu
