// What a morphology makes of words of samples.  Needs windows.cuh and morphology.cuh, before this file.

// The difference; integers end at 0.
__device__ __forceinline__ unsigned less(unsigned a, unsigned b) {
    if constexpr (BYTES == 4) return __float_as_uint(__uint_as_float(a) - __uint_as_float(b));
    else if constexpr (BYTES == 1) return __vsubus4(a, b);
    else if constexpr (!IS_SAME<sample, float16>) return __vsubus2(a, b);
    else return float_to_half(half_to_float(a >> 16) - half_to_float(b >> 16)) << 16
              | float_to_half(half_to_float(a & 0xFFFF) - half_to_float(b & 0xFFFF));
}

__device__ __forceinline__ unsigned made_of(unsigned first, unsigned second, unsigned original, unsigned alpha) {
    unsigned made = second;
    if constexpr (KIND == GRADIENT) made = less(first, second);
    if constexpr (KIND == TOP_HAT) made = less(original, second);
    if constexpr (KIND == BLACK_HAT) made = less(second, original);
    return HAS_ALPHA ? (made & ~alpha) | (second & alpha) : made;
}
