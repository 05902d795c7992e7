// The words of rungs for the guided filter: the mean of windows' factors a and b makes a * sample + b.
__constant__ float NUMBERS[1];  // ε, that a variance is held against

// What samples are summed up as, and what holds the square of such a sum: next to nothing may be lost where two large numbers
// are nearly the same.  Of sixteen bits 127 x 127 squares need 46, and float32's have 48.
template <typename T> struct TotalOf { using type = double; using wide = double; };
template <> struct TotalOf<uint8> { using type = unsigned; using wide = unsigned long long; };
template <> struct TotalOf<uint16> { using type = unsigned long long; using wide = unsigned long long; };
using total = TotalOf<sample>::type;

// Of samples their sum and that of their squares; of windows the sums of a and b.
template <typename T>
struct __align__(2 * sizeof(T)) Two {
    T first, second;
    __device__ __forceinline__ void operator+=(const Two& other) { first += other.first, second += other.second; }
    __device__ __forceinline__ void operator-=(const Two& other) { first -= other.first, second -= other.second; }
};

// A sample and its square, or nothing where the border has none; and what there is of a and b.
template <typename S>
__device__ __forceinline__ Two<total> read_two(const S* src, int x, int y, int pitch) {
    if (x == OUTSIDE || y == OUTSIDE) return {};
    total value;
    if constexpr (IS_SAME<S, float16>) value = static_cast<total>(static_cast<float>(row_of(src, y, pitch)[x]));
    else value = static_cast<total>(row_of(src, y, pitch)[x]);
    return {value, value * value};
}
__device__ __forceinline__ Two<float> read_two(const Two<float>* factors, int x, int y, int pitch) {
    return x == OUTSIDE || y == OUTSIDE ? Two<float>{} : row_of(factors, y, pitch)[x];
}

// How many pixels count of a window around sample x of row y: with crop only those inside.
__device__ __forceinline__ int count_at(int x, int y, int height, int width) {
    const auto along = [](int i, int size) { return min(i + RADIUS, size - 1) - max(i - RADIUS, 0) + 1; };
    return BORDER != CROP ? KSIZE * KSIZE : along(x / CHANNELS, width) * along(y, height);
}
// a and b of a window; a variance of floats may be infinite, or by its rounding below 0.
__device__ __forceinline__ Two<float> factors_of(const Two<total>& sums, int count) {
    const TotalOf<sample>::wide sum = sums.first, squares = sums.second;
    const float apart = static_cast<float>(squares * count - sum * sum);
    const float variance = fminf(fmaxf(apart / (static_cast<float>(count) * count), 0.0f), 1e37f);
    const float share = 1.0f / (variance + NUMBERS[0]);
    return {variance * share, NUMBERS[0] * share * (static_cast<float>(sum) / count)};
}
__device__ __forceinline__ sample drawn(const Two<float>& sums, int count, const sample& value, int x) {
    return is_alpha(x) ? value : to_sample((sums.first * static_cast<float>(value) + sums.second) / count);
}
