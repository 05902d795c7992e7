// The words of rungs that merge sorted lists in registers, and stage a block's samples for that.  Needs
// ranks.cuh, before this file.

// What is compared: two samples of up to sixteen bits at once, or one.
template <bool IS_PAIR> struct Comparable { using type = int; };
template <> struct Comparable<true> { using type = Pair; };
constexpr bool IS_PAIR = sizeof(sample) <= 2;
using Word = Comparable<IS_PAIR>::type;

__device__ constexpr int smaller_of(int a, int b) { return a < b ? a : b; }
__device__ constexpr int larger_of(int a, int b) { return a > b ? a : b; }

// Minima and maxima have a pipe of their own, which limits all; multiply-adds have another.  So one exchange of
// four makes its greater word as a + b - min, by multiplications with numbers that the compiler does not know.
// Halves of a pair that overflow into each other come apart again when the minimum is taken off.
__constant__ int UNITS[2] = {1, -1};
__device__ __forceinline__ unsigned other_of(unsigned a, unsigned b, unsigned one) {
#ifdef CUDA_ON_CPU
    return a + b - one;
#else
    unsigned sum, other;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(UNITS[0]), "r"(b));
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(other) : "r"(one), "r"(UNITS[1]), "r"(sum));
    return other;
#endif
}
__device__ __forceinline__ int other_of(int a, int b, int one) {
    return static_cast<int>(other_of(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(one)));
}
__device__ __forceinline__ Pair other_of(Pair a, Pair b, Pair one) { return {other_of(a.bits, b.bits, one.bits)}; }
template <bool BY_SUM>
__device__ __forceinline__ void exchange(Word a, Word b, Word& low, Word& high) {
    low = least(a, b);
    high = BY_SUM ? other_of(a, b, low) : greatest(a, b);
}

// N words in order, each with an index that the compiler knows: registers.  What follows has no loops, and copies
// nothing, for the compiler takes long to unroll the one and to see through the other.
template <int N> struct List { Word at[N ? N : 1]; };

template <int... I> struct Numbers {};
template <typename A, typename B> struct Joined;
template <int... I, int... J> struct Joined<Numbers<I...>, Numbers<J...>> {
    using type = Numbers<I..., (static_cast<int>(sizeof...(I)) + J)...>;
};
template <int N> struct Counted {
    using type = typename Joined<typename Counted<N / 2>::type, typename Counted<N - N / 2>::type>::type;
};
template <> struct Counted<0> { using type = Numbers<>; };
template <> struct Counted<1> { using type = Numbers<0>; };

// Words 2 I + 1 and 2 I + 2 of a merged list, if they are among those that are wanted.
template <bool MIX, int I, int LOW, int HIGH, int N, int EVENS, int ODDS>
__device__ __forceinline__ void combine(List<N>& out, const List<EVENS>& even, const List<ODDS>& odd) {
    constexpr bool WANTS_LOW = LOW <= 2 * I + 1 && 2 * I + 1 < HIGH, WANTS_HIGH = LOW <= 2 * I + 2 && 2 * I + 2 < HIGH;
    if constexpr (I < ODDS && I + 1 < EVENS) {
        const Word a = odd.at[I], b = even.at[I + 1];
        if constexpr (WANTS_LOW && WANTS_HIGH) exchange<MIX && I % 4 == 0>(a, b, out.at[2 * I + 1], out.at[2 * I + 2]);
        else if constexpr (WANTS_LOW) out.at[2 * I + 1] = least(a, b);
        else if constexpr (WANTS_HIGH) out.at[2 * I + 2] = greatest(a, b);
    } else if constexpr (I < ODDS) out.at[2 * I + 1] = odd.at[I];
    else if constexpr (I + 1 < EVENS) out.at[2 * I + 1] = even.at[I + 1];
}
template <bool MIX, int FIRST, int LOW, int HIGH, int N, int EVENS, int ODDS, int... I>
__device__ __forceinline__ void combine_all(
    List<N>& out, const List<EVENS>& even, const List<ODDS>& odd, Numbers<I...>)
{
    (combine<MIX, FIRST + I, LOW, HIGH>(out, even, odd), ...);
}
template <int FROM, int STEP, int N, int M, int... I>
__device__ __forceinline__ void copy_all(List<N>& out, const List<M>& list, Numbers<I...>) {
    ((out.at[I] = list.at[FROM + I * STEP]), ...);
}
// Batcher's merge of N words of a, each STEP from the next, and M of b: their odd places are merged, and their even
// ones, and neighbours exchanged.  Only ranks LOW to HIGH - 1 are made, and what they need; the others stay unset.
template <bool MIX, int LOW, int HIGH, int N, int A, int A_STEP, int M, int B, int B_STEP,
          int ALL, int ALL_A, int ALL_B>
