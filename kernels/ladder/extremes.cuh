// The words of rungs for minima and maxima.  Before wide.cuh, if that is needed as well.
// MAX: of a morphology, which has both.

// The better of two.  PTX says it: the compiler is told to take numbers below 2^-126 for 0, and a minimum has
// to be a sample to the bit.
template <bool MAX = IS_MAXIMUM> __device__ __forceinline__ float best(float a, float b) {
#ifdef CUDA_ON_CPU
    return MAX ? fmaxf(a, b) : fminf(a, b);
#else
    float found;
    if constexpr (MAX) asm("max.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
    else asm("min.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
    return found;
#endif
}

// What stands where the border has no sample: 0, or, if that is not to count, what nothing is worse than.
// For integers their last number, for others infinity.
template <bool MAX = IS_MAXIMUM> __device__ __forceinline__ constexpr unsigned last_bits() {
    if (IS_SAME<sample, float32>) return MAX ? 0xFF800000u : 0x7F800000u;
    if (IS_SAME<sample, float16>) return MAX ? 0xFC00u : 0x7C00u;
    return MAX ? 0 : sizeof(sample) == 1 ? 0xFFu : 0xFFFFu;
}
#define OUTSIDE_BITS (BORDER == CROP ? last_bits() : 0u)
template <bool MAX = IS_MAXIMUM> __device__ __forceinline__ float outside_value() {
    return __uint_as_float(BORDER != CROP ? 0u : MAX ? 0xFF800000u : 0x7F800000u);
}

// Sample x of row y, wherever that may be.  T: a sample, or a float of a buffer.
template <bool MAX = IS_MAXIMUM, typename T>
__device__ __forceinline__ float read_or_outside(const T* src, int x, int y, int height, int width, int pitch) {
    const int from_x = border_sample(x, width), from_y = border_index(y, height);
    if (from_x == OUTSIDE || from_y == OUTSIDE) return outside_value<MAX>();
    return static_cast<float>(row_of(src, from_y, pitch)[from_x]);
}
