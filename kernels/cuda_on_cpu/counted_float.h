// A float that counts what is computed with it.  Where COUNTING is defined cuda_cpu.h has `float` mean
// this, and counting.py wraps every literal, so that device code needs no other word.
//
// A product that is added at once is one multiply-add, as nvcc contracts it; any other is a
// multiplication.  Changes of sign, comparisons, minima, maxima and conversions count for nothing.
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

// What touches no memory but its own: nothing else is inlined where nothing is optimised.  What loads
// and stores keeps its frame, behind which stands the line that it is called in.
#define INLINED_FLOAT __attribute__((always_inline)) inline

namespace cuda_cpu {

enum Operation { MULTIPLY_ADD, MULTIPLY, ADD, OTHER };
template <class T>
concept number = std::integral<T> || std::floating_point<T> || std::same_as<T, _Float16>;
void count(Operation operation);  // in recorder.cpp: one of those, in the block that is running

}  // namespace cuda_cpu

struct counted_float;

struct counted_product {
    float value;
    INLINED_FLOAT operator counted_float() const;  // it is not added to anything
};

struct counted_float {
    float value;

    counted_float() = default;
    // Not trivial, or g++ would hand a float over to a function without saying that it reads it.
    constexpr counted_float(const counted_float& other) : value(other.value) {}
    constexpr counted_float& operator=(const counted_float& other) {
        value = other.value;
        return *this;
    }
    template <cuda_cpu::number T> INLINED_FLOAT constexpr counted_float(T from) : value(static_cast<float>(from)) {}
    template <cuda_cpu::number T> constexpr explicit operator T() const { return static_cast<T>(value); }

    constexpr counted_float operator-() const { return -value; }
    template <class T> counted_float& operator+=(T other) { return *this = *this + other; }
    template <class T> counted_float& operator-=(T other) { return *this = *this - other; }
    template <class T> counted_float& operator*=(T other) { return *this = *this * other; }
};

INLINED_FLOAT constexpr float counted(cuda_cpu::Operation operation, float value) {
    if (!std::is_constant_evaluated()) cuda_cpu::count(operation);
    return value;
}

INLINED_FLOAT counted_product::operator counted_float() const { return counted(cuda_cpu::MULTIPLY, value); }

INLINED_FLOAT counted_product operator*(counted_float a, counted_float b) { return {a.value * b.value}; }
INLINED_FLOAT constexpr counted_float operator/(counted_float a, counted_float b) { return counted(cuda_cpu::OTHER, a.value / b.value); }
INLINED_FLOAT counted_float operator+(counted_float a, counted_float b) { return counted(cuda_cpu::ADD, a.value + b.value); }
INLINED_FLOAT counted_float operator-(counted_float a, counted_float b) { return counted(cuda_cpu::ADD, a.value - b.value); }
INLINED_FLOAT counted_float operator+(counted_float a, counted_product b) { return counted(cuda_cpu::MULTIPLY_ADD, a.value + b.value); }
INLINED_FLOAT counted_float operator-(counted_float a, counted_product b) { return counted(cuda_cpu::MULTIPLY_ADD, a.value - b.value); }
INLINED_FLOAT counted_float operator+(counted_product a, counted_float b) { return counted(cuda_cpu::MULTIPLY_ADD, a.value + b.value); }
INLINED_FLOAT counted_float operator-(counted_product a, counted_float b) { return counted(cuda_cpu::MULTIPLY_ADD, a.value - b.value); }
INLINED_FLOAT counted_float operator+(counted_product a, counted_product b) { return counted_float(a) + b; }
INLINED_FLOAT counted_float operator-(counted_product a, counted_product b) { return counted_float(a) - b; }

INLINED_FLOAT bool operator<(counted_float a, counted_float b) { return a.value < b.value; }
INLINED_FLOAT bool operator>(counted_float a, counted_float b) { return a.value > b.value; }

INLINED_FLOAT counted_float fminf(counted_float a, counted_float b) { return std::fmin(a.value, b.value); }
INLINED_FLOAT counted_float fmaxf(counted_float a, counted_float b) { return std::fmax(a.value, b.value); }
INLINED_FLOAT counted_float fabsf(counted_float a) { return std::fabs(a.value); }
INLINED_FLOAT counted_float rintf(counted_float a) { return std::rint(a.value); }
INLINED_FLOAT counted_float exp2f(counted_float a) { return counted(cuda_cpu::OTHER, std::exp2(a.value)); }
INLINED_FLOAT counted_float sqrtf(counted_float a) { return counted(cuda_cpu::OTHER, std::sqrt(a.value)); }
INLINED_FLOAT counted_float expf(counted_float a) { return counted(cuda_cpu::OTHER, std::exp(a.value)); }

#undef INLINED_FLOAT
