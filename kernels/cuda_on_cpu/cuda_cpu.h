// CUDA C++ device code for g++: the words a rung may use beyond C++, for runs without a GPU.
//
// Each CUDA thread is a fiber (fibers.cpp); one block runs at a time, on one CPU thread.  What a
// rung may not use here: textures, asynchronous copies, tensor cores, inline PTX.
#pragma once

// Bessel functions and their like are most of <cmath>, and of what g++ reads for each text.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef COUNTING
#include "counted_float.h"
#define float counted_float
#endif
#ifdef RECORDING
namespace cuda_cpu {
void copy(void* to, const void* from, size_t bytes);  // in recorder.cpp
}
// Assigned in a function, or g++ would not say that it stores what a function returns: all at once, as a GPU
// does; nor copied without a call, or what a function is handed is not told of;
#define CPU_COPIED(type)                                                  \
    type() = default;                                                     \
    template <class... Words>                                             \
        requires(sizeof...(Words) > 1)                                    \
    type(Words... words) {                                                \
        const decltype(x) all[] = {static_cast<decltype(x)>(words)...};   \
        std::memcpy(static_cast<void*>(this), all, sizeof(all));          \
    }                                                                     \
    type(const type& from) { cuda_cpu::copy(this, &from, sizeof(type)); } \
    type& operator=(const type& from) { return cuda_cpu::copy(this, &from, sizeof(type)), *this; }
#elif defined(WATCHED)
// or likewise, by the compiler's own words.
#define CPU_COPIED(type)                                                                             \
    type& operator=(const type& from) {                                                              \
        struct alignas(type) Whole { char bytes[sizeof(type)]; };                                    \
        return *reinterpret_cast<Whole*>(this) = reinterpret_cast<const Whole&>(from), *this;        \
    }
