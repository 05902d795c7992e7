// Medians of 3 x 3 out of columns of three, and where their rows are.  Needs ranks.cuh, before this file.

// Where a thread reads, the same in all rows: at size 3 a window reaches one pixel beyond an edge at most.
struct Places {
    int x, before, beyond;  // of its samples, of the pixels that stand for those beyond the row's ends
    int above, below;       // rows that stand for the one above the first, and below the last
    int own;                // samples from x to the row's end

    __device__ __forceinline__ Places(int x, int height, int width)
        : x(x), before(border_sample(-CHANNELS, width)), beyond(border_sample(width * CHANNELS, width)),
          above(border_index(-1, height)), below(border_index(height, height)), own(width * CHANNELS - x) {}
    // The row of the picture to be read for row y; OUTSIDE: there is none.
    __device__ __forceinline__ int row(int y, int height) const { return y < 0 ? above : y < height ? y : below; }
};

// A row of medians, of columns of which two samples are in order and a third is not.
template <typename T, int WIDE, int COLUMNS>
__device__ __forceinline__ void medians(
    T (&made)[WIDE], const T (&low)[COLUMNS], const T (&high)[COLUMNS], const T (&third)[COLUMNS])
{
    T first[COLUMNS], middle[COLUMNS], last[COLUMNS];
    #pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
        first[i] = least(low[i], third[i]), last[i] = greatest(high[i], third[i]);
        middle[i] = greatest(low[i], least(high[i], third[i]));
    }
    #pragma unroll
    for (int i = 0; i < WIDE; ++i) {
        const int a = i, b = i + CHANNELS, c = i + 2 * CHANNELS;
        const T p = greatest(first[a], first[b], first[c]), r = least(last[a], last[b], last[c]);
        // Two neighbours in order and a third: those two are the same for the sample beside this one.
        const bool is_even = i / CHANNELS % 2 == 0;
        const T one = middle[is_even ? b : a], two = middle[is_even ? c : b], three = middle[is_even ? a : c];
        const T q = greatest(least(one, two), least(greatest(one, two), three));
        made[i] = greatest(least(p, q), least(greatest(p, q), r));
    }
}
