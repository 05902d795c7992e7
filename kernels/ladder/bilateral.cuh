// The words of rungs for bilateral filters: means of pixels by how near and how alike they are.
// Needs means.cuh, before this file.

__constant__ float NUMBERS[2];  // a weight is exp2(NUMBERS[0] (dx² + dy²) - (NUMBERS[1] c)²)

// A colour that is unlike all others, though finite: its weight is 0.
constexpr float FAR = 3e38f;
struct Colour { float of[PLANES]; };

__device__ __forceinline__ constexpr bool in_disk(int x, int y) { return x * x + y * y <= RADIUS * RADIUS; }

// Of pixel x of row y, wherever that may be; FAR where none counts.
__device__ __forceinline__ Colour read_colour(const sample* src, int x, int y, int height, int width, int pitch) {
    const int from_x = border_index(x, width), from_y = border_index(y, height);
    const bool is_there = from_x != OUTSIDE && from_y != OUTSIDE;
    Colour colour;
    #pragma unroll
    for (int i = 0; i < PLANES; ++i)
        colour.of[i] = is_there ? static_cast<float>(row_of(src, from_y, pitch)[from_x * CHANNELS + i])
                                : BORDER == CROP ? FAR : 0.0f;
    return colour;
}

// c: the sum over channels of absolute differences.
__device__ __forceinline__ float difference(const Colour& a, const Colour& b) {
    float sum = fabsf(a.of[0] - b.of[0]);
    #pragma unroll
    for (int i = 1; i < PLANES; ++i) sum += fabsf(a.of[i] - b.of[i]);
    return sum;
}

// Two is raised to minus its square.
__device__ __forceinline__ float steep(float c) { return NUMBERS[1] * c; }
