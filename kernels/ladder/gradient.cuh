// The words of rungs that end in a gradient.

// A square root in one instruction, off by 2^-23 of itself at most; a correctly rounded one takes ten.
__device__ __forceinline__ float root_of(float value) {
#ifdef CUDA_ON_CPU
    return sqrtf(value);
#else
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
    return root;
#endif
}

// sqrt(gx² + gy²), however large or small: sides of which the squares would leave the range of a float
// are brought near 1 first, by a power of two, which is exact.
__device__ __forceinline__ float careful_length(float gx, float gy) {
    constexpr float TWO_64 = 18446744073709551616.0f;
    const float longer = fmaxf(fabsf(gx), fabsf(gy));
    const bool is_large = longer > 1e18f, is_small = longer < 1e-10f;
    const float scale = is_large ? 1.0f / TWO_64 : is_small ? TWO_64 : 1.0f;
    const float back = is_large ? TWO_64 : is_small ? 1.0f / TWO_64 : 1.0f;
    gx *= scale;
    gy *= scale;
    return root_of(gx * gx + gy * gy) * back;
}

// The lengths of N neighbouring gradients.  Squares leave the range of a float before lengths do, which
// only lengths that stay floats can show, IS_FLOAT: in all other types such a length is more than the
// largest sample, or rounds to zero.  What vanishes beside a square of 1e-20 is no more than one rounding
// of its root.
template <int N, bool IS_FLOAT = IS_SAME<sample, float32>>
__device__ __forceinline__ void lengths_of(
    float (&lengths)[N], const float (&gx)[N], const float (&gy)[N])
{
    float largest = 0.0f;
    #pragma unroll
    for (int s = 0; s < N; ++s) {
        const float squares = gx[s] * gx[s] + gy[s] * gy[s];
        largest = fmaxf(largest, squares);
        lengths[s] = root_of(squares);
    }
    if (!IS_FLOAT || (1e-20f < largest && largest < 1e38f)) return;
    #pragma unroll
    for (int s = 0; s < N; ++s) lengths[s] = careful_length(gx[s], gy[s]);
}
