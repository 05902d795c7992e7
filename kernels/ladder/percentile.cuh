// Which of a window's samples a rank takes.
// In double precision, as the reference counts.

// Places of `count` samples in order, from 0: of the two whose mean is taken, or twice the same.  They differ where
// the number of a median's samples is even, which only the border crop makes.
struct Ranks { int low, high; };
__device__ __forceinline__ Ranks ranks_of(int count) {
    if (PERCENTILE == 50.0) return {(count - 1) / 2, count / 2};
    const int at = min(static_cast<int>(count * PERCENTILE / 100.0), count - 1);
    return {at, at};
}