__device__ __forceinline__ void merge_into(List<ALL>& out, const List<ALL_A>& a, const List<ALL_B>& b) {
    static_assert(ALL == N + M, "room for all");
    if constexpr (LOW >= HIGH) return;
    else if constexpr (N == 0) copy_all<B, B_STEP>(out, b, typename Counted<M>::type());
    else if constexpr (M == 0) copy_all<A, A_STEP>(out, a, typename Counted<N>::type());
    else if constexpr (N == 1 && M == 1) {
        if constexpr (LOW == 0 && HIGH == 2) exchange<MIX>(a.at[A], b.at[B], out.at[0], out.at[1]);
        else if constexpr (LOW == 0) out.at[0] = least(a.at[A], b.at[B]);
        else out.at[1] = greatest(a.at[A], b.at[B]);
    } else {
        constexpr int FIRST = LOW == 0 ? 0 : (LOW - 1) / 2, LAST = HIGH >= 2 ? (HIGH - 2) / 2 : -1;
        constexpr int EVENS = (N + 1) / 2 + (M + 1) / 2, ODDS = N / 2 + M / 2;
        List<EVENS> even; List<ODDS> odd;
        merge_into<MIX, (LOW == 0 ? 0 : FIRST + 1), smaller_of(LAST + 2, EVENS),
                   (N + 1) / 2, A, 2 * A_STEP, (M + 1) / 2, B, 2 * B_STEP>(even, a, b);
        merge_into<MIX, FIRST, smaller_of(LAST + 1, ODDS),
                   N / 2, A + A_STEP, 2 * A_STEP, M / 2, B + B_STEP, 2 * B_STEP>(odd, a, b);
        if constexpr (LOW == 0) out.at[0] = even.at[0];
        combine_all<MIX, FIRST, LOW, HIGH>(out, even, odd, typename Counted<LAST + 1 - FIRST>::type());
    }
}
template <bool MIX, int LOW, int HIGH, int N, int M>
__device__ __forceinline__ List<N + M> merge(const List<N>& a, const List<M>& b) {
    List<N + M> out;
    merge_into<MIX, LOW, HIGH, N, 0, 1, M, 0, 1>(out, a, b);
    return out;
}
// N words from number FROM on, in order.
template <bool MIX, int N, int FROM, int ALL>
__device__ __forceinline__ List<N> sorted_part(const List<ALL>& list) {
    if constexpr (N == 1) return {{list.at[FROM]}};
    else if constexpr (N == 2) {
        List<2> out;
        exchange<MIX>(list.at[FROM], list.at[FROM + 1], out.at[0], out.at[1]);
        return out;
    } else {
        constexpr int HALF = (N + 1) / 2;
        return merge<MIX, 0, N>(sorted_part<MIX, HALF, FROM>(list), sorted_part<MIX, N - HALF, FROM + HALF>(list));
    }
}
template <bool MIX, int N>
__device__ __forceinline__ List<N> sorted(const List<N>& list) { return sorted_part<MIX, N, 0>(list); }

// The word of rank K of two lists: whichever way K + 1 words are taken from their fronts, the greatest of them is no
// less; and one way it is that word.
template <int K, int N, int M>
__device__ __forceinline__ Word ranked(const List<N>& a, const List<M>& b) {
    constexpr int FIRST = larger_of(0, K + 1 - M), LAST = smaller_of(N, K + 1);  // words of a
    Word of[LAST - FIRST + 1];
    #pragma unroll
    for (int i = FIRST; i <= LAST; ++i)
        of[i - FIRST] = i == 0 ? b.at[K < M ? K : 0] : i == K + 1 ? a.at[K < N ? K : 0]
                               : greatest(a.at[i ? i - 1 : 0], b.at[K - i >= 0 ? K - i : 0]);
    Word found = of[0];
    #pragma unroll
    for (int i = 1; i < LAST - FIRST; i += 2) found = least(found, of[i], of[i + 1]);
    if constexpr ((LAST - FIRST) % 2) found = least(found, of[LAST - FIRST]);
    return found;
}

// Of n samples that are common to some windows in order, those ranks that may still be a window's median.
constexpr int TOTAL = KSIZE * KSIZE, MIDDLE = TOTAL / 2;
__device__ constexpr int first_rank(int n) { return larger_of(0, MIDDLE - (TOTAL - n)); }
__device__ constexpr int end_rank(int n) { return smaller_of(n - 1, MIDDLE) + 1; }
__device__ constexpr int kept(int n) { return end_rank(n) - first_rank(n); }

