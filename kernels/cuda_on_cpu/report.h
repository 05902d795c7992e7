// What is known of a run that went wrong, in memory that its process shares: it may not live to tell.
#pragma once

#include <array>
#include <cstdint>

namespace cuda_cpu {

// As in shared_run.py.
enum Kind : int32_t { NOTHING, CRASH, DEADLINE, BOUNDS, MISALIGNED, RACE, UNINITIALISED, PADDING, READ_ONLY, ELEMENT, BEYOND };
enum : int32_t { DYNAMIC_ARRAY = -1, STATIC_ARRAY = -2, NOWHERE = -3, GIFT = -4 };
constexpr unsigned DEPTH = 12;

// A thread, and where it is: an address of code, and those that its callers go on at.
struct Where {
    int32_t block_x, block_y, thread_x, thread_y;
    std::array<uint64_t, DEPTH> pcs;  // from the library's begin; 0: none
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
