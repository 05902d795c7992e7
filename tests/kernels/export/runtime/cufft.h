// cuFFT for a CPU: transforms of tiles by their definition, a row and then a column at a time.
#pragma once

#include "cuda_cpu.h"

#include <cmath>
#include <complex>
#include <vector>

using cufftComplex = float2;
enum { CUFFT_SUCCESS, CUFFT_REFUSED };
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };
enum { CUFFT_C2C };
struct cufftHandle {
    int rows, columns, count;
};

inline int cufftPlanMany(cufftHandle* plan, int rank, const int* shape, const int*, int, int, const int*, int, int,
                         int, int count) {
    if (rank != 2) return CUFFT_REFUSED;
    *plan = {shape[0], shape[1], count};
    return CUFFT_SUCCESS;
}

inline void transform_line(std::complex<double>* line, int length, int stride, int sign) {
    std::vector<std::complex<double>> sums(length), roots(length);
    for (int n = 0; n < length; ++n) roots[n] = std::polar(1.0, sign * 2.0 * M_PI * n / length);
    for (int k = 0; k < length; ++k)
        for (int n = 0; n < length; ++n) sums[k] += line[n * stride] * roots[size_t(k) * n % length];
    for (int k = 0; k < length; ++k) line[k * stride] = sums[k];
}

inline int cufftExecC2C(cufftHandle plan, cufftComplex* source, cufftComplex* target, int sign) {
    const size_t size = size_t(plan.rows) * plan.columns;
    std::vector<std::complex<double>> tile(size);
    for (int n = 0; n < plan.count; ++n, source += size, target += size) {
        for (size_t i = 0; i < size; ++i) tile[i] = {source[i].x, source[i].y};
        for (int y = 0; y < plan.rows; ++y) transform_line(&tile[size_t(y) * plan.columns], plan.columns, 1, sign);
        for (int x = 0; x < plan.columns; ++x) transform_line(&tile[x], plan.rows, plan.columns, sign);
        for (size_t i = 0; i < size; ++i) target[i] = {float(tile[i].real()), float(tile[i].imag())};
    }
    return CUFFT_SUCCESS;
}