// ---- A block's tile. -----------------------------------------------------------------------------------------
// A thread makes TILE x TILE_ROWS medians of one channel, 32 of them side by side; a block has TILES such rows of each
// channel.  Of pairs the lower samples are the block's lower half.
constexpr int TILE = 4;
#ifndef IS_LARGE  // of median_tiles 0 for pictures that such tiles leave most of the GPU without work
#define IS_LARGE 1
#endif
constexpr int TILE_ROWS = IS_LARGE ? TILE : 1;
constexpr int PLANES = CHANNELS - HAS_ALPHA;
constexpr int TILES = IS_LARGE && PLANES > 1 ? 2 : 4;
constexpr int THREADS = 32 * TILES * PLANES;
constexpr int ROWS_OUT = TILE_ROWS * TILES, ROWS_IN = ROWS_OUT + KSIZE - 1;
constexpr int LEFT = (RADIUS + 3) / 4 * 4;                   // staged columns left of the block's first
constexpr int QUADS = 32 + 2 * LEFT / 4;                     // of a staged row, four columns each
constexpr int STRIDE = 4 * QUADS;
constexpr int PLANE = ROWS_IN * STRIDE;                      // words of a channel

// Where column c of a staged row is: neighbouring threads, four columns apart, ask neighbouring banks.
__device__ __forceinline__ constexpr int place(int c) { return c % 4 * QUADS + c / 4; }

template <int BYTES> struct Unsigned { using type = unsigned; };
template <> struct Unsigned<1> { using type = uint8; };
template <> struct Unsigned<2> { using type = uint16; };

constexpr int QUAD_WORDS = CHANNELS * static_cast<int>(sizeof(sample));  // four bytes each, of four pixels
struct Quad { unsigned words[QUAD_WORDS]; };
// Not inlined: few need it, and all would pay for its registers.
template <typename T>
__device__ __noinline__ Quad edge_quad(const T* row, int x, int width) {
    Quad quad = {};
    #pragma unroll
    for (int i = 0; i < 4 * CHANNELS; ++i) {
        const int from = border_sample(x + i, width);
        if (from == OUTSIDE) continue;
        const unsigned bits = reinterpret_cast<const typename Unsigned<sizeof(T)>::type*>(row)[from];
        quad.words[i / A_WORD] |= bits << i % A_WORD * (8 * sizeof(T));
    }
    return quad;
}
// Four pixels, from sample x of row y on.
__device__ __forceinline__ Quad read_quad(const sample* src, int x, int y, int height, int width, int pitch) {
    const int from_y = border_index(y, height);
    if (from_y == OUTSIDE) return {};
    const sample* row = row_of(src, from_y, pitch);
    if (x < 0 || x + 4 * CHANNELS > width * CHANNELS) return edge_quad(row, x, width);
    Quad quad;
    constexpr int AT_ONCE = QUAD_WORDS % 4 == 0 ? 4 : QUAD_WORDS % 2 == 0 ? 2 : 1;
    #pragma unroll
    for (int i = 0; i < QUAD_WORDS; i += AT_ONCE) {
        const unsigned* from = reinterpret_cast<const unsigned*>(row + x) + i;
        if constexpr (AT_ONCE == 4) {
            const uint4 four = *reinterpret_cast<const uint4*>(from);
            quad.words[i] = four.x, quad.words[i + 1] = four.y, quad.words[i + 2] = four.z, quad.words[i + 3] = four.w;
        } else if constexpr (AT_ONCE == 2) {
            const uint2 two = *reinterpret_cast<const uint2*>(from);
            quad.words[i] = two.x, quad.words[i + 1] = two.y;
        } else quad.words[i] = *from;
    }
    return quad;
}
template <int I = 0, typename T>
__device__ __forceinline__ void stage_quad(T* to, const Quad& upper, const Quad& lower) {
    if constexpr (I < 4 * CHANNELS) {
        if constexpr (I % CHANNELS < PLANES) {
            T& word = to[I % CHANNELS * PLANE + I / CHANNELS * QUADS];
            if constexpr (IS_PAIR) word = pair_of<I % A_WORD>(upper.words[I / A_WORD], lower.words[I / A_WORD]);
            else word = turned(static_cast<int>(upper.words[I]));
        }
        stage_quad<I + 1>(to, upper, lower);
    }
}
// All channels but alpha of what the block's windows hold, x0 in pixels.  Beside the block's own columns lies what may be
// beyond a row's ends, which takes longer: it comes last, for few warps to wait for.
__device__ __forceinline__ void stage_block(
    Word* stage, const sample* __restrict__ src, int x0, int y0, int height, int width, int pitch)
{
    constexpr int OWN = 32 * ROWS_IN, SIDES = QUADS - 32,
                  COUNT = !IS_LARGE ? (ROWS_IN * QUADS + THREADS - 1) / THREADS : QUAD_WORDS <= 4 ? 2 : 1;  // at a time
    #pragma unroll 1
    for (int first = threadIdx.x; first < ROWS_IN * QUADS; first += COUNT * THREADS) {
        Quad upper[COUNT], lower[COUNT];
        Word* to[COUNT];
        #pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int n = first + i * THREADS, side = (n - OWN) % SIDES;
            if (n >= ROWS_IN * QUADS) break;
            const int row = n < OWN ? n / 32 : (n - OWN) / SIDES;
            const int quad = n < OWN ? SIDES / 2 + n % 32 : side < SIDES / 2 ? side : 32 + side;
            const int x = (x0 - LEFT + 4 * quad) * CHANNELS, y = y0 - RADIUS + row;
            to[i] = stage + row * STRIDE + quad;
            upper[i] = read_quad(src, x, y, height, width, pitch);
            lower[i] = IS_PAIR ? read_quad(src, x, y + ROWS_OUT, height, width, pitch) : upper[i];
        }
        #pragma unroll
        for (int i = 0; i < COUNT; ++i)
            if (first + i * THREADS < ROWS_IN * QUADS) stage_quad(to[i], upper[i], lower[i]);
    }
}

