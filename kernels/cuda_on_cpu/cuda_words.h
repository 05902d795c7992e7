// Words of CUDA that no rung of the ladder uses, and that others write: atomics, votes, intrinsics.
#pragma once

using std::isfinite, std::isinf, std::isnan, std::signbit;  // of which <cmath> takes the macros away

// Threads are fibers: nobody comes between this load and the store.  Not told of as accesses of a
// thread's own: who watches races is told that they are atomic.
#define CPU_ATOMIC template <class T> UNWATCHED T
template <class T> struct only { using type = T; };
CPU_ATOMIC atomic_old(T* at) { return cuda_cpu::before_atomic(at, sizeof(T)), *at; }
CPU_ATOMIC atomicAdd(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = old + value; return old; }
CPU_ATOMIC atomicSub(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = old - value; return old; }
CPU_ATOMIC atomicMax(T* at, typename only<T>::type value) { const T old = atomic_old(at); if (value > old) *at = value; return old; }
CPU_ATOMIC atomicMin(T* at, typename only<T>::type value) { const T old = atomic_old(at); if (value < old) *at = value; return old; }
CPU_ATOMIC atomicOr(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = old | value; return old; }
CPU_ATOMIC atomicAnd(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = old & value; return old; }
CPU_ATOMIC atomicXor(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = old ^ value; return old; }
CPU_ATOMIC atomicExch(T* at, typename only<T>::type value) { const T old = atomic_old(at); *at = value; return old; }
CPU_ATOMIC atomicCAS(T* at, typename only<T>::type wanted, typename only<T>::type value) {
    const T old = atomic_old(at);
    if (old == wanted) *at = value;
    return old;
}

inline void __threadfence() { cuda_cpu::fence(false); }
inline void __threadfence_block() { cuda_cpu::fence(true); }

namespace cuda_cpu {
inline unsigned ballot(unsigned mask, bool is_true, const char* file, int line) {
    uint64_t said[32];
    const unsigned met = shuffle_values(mask, is_true, said, -1, file, line);
    unsigned all = 0;
    for (unsigned from = 0; from < 32; ++from) all |= unsigned(said[from] & 1) << from;
    return all & met;
}
inline unsigned lane_above(unsigned by, unsigned width = 32) { return lane() % width >= by ? lane() - by : lane(); }

namespace words {
// As on a device: into a space of limited size; what does not fit is left out.
__attribute__((format(printf, 1, 2))) int printf(const char* words, ...);
// None where a run has taken all that it may, as on a device; the run remembers that.
void* malloc(size_t bytes);
// Byte by byte, so that who watches accesses sees them.
inline void* memcpy(void* to, const void* from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    return to;
}
inline void* memset(void* to, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = char(value);
    return to;
}
inline long long clock64() { return __builtin_ia32_rdtsc(); }
inline long clock() { return clock64(); }
}  // namespace words
[[noreturn]] void stopped(const char* words, const char* more, const char* file, int line);
}  // namespace cuda_cpu

#define __shfl_up_sync(mask, value, ...) \
    cuda_cpu::exchange(mask, value, cuda_cpu::lane_above(__VA_ARGS__), __FILE__, __LINE__)
#define __ballot_sync(mask, is_true) cuda_cpu::ballot(mask, is_true, __FILE__, __LINE__)
#define __any_sync(mask, is_true) (cuda_cpu::ballot(mask, is_true, __FILE__, __LINE__) != 0)
#define __all_sync(mask, is_true) (cuda_cpu::ballot(mask, !(is_true), __FILE__, __LINE__) == 0)
#define assert(condition) \
    ((condition) ? void() : cuda_cpu::stopped("finds an assertion that does not hold: ", #condition, __FILE__, __LINE__))
#define __trap() cuda_cpu::stopped("comes to a trap", "", __FILE__, __LINE__)
