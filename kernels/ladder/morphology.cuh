// A morphology's two extremes, and what is made of them.

constexpr bool FIRST = KIND == CLOSING || KIND == GRADIENT || KIND == BLACK_HAT;  // true: the maximum
constexpr bool SECOND = !FIRST;
constexpr bool IS_HAT = KIND == TOP_HAT || KIND == BLACK_HAT;

// Write sample x of row y.  second: of what `first` holds; of a gradient both are of the picture.
__device__ __forceinline__ void write_made(
    const float* first, float second, const sample* src, sample* dst, int x, int y, int pitch)
{
    float made = second;
    if (!is_alpha(x)) {
        if constexpr (KIND == GRADIENT) made = row_of(first, y, pitch)[x] - second;
        if constexpr (KIND == TOP_HAT) made = row_of(src, y, pitch)[x] - second;
        if constexpr (KIND == BLACK_HAT) made = second - row_of(src, y, pitch)[x];
    }
    row_of(dst, y, pitch)[x] = to_sample(made);
}