// Writes a thread's medians.  Of several channels all threads come here, and `stage` is overwritten: it
// serves to interleave them again.
constexpr int MADE_STRIDE = 128 * CHANNELS + A_WORD;  // samples
template <typename T>
__device__ __forceinline__ void write_block(
    const T (&made)[TILE_ROWS][TILE], Word* stage, const sample* __restrict__ src, sample* __restrict__ dst,
    int x0, int y0, int end_row, int width, int pitch)
{
    const int lane = threadIdx.x % 32, tile = threadIdx.x / 32 % TILES, plane = threadIdx.x / (32 * TILES);
    constexpr int WORDS = sizeof(sample);  // of four samples
    unsigned rows[2][TILE_ROWS][WORDS];
    #pragma unroll
    for (int row = 0; row < TILE_ROWS; ++row)
        #pragma unroll
        for (int i = 0; i < WORDS; ++i)
            if constexpr (IS_PAIR) words_of(made[row] + i * A_WORD, rows[0][row][i], rows[1][row][i]);
            else rows[0][row][i] = static_cast<unsigned>(turned(made[row][i]));

    if constexpr (CHANNELS == 1) {
        const int x = x0 + lane * TILE;
        if (x >= width) return;
        #pragma unroll
        for (int half = 0; half < 1 + IS_PAIR; ++half)
            #pragma unroll
            for (int row = 0; row < TILE_ROWS; ++row) {
                const int y = y0 + half * ROWS_OUT + tile * TILE_ROWS + row;
                const unsigned (&words)[WORDS] = rows[half][row];
                if (y >= end_row) continue;
                sample* const to = row_of(dst, y, pitch) + x;  // rows are padded
                if constexpr (WORDS == 4)
                    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
                else if constexpr (WORDS == 2) *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
                else *reinterpret_cast<unsigned*>(to) = words[0];
            }
    } else {
        __syncthreads();
        using Bits = typename Unsigned<sizeof(sample)>::type;
        Bits* const all = reinterpret_cast<Bits*>(stage);
        const auto original_at = [&](int y, int x) { return reinterpret_cast<const Bits*>(row_of(src, y, pitch))[x]; };
        #pragma unroll
        for (int half = 0; half < 1 + IS_PAIR; ++half)
            #pragma unroll
            for (int row = 0; row < TILE_ROWS; ++row)
                #pragma unroll
                for (int i = 0; i < TILE; ++i) {
                    const int y = half * ROWS_OUT + tile * TILE_ROWS + row;
                    Bits* const to = all + y * MADE_STRIDE + (lane * TILE + i) * CHANNELS;
                    to[plane] = static_cast<Bits>(rows[half][row][i / A_WORD] >> i % A_WORD * (8 * sizeof(sample)));
                    const int x = x0 + lane * TILE + i;
                    if (HAS_ALPHA && plane == 0 && x < width && y0 + y < end_row)
                        to[CHANNELS - 1] = original_at(y0 + y, x * CHANNELS + CHANNELS - 1);
                }
        __syncthreads();
        constexpr int ROW_WORDS = 128 * CHANNELS / A_WORD;
        #pragma unroll 1
        for (int n = threadIdx.x; n < (1 + IS_PAIR) * ROWS_OUT * ROW_WORDS; n += THREADS) {
            const int row = n / ROW_WORDS, x = n % ROW_WORDS * A_WORD;
            if (y0 + row < end_row && x0 * CHANNELS + x < width * CHANNELS)
                *reinterpret_cast<unsigned*>(row_of(dst, y0 + row, pitch) + x0 * CHANNELS + x)
                    = *reinterpret_cast<const unsigned*>(all + row * MADE_STRIDE + x);
        }
    }
}
