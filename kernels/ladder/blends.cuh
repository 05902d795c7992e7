// A step's output mixed with its input.

// No multiply-add in what follows: the CPU rounds each product as well.
__device__ __forceinline__ float mixed(float before, float after, float share) {
    return __fadd_rn(__fmul_rn(share, after), __fmul_rn(1.0f - share, before));
}

// The threshold is taken off every change; changes up to it vanish, and NaN stays NaN.
__device__ __forceinline__ float blended(float before, float after, float share, float threshold) {
    if (threshold > 0.0f) {
        const float change = after - before, rest = fabsf(change) - threshold;
        after = __fadd_rn(before, copysignf(rest < 0.0f ? 0.0f : rest, change));
    }
    return share == 1.0f ? after : mixed(before, after, share);
}

__device__ __forceinline__ float luma_of(float red, float green, float blue) {  // BT.601
    return __fadd_rn(__fadd_rn(__fmul_rn(0.299f, red), __fmul_rn(0.587f, green)), __fmul_rn(0.114f, blue));
}
