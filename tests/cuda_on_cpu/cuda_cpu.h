// CUDA C++ device code for g++: the words a rung may use beyond C++, for runs without a GPU.
//
// Each CUDA thread is a fiber (fibers.cpp); one block runs at a time, on one CPU thread.  What a
// rung may not use here: textures, asynchronous copies, tensor cores, inline PTX.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#ifdef COUNTING
#include "counted_float.h"
#define float counted_float
// Assigned word by word, or g++ would not say that it stores what a function returns.
#define BY_WORDS(type, ...) \
    type& operator=(const type& from) { return __VA_ARGS__, *this; }
#else
#define BY_WORDS(...)
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__  // nothing: newer standard libraries write __attribute__((__noinline__))
#define __constant__ static
#define __shared__ static  // arrays of fixed size: there is never more than one block
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define CUDA_ON_CPU  // the prelude leaves to this file what it would say in PTX

struct uint3 {
    unsigned x, y, z;
};
using dim3 = uint3;
struct alignas(8) uint2 {
    unsigned x, y;
    BY_WORDS(uint2, x = from.x, y = from.y)
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct alignas(16) uint4 {
    unsigned x, y, z, w;
    BY_WORDS(uint4, x = from.x, y = from.y, z = from.z, w = from.w)
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct alignas(16) float4 {
    float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct alignas(8) float2 {
    float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(bits));
    return value;
}
inline float half_to_float(unsigned short bits) { return __builtin_bit_cast(_Float16, bits); }
inline unsigned short float_to_half(float value) {
    return __builtin_bit_cast(unsigned short, static_cast<_Float16>(value));
}

// Four of the eight bytes of high:low, each picked by a hexadecimal digit of `which`.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which) {
    const uint64_t bytes = uint64_t(high) << 32 | low;
    unsigned picked = 0;
    for (int i = 0; i < 4; ++i) picked |= unsigned(bytes >> ((which >> 4 * i) % 8 * 8) & 0xff) << 8 * i;
    return picked;
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
};

// Runs thread(data) in every thread.  Returns null, or what went wrong, until the next launch.
const char* launch(const Launch& how, void (*thread)(void*), void* data);

void* dynamic_shared();
void sync_block(int line);
void sync_warp(unsigned mask, int line);
unsigned lane();
uint64_t* warp_slots();  // 32, one a lane, to hand values over in
// Likewise, others than at the lane's last seven calls: whoever shows a value in them need not wait
// until all have read those before.  For what the whole warp does together.
uint64_t* next_warp_slots();
extern bool is_showing;  // the lane that runs has shown a value there and not waited since

// The same as CUDA's own launch: arguments[i] points to the i-th argument of the kernel.
template <class... Parameters>
const char* launch(const Launch& how, void (*kernel)(Parameters...), void** arguments) {
    auto values = [&]<size_t... i>(std::index_sequence<i...>) {
        return std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[i])...);
    }(std::index_sequence_for<Parameters...>());
    auto call = [&] { std::apply(kernel, values); };
    return launch(how, [](void* self) { (*static_cast<decltype(call)*>(self))(); }, &call);
}

// Every lane of `mask` shows `value` and gets what lane `from` shows.
template <class T>
T exchange(unsigned mask, T value, unsigned from, int line) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    T received;
    std::memcpy(&warp_slots()[lane()], &value, sizeof(T));
    sync_warp(mask, line);
    std::memcpy(static_cast<void*>(&received), &warp_slots()[from], sizeof(T));
    sync_warp(mask, line);  // nobody shows the next value before all have read this one
    return received;
}

// What all lanes of a warp show, by lane.  They wait for each other when the first is read, once for
// all that was shown before: at most four values.
struct Shown {
    const uint64_t* slots;
    int line;
    uint64_t operator[](unsigned from) const {
        wait_for_all();
        return slots[from];
    }
    // Of the runtime and no thread's own: nothing for the race detector.
    __attribute__((no_sanitize("thread"))) void wait_for_all() const {
        if (is_showing) sync_warp(0xffffffffu, line);
    }
};

inline Shown all_lanes(uint64_t value, int line) {
    uint64_t* const slots = next_warp_slots();
    slots[lane()] = value;
    return {slots, line};
}

inline unsigned lane_below(unsigned by) { return lane() + by < 32 ? lane() + by : lane(); }

}  // namespace cuda_cpu

#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(cuda_cpu::dynamic_shared())

constexpr int warpSize = 32;
#define __syncthreads() cuda_cpu::sync_block(__LINE__)
#define __syncwarp(...) cuda_cpu::sync_warp(0xffffffffu, __LINE__)
#define __shfl_sync(mask, value, from) \
    cuda_cpu::exchange(mask, value, unsigned(from) % 32, __LINE__)
#define __shfl_down_sync(mask, value, by) \
    cuda_cpu::exchange(mask, value, cuda_cpu::lane_below(by), __LINE__)
#define __shfl_xor_sync(mask, value, bits) \
    cuda_cpu::exchange(mask, value, (cuda_cpu::lane() ^ (bits)) % 32, __LINE__)