#else
#define CPU_COPIED(type)
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__  // nothing: newer standard libraries write __attribute__((__noinline__))
#define __constant__
// Arrays of fixed size: there is never more than one block.  Those of one set of a job's macros lie
// together, so that they can be found: __shared__ is defined with the set's key (device_code.py).
// Not __attribute__: see user_text.h.  As they are never made, nothing has to note that they are.
#if defined(WATCHED) && !defined(COUNTING)
#define SHARED_OF(key) __attribute((section("cuda_shared_" #key))) static constinit
#else
#define SHARED_OF(key) __attribute((section("cuda_shared_" #key))) static
#endif
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__
#define __align__(n) __attribute((aligned(n)))
#define CUDA_ON_CPU  // the prelude leaves to this file what it would say in PTX

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 from) : x(from.x), y(from.y), z(from.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// CUDA's vectors of one to four numbers, aligned as there.
#define CPU_VECTORS(word, of)                                                                       \
    struct word##1 { of x; };                                                                       \
    struct alignas(2 * sizeof(of)) word##2 {                                                        \
        of x, y;                                                                                    \
        CPU_COPIED(word##2)                                                                         \
    };                                                                                              \
    struct alignas(4 * sizeof(of) > 16 ? 16 : 4 * sizeof(of)) word##4 {                             \
        of x, y, z, w;                                                                              \
        CPU_COPIED(word##4)                                                                         \
    };                                                                                              \
    inline word##1 make_##word##1(of x) { return {x}; }                                             \
    inline word##2 make_##word##2(of x, of y) { return {x, y}; }                                    \
    inline word##3 make_##word##3(of x, of y, of z) { return {x, y, z}; }                           \
    inline word##4 make_##word##4(of x, of y, of z, of w) { return {x, y, z, w}; }
#define CPU_VECTORS_OF_3(word, of)                                                                  \
    struct word##3 {                                                                                \
        of x, y, z;                                                                                 \
        CPU_COPIED(word##3)                                                                         \
    };
CPU_VECTORS_OF_3(char, signed char) CPU_VECTORS(char, signed char)
CPU_VECTORS_OF_3(uchar, unsigned char) CPU_VECTORS(uchar, unsigned char)
CPU_VECTORS_OF_3(short, short) CPU_VECTORS(short, short)
CPU_VECTORS_OF_3(ushort, unsigned short) CPU_VECTORS(ushort, unsigned short)
CPU_VECTORS_OF_3(int, int) CPU_VECTORS(int, int)
CPU_VECTORS(uint, unsigned)
CPU_VECTORS_OF_3(float, float) CPU_VECTORS(float, float)
CPU_VECTORS_OF_3(long, long) CPU_VECTORS(long, long)
CPU_VECTORS_OF_3(ulong, unsigned long) CPU_VECTORS(ulong, unsigned long)
CPU_VECTORS_OF_3(longlong, long long) CPU_VECTORS(longlong, long long)
CPU_VECTORS_OF_3(ulonglong, unsigned long long) CPU_VECTORS(ulonglong, unsigned long long)
CPU_VECTORS_OF_3(double, double) CPU_VECTORS(double, double)

// The overloads that CUDA has: of a signed and an unsigned number both are taken for unsigned.
#define CPU_LEAST_AND_MOST(result, A, B)                                                            \
    inline result min(A a, B b) { const result x = a, y = b; return x < y ? x : y; }                \
    inline result max(A a, B b) { const result x = a, y = b; return x > y ? x : y; }
#define CPU_OF_INTEGERS(of)                                                                         \
    CPU_LEAST_AND_MOST(of, of, of)                                                                  \
    CPU_LEAST_AND_MOST(unsigned of, unsigned of, unsigned of)                                       \
    CPU_LEAST_AND_MOST(unsigned of, of, unsigned of)                                                \
    CPU_LEAST_AND_MOST(unsigned of, unsigned of, of)
#define CPU_OF_REALS(result, A, B, f)                                                               \
    inline result min(A a, B b) { return fmin##f(a, b); }                                           \
    inline result max(A a, B b) { return fmax##f(a, b); }
CPU_OF_INTEGERS(int) CPU_OF_INTEGERS(long) CPU_OF_INTEGERS(long long)
CPU_OF_REALS(float, float, float, f) CPU_OF_REALS(double, double, double, )
#ifndef COUNTING
CPU_OF_REALS(double, float, double, ) CPU_OF_REALS(double, double, float, )
#endif
namespace cuda_cpu {
template <class To, class From> To bits_of(From from) {
    static_assert(sizeof(From) <= sizeof(To));
    To to{};
    std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(from));
    return to;
}
}  // namespace cuda_cpu
inline unsigned __float_as_uint(float value) { return cuda_cpu::bits_of<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return cuda_cpu::bits_of<float>(bits); }
inline float half_to_float(unsigned short bits) { return __builtin_bit_cast(_Float16, bits); }
inline unsigned short float_to_half(float value) {
    return __builtin_bit_cast(unsigned short, static_cast<_Float16>(value));
}

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace cuda_cpu {

enum Order { FORWARD, REVERSE, SHUFFLED };

// How to launch.  order says in which turn blocks, and the threads of a block, get to run.
struct Launch {
    unsigned grid_x, grid_y;
    unsigned block_x, block_y;
    size_t shared_bytes;
    int order;
    unsigned seed;  // of SHUFFLED
    unsigned cross;  // chooses the one column and row of blocks that run, with the last block; 0: all do
};

// What is declared __shared__ for one set of macros; the linker knows where that begins and ends.
struct Statics {
    char *begin, *end;
};

// Runs thread(data) in every thread.  Returns null, or what went wrong, until the next launch.
const char* launch(const Launch& how, void (*thread)(void*), void* data, Statics shared = {});

void* dynamic_shared();
void sync_block(const char* file, int line, int barrier);  // barrier: which one it is in the text
void sync_warp(unsigned mask, const char* file, int line);
// Shuffles a value, which orders no accesses; received, unless it is null, gets that of lane `from`, or,
// where that is -1, those of all 32.  Lanes that do not meet here show ones.  Returns those that do.
unsigned shuffle_values(unsigned mask, uint64_t value, uint64_t* received, int from, const char* file, int line);
void before_atomic(const void* at, size_t bytes);
void fence(bool of_block);
unsigned lane();
unsigned lanes_alive();  // of its warp: those that have not ended
// 32, one a lane, to show values in, others than at the lane's last seven calls: who shows a value need
// not wait until all have read those before.  For what the whole warp does together.
uint64_t* next_warp_slots();
extern bool is_showing;  // the lane that runs has shown a value there and not waited since
// *sum, a float, += eight halves times eight others, each the pairs in four slots.
void add_products(void* sum, const uint64_t* left, const uint64_t* right);

// Of the runtime and no thread's own: nothing for whoever watches accesses.
#define UNWATCHED __attribute__((no_sanitize("thread")))
// Where nobody watches, and calls would be most of the time that a product on tensor cores takes.
#ifdef WATCHED
#define UNWATCHED_INLINE UNWATCHED inline
#else
#define UNWATCHED_INLINE __attribute__((always_inline)) inline
#endif

// One launch of a kernel, as a thread begins: arguments[i] points to the i-th argument.  Not a tuple:
// to compile one takes longer than most kernels.
template <class... Parameters> struct KernelCall {
    void (*kernel)(Parameters...);
    void** arguments;
    UNWATCHED static void begin(void* call) { static_cast<KernelCall*>(call)->run(std::index_sequence_for<Parameters...>()); }
    template <size_t... i> UNWATCHED void run(std::index_sequence<i...>) const {
        kernel(*static_cast<Parameters*>(arguments[i])...);
    }
};

// The same as CUDA's own launch.
template <class... Parameters>
const char* launch(const Launch& how, void (*kernel)(Parameters...), void** arguments, Statics shared) {
    KernelCall<Parameters...> call{kernel, arguments};
    return launch(how, call.begin, &call, shared);
}

// Every lane of `mask` shows `value` and gets what lane `from` shows.
template <class T>
UNWATCHED T exchange(unsigned mask, T value, unsigned from, const char* file, int line) {
    uint64_t received;
    shuffle_values(mask, bits_of<uint64_t>(value), &received, int(from), file, line);
    std::memcpy(static_cast<void*>(&value), &received, sizeof(T));
    return value;
}

// What all lanes of a warp show, by lane.  They wait for each other when the first is read, once for
// all that was shown before: at most four values.
struct Shown {
    const uint64_t* slots;
    const char* file;
    int line;
    UNWATCHED_INLINE uint64_t operator[](unsigned from) const {
        if (is_showing) shuffle_values(0xffffffffu, 0, nullptr, -1, file, line);
        return slots[from];
    }
};

UNWATCHED inline Shown all_lanes(uint64_t value, int line, const char* file = __builtin_FILE()) {
    uint64_t* const slots = next_warp_slots();
    slots[lane()] = value;
    return {slots, file, line};
}

// sum += eight halves times eight others: pairs that four lanes show, from `first` and `second` on.
UNWATCHED inline void add_products(float& sum, Shown left, unsigned first, Shown right, unsigned second) {
    if (is_showing) shuffle_values(0xffffffffu, 0, nullptr, -1, left.file, left.line);
    add_products(static_cast<void*>(&sum), left.slots + first, right.slots + second);
#ifdef COUNTING
    for (int i = 0; i < 8; ++i) count(MULTIPLY_ADD);
#endif
}

inline unsigned lanes(unsigned mask = 0xffffffffu) { return mask; }
// The lanes that shuffles take from; a warp may be cut into parts of `width`.
inline unsigned lane_at(unsigned from, unsigned width = 32) { return lane() / width * width + from % width; }
inline unsigned lane_above(unsigned by, unsigned width = 32) { return lane() % width >= by ? lane() - by : lane(); }
inline unsigned lane_below(unsigned by, unsigned width = 32) { return lane() % width + by < width ? lane() + by : lane(); }
inline unsigned lane_across(unsigned bits, unsigned width = 32) {
    return (lane() ^ bits) < (lane() / width + 1) * width ? lane() ^ bits : lane();
}

}  // namespace cuda_cpu

// Dynamic shared memory that a file declares outside of all functions.
template <class T> struct SharedForAll {
    operator T*() const { return static_cast<T*>(cuda_cpu::dynamic_shared()); }
};
#define DYNAMIC_SHARED_FOR_ALL(type, name) static const SharedForAll<type> name
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(cuda_cpu::dynamic_shared())

constexpr int warpSize = 32;
#define __syncthreads() cuda_cpu::sync_block(__FILE__, __LINE__, __COUNTER__)
#define __syncwarp(...) cuda_cpu::sync_warp(cuda_cpu::lanes(__VA_ARGS__), __FILE__, __LINE__)
#define CPU_SHUFFLE(mask, value, from) cuda_cpu::exchange(mask, value, from, __FILE__, __LINE__)
#define __shfl_sync(mask, value, ...) CPU_SHUFFLE(mask, value, cuda_cpu::lane_at(__VA_ARGS__))
#define __shfl_up_sync(mask, value, ...) CPU_SHUFFLE(mask, value, cuda_cpu::lane_above(__VA_ARGS__))
#define __shfl_down_sync(mask, value, ...) CPU_SHUFFLE(mask, value, cuda_cpu::lane_below(__VA_ARGS__))
#define __shfl_xor_sync(mask, value, ...) CPU_SHUFFLE(mask, value, cuda_cpu::lane_across(__VA_ARGS__))

#include "cuda_intrinsics.h"
