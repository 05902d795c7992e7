// Medians of 3 x 3 out of columns of three.  Needs ranks.cuh, before this file.

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
