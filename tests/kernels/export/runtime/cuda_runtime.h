// CUDA's runtime for a CPU: memory is memory, a launch is over when it returns.  What a program that
// was copied from the workbench calls, and no more.
#pragma once

#include "cuda_cpu.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define __shared__ static  // there is never more than one block

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
using cudaEvent_t = std::chrono::steady_clock::time_point*;

inline const char* cudaGetErrorString(cudaError_t) { return "failed"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

// Full of NaN, so that what was never written is seen in the answer.
inline cudaError_t cudaMalloc(void** made, size_t bytes) {
    *made = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!*made) return 1;
    std::memset(*made, 0xff, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2D(
    void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes, size_t rows, cudaMemcpyKind)
{
    for (size_t y = 0; y < rows; ++y)
        std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch, bytes);
    return cudaSuccess;
}
template <typename T> cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes) {
    if (bytes != sizeof(symbol)) return 1;
    std::memcpy(&symbol, from, bytes);
    return cudaSuccess;
}

// What was allowed, by kernel: without it, 48 KiB.
inline size_t& allowed_shared(void* kernel) {
    static std::vector<std::pair<void*, size_t>> allowed;
    for (auto& [known, bytes] : allowed)
        if (known == kernel) return bytes;
    return allowed.emplace_back(kernel, 48 << 10).second;
}
template <class... P> cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute, int bytes) {
    allowed_shared(reinterpret_cast<void*>(kernel)) = bytes;
    return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = new std::chrono::steady_clock::time_point;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) {
    *event = std::chrono::steady_clock::now();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
    *ms = std::chrono::duration<float, std::milli>(*stop - *start).count();
    return cudaSuccess;
}

// What stands for kernel<<<grid, block, shared>>>(arguments...), which is not C++.
template <class... P, class... A>
void launch_on_cpu(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, const A&... arguments) {
    const char* message = "more shared memory than was asked for";
    if (shared <= allowed_shared(reinterpret_cast<void*>(kernel))) {
        auto call = [&] { kernel(arguments...); };
        const cuda_cpu::Launch how{grid.x, grid.y, block.x, block.y, shared, cuda_cpu::SHUFFLED, 1};
        message = cuda_cpu::launch(how, [](void* self) { (*static_cast<decltype(call)*>(self))(); }, &call);
    }
    if (message) std::fprintf(stderr, "%s\n", message), std::abort();
}
