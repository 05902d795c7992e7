// What AddressSanitizer and the race detector want to be told of fibers; does nothing without them.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace asan {
#if defined(__SANITIZE_ADDRESS__)
inline void leave(void** keep, const void* bottom, size_t bytes) {
    __sanitizer_start_switch_fiber(keep, bottom, bytes);
}
inline void arrive(void* kept, const void** bottom, size_t* bytes) {
    __sanitizer_finish_switch_fiber(kept, bottom, bytes);
}
#else
inline void leave(void**, const void*, size_t) {}
inline void arrive(void*, const void**, size_t*) {}
#endif
}  // namespace asan

#if defined(RACE_DETECTOR)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* tag);
void __tsan_release(void* tag);
}
#endif

namespace tsan {
constexpr unsigned WITHOUT_ORDER = 1;  // that one fiber ran after another proves nothing
#if defined(RACE_DETECTOR)
constexpr bool IS_ON = true;
inline void* current() { return __tsan_get_current_fiber(); }
inline void* create() { return __tsan_create_fiber(0); }
inline void destroy(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void change_to(void* fiber) {
    __tsan_switch_to_fiber(fiber, WITHOUT_ORDER);
}
inline void acquire(void* tag) { __tsan_acquire(tag); }
inline void release(void* tag) { __tsan_release(tag); }
#else
constexpr bool IS_ON = false;
inline void* current() { return nullptr; }
inline void* create() { return nullptr; }
inline void destroy(void*) {}
inline void change_to(void*) {}
inline void acquire(void*) {}
inline void release(void*) {}
#endif
}  // namespace tsan
