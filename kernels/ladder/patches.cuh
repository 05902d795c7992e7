// The words of rungs for non-local means: the mean of a KSIZE x KSIZE window's pixels, each with a weight that says how
// alike the PATCH x PATCH pixels around it and around the middle are.
// Needs means.cuh, before this file.

constexpr int PATCH_RADIUS = PATCH / 2, REACH = RADIUS + PATCH_RADIUS;
constexpr float PER_DIFFERENCE = 1.0f / (PATCH * PATCH * PLANES);

// A weight is exp2(NUMBERS[0] * d²), d² the mean of a patch's squared differences, or none where that is below 0.001.
__constant__ float NUMBERS[1];
constexpr float LOG2_CUT = -9.9657843f;
__device__ __forceinline__ float exponent_of(float squares) { return squares * (NUMBERS[0] * PER_DIFFERENCE); }
__device__ __forceinline__ float weight_of(float squares) {
    const float exponent = exponent_of(squares), weight = exp2f(exponent);
    return exponent < LOG2_CUT ? 0.0f : weight;
}
