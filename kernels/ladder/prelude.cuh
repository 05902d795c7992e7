// The words every rung is written in.  Prepended to a rung as text, never #included: CuPy keys its
// kernel cache on the source text alone, so an edited header would silently run a stale binary.
//
// The launcher defines the knobs; the defaults let an editor, or nvcc -include, read a rung alone.
#ifndef KSIZE
#define KSIZE 5          // the weights are KSIZE x KSIZE
#define CHANNELS 3       // samples a pixel, interleaved
#define HAS_ALPHA 0      // 1: the last channel passes through untouched
#define SAMPLE uint8     // what a sample is stored as: uint8, uint16 or float32
#define BORDER CLAMP     // what lies beyond the edge
#define BLOCK_X 32       // threads a block; x counts samples, not pixels
#define BLOCK_Y 8
#endif

#ifndef DYNAMIC_SHARED   // tests that run a rung on the CPU bring their own
#define DYNAMIC_SHARED(type, name)                                \
    extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    type* const name = reinterpret_cast<type*>(name##_bytes)
#endif

using uint8 = unsigned char;
using uint16 = unsigned short;
using float32 = float;
using sample = SAMPLE;

constexpr int RADIUS = KSIZE / 2;
constexpr int HALO_X = RADIUS * CHANNELS;  // in samples, as everything along x
constexpr int HALO_Y = RADIUS;

enum Border { ZERO, CLAMP, REFLECT, MIRROR, WRAP };
constexpr int OUTSIDE = -1;

// Where position i of an axis of `size` pixels is read from, or OUTSIDE where the sample is zero.
__device__ __forceinline__ int border_index(int i, int size) {
    if (0 <= i && i < size) return i;
    if constexpr (BORDER == ZERO) return OUTSIDE;
    if constexpr (BORDER == CLAMP) return i < 0 ? 0 : size - 1;
    const int period = BORDER == REFLECT ? 2 * size : BORDER == WRAP || size == 1 ? size : 2 * size - 2;
    i %= period;
    if (i < 0) i += period;
    if (i < size) return i;
    return BORDER == REFLECT ? 2 * size - 1 - i : period - i;
}

// The same along a row of interleaved samples: the border moves whole pixels, channels stay.
__device__ __forceinline__ int border_sample(int x, int width) {
    if (0 <= x && x < width * CHANNELS) return x;
    const int pixel = (x >= 0 ? x : x - CHANNELS + 1) / CHANNELS;  // rounded down
    const int from = border_index(pixel, width);
    return from == OUTSIDE ? OUTSIDE : from * CHANNELS + (x - pixel * CHANNELS);
}

// Row y of a picture.  64 bits: a large picture has more samples than an int can count.
template <typename T>
__device__ __forceinline__ T* row_of(T* picture, int y, int width) {
    return picture + static_cast<long long>(y) * (width * CHANNELS);
}

// Sample x of row y, wherever that may be, continued beyond the edge.
__device__ __forceinline__ float read_sample(const sample* src, int x, int y, int height, int width) {
    const int from_y = border_index(y, height);
    const int from_x = border_sample(x, width);
    if (from_x == OUTSIDE || from_y == OUTSIDE) return 0.0f;
    return static_cast<float>(row_of(src, from_y, width)[from_x]);
}

// Integers are rounded half to even and saturated; floats are kept as they are.
__device__ __forceinline__ sample to_sample(float value) {
    if constexpr (sizeof(sample) == 4) return static_cast<sample>(value);
    constexpr float largest = sizeof(sample) == 1 ? 255.0f : 65535.0f;
    return static_cast<sample>(fminf(fmaxf(rintf(value), 0.0f), largest));
}

__device__ __forceinline__ bool is_alpha(int x) {
    return HAS_ALPHA && x % CHANNELS == CHANNELS - 1;
}
