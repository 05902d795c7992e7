// Weighted means of pixels, for rungs that work out a weight for each.

constexpr int PLANES = CHANNELS - HAS_ALPHA;  // channels that are filtered

struct Mean {
    float weighted[PLANES] = {}, weights = 0.0f;

    __device__ __forceinline__ void add(float weight, const float (&pixel)[PLANES]) {
        #pragma unroll
        for (int plane = 0; plane < PLANES; ++plane) weighted[plane] += weight * pixel[plane];
        weights += weight;
    }
    // As pixel x of row y, inside the picture; alpha stays what it is in src.
    __device__ __forceinline__ void write(sample* dst, const sample* src, int x, int y, int pitch) const {
        const long long at = static_cast<long long>(y) * pitch + x * CHANNELS;
        #pragma unroll
        for (int plane = 0; plane < PLANES; ++plane) dst[at + plane] = to_sample(weighted[plane] / weights);
        if (HAS_ALPHA) dst[at + PLANES] = src[at + PLANES];
    }
};
