// The calls that compilers put before every access to memory, meant for a race detector; here they are
// ours.  Included once, by a file that has defined what they do:
// on_access(at, bytes, is_store, pc, frame), pc where the access stands, frame that of the call.
#pragma once

#include <cstring>

#define HERE __builtin_return_address(0), __builtin_frame_address(0)
#define LOAD(at, size) on_access(at, size, false, HERE)
#define STORE(at, size) on_access(at, size, true, HERE)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}  // clang calls these two
void __tsan_func_exit() {}
void __tsan_read_range(void* at, unsigned long size) { LOAD(at, size); }
void __tsan_write_range(void* at, unsigned long size) { STORE(at, size); }
// clang calls these; g++ takes them apart, or they are the library's, and not seen.
void* __tsan_memcpy(void* to, const void* from, unsigned long size) {
    LOAD(from, size);
    STORE(to, size);
    return std::memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, unsigned long size) {
    LOAD(from, size);
    STORE(to, size);
    return std::memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, unsigned long size) {
    STORE(to, size);
    return std::memset(to, value, size);
}

#define ACCESSES_OF(size)                                            \
    void __tsan_read##size(void* at) { LOAD(at, size); }             \
    void __tsan_write##size(void* at) { STORE(at, size); }           \
    void __tsan_unaligned_read##size(void* at) { LOAD(at, size); }   \
    void __tsan_unaligned_write##size(void* at) { STORE(at, size); }
ACCESSES_OF(1)
ACCESSES_OF(2)
ACCESSES_OF(4)
ACCESSES_OF(8)
ACCESSES_OF(16)
}
