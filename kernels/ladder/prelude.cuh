// The words every rung is written in.  Prepended to a rung as text, never #included: CuPy keys its
// kernel cache on the source text alone, so an edited header would silently run a stale binary.
//
// The launcher defines the knobs; the defaults let an editor, or nvcc -include, read a rung alone.
#ifndef KSIZE
#define KSIZE 5          // the weights, or a window, are KSIZE x KSIZE
#define CHANNELS 3       // samples a pixel, interleaved
#define HAS_ALPHA 0      // 1: the last channel passes through untouched
#define SAMPLE uint8     // what a sample is stored as: uint8, uint16, float16 or float32
#define BORDER CLAMP     // what lies beyond the edge
#define HAS_OFFSET 0     // 1: OFFSET is added to every weighted sample
#define OFFSET float(0.0f)
#define IS_DISK 0        // 1: of a window only a disk of diameter KSIZE counts
#define KIND OPENING     // of a morphology: what is made of a minimum and a maximum
#define IS_MAXIMUM 0     // 1: the greatest sample is wanted, 0: the least
#define PERCENTILE 50.0  // of a rank: of n samples number n * PERCENTILE / 100 in order, at most n - 1
#define PATCH 7          // of non-local means: patches are PATCH x PATCH
#define BLOCK_X 32       // threads a block; x counts samples, not pixels
#define BLOCK_Y 8
#endif

#ifndef DYNAMIC_SHARED   // tests that run a rung on the CPU bring their own
#define DYNAMIC_SHARED(type, name)                                \
    extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    type* const name = reinterpret_cast<type*>(name##_bytes)
#endif

#ifndef CUDA_ON_CPU
__device__ __forceinline__ float half_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
__device__ __forceinline__ unsigned short float_to_half(float value) {  // to nearest, ties to even
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#endif

struct float16 {  // half precision: stored so, and never computed with
    unsigned short bits;
    __device__ __forceinline__ operator float() const { return half_to_float(bits); }
};
using uint8 = unsigned char;
using uint16 = unsigned short;
using float32 = float;
using sample = SAMPLE;

template <typename A, typename B> constexpr bool IS_SAME = false;
template <typename A> constexpr bool IS_SAME<A, A> = true;

constexpr int RADIUS = KSIZE / 2;
constexpr int HALO_X = RADIUS * CHANNELS;  // in samples, as everything along x
constexpr int HALO_Y = RADIUS;

enum Border { ZERO, CLAMP, REFLECT, MIRROR, WRAP, CROP };
constexpr int OUTSIDE = -1;
enum Kind { OPENING, CLOSING, GRADIENT, TOP_HAT, BLACK_HAT };

// Where position i of an axis of `size` pixels is read from, or OUTSIDE where the sample is zero, or none.
__device__ __forceinline__ int border_index(int i, int size) {
    if (0 <= i && i < size) return i;
    if constexpr (BORDER == ZERO || BORDER == CROP) return OUTSIDE;
    if constexpr (BORDER == CLAMP) return i < 0 ? 0 : size - 1;
    const int period = BORDER == REFLECT ? 2 * size : BORDER == WRAP || size == 1 ? size : 2 * size - 2;
    i %= period;
    if (i < 0) i += period;
    if (i < size) return i;
    return BORDER == REFLECT ? 2 * size - 1 - i : period - i;
}

// The row to bring for row i: where the border has none the nearest, of which nothing is used.  Not the
// picture's first: of a strip of a list's rows that need not be there.
__device__ __forceinline__ int nearest_row(int i, int height) {
    if constexpr (BORDER == ZERO || BORDER == CLAMP || BORDER == CROP) return min(max(i, 0), height - 1);
    return border_index(i, height);
}

// The same along a row of interleaved samples: the border moves whole pixels, channels stay.
__device__ __forceinline__ int border_sample(int x, int width) {
    if (0 <= x && x < width * CHANNELS) return x;
    const int pixel = (x >= 0 ? x : x - CHANNELS + 1) / CHANNELS;  // rounded down
    const int from = border_index(pixel, width);
    return from == OUTSIDE ? OUTSIDE : from * CHANNELS + (x - pixel * CHANNELS);
}

// Row y of a picture.  Rows begin at multiples of 128 bytes, so from one to the next it is `pitch`
// samples, not width * CHANNELS.  64 bits: a large picture has more samples than an int can count.
template <typename T>
__device__ __forceinline__ T* row_of(T* picture, int y, int pitch) {
    return picture + static_cast<long long>(y) * pitch;
}

// Sample x of a row, continued beyond its ends.  T: a sample, or a float of a buffer.
template <typename T>
__device__ __forceinline__ float read_along(const T* row, int x, int width) {
    const int from = border_sample(x, width);
    return from == OUTSIDE ? 0.0f : static_cast<float>(row[from]);
}

// Sample x of row y, wherever that may be, continued beyond the edges.
template <typename T>
__device__ __forceinline__ float read_sample(const T* src, int x, int y, int height, int width, int pitch) {
    const int from = border_index(y, height);
    return from == OUTSIDE ? 0.0f : read_along(row_of(src, from, pitch), x, width);
}

// Integers are rounded half to even and saturated; float16 is rounded half to even; float32 is kept.
template <typename T>
__device__ __forceinline__ T rounded_to(float value) {
    if constexpr (IS_SAME<T, float32>) return value;
    else if constexpr (IS_SAME<T, float16>) return float16{float_to_half(value)};
    else {
        constexpr float largest = sizeof(T) == 1 ? 255.0f : 65535.0f;
        return static_cast<T>(fminf(fmaxf(rintf(value), 0.0f), largest));
    }
}
__device__ __forceinline__ sample to_sample(float value) { return rounded_to<sample>(value); }

// A sample's sum begins with the offset; so do so many of them at once.
template <int COUNT>
__device__ __forceinline__ void begin_with_offset(float* sums) {
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) sums[i] = OFFSET;
}

// The same for sums that begin with nothing.  Where there is no offset nothing is done: adding zero
// would still turn -0 into 0, and so cost an instruction.
__device__ __forceinline__ float with_offset(float sum) { return HAS_OFFSET ? sum + OFFSET : sum; }

__device__ __forceinline__ bool is_alpha(int x) {
    return HAS_ALPHA && x % CHANNELS == CHANNELS - 1;
}
