// Minima of many neighbours at once, along x and down the columns.  Needs extremes.cuh and wide.cuh, before this file.

// What is compared at once: one float32, or two narrower samples, of which a byte is the upper half of its 16 bits,
// whatever is below.
constexpr int BYTES = sizeof(sample);
constexpr int AT_ONCE = BYTES == 4 ? 1 : 2;
constexpr bool COMPARES_THREE = BYTES < 4 && !IS_SAME<sample, float16>;  // or two
constexpr int HALO_BYTES = (HALO_X * BYTES + 15) / 16 * 16;
template <int> struct compared { using type = unsigned; };
template <> struct compared<4> { using type = float; };
using word = compared<BYTES>::type;

template <bool MAX = IS_MAXIMUM> __device__ __forceinline__ unsigned best(unsigned a, unsigned b) {
    if constexpr (IS_SAME<sample, float16>) {
        unsigned found;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if constexpr (MAX) asm("max.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
        else asm("min.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
#else
        const float low = best<MAX>(half_to_float(a & 0xFFFF), half_to_float(b & 0xFFFF));
        found = float_to_half(best<MAX>(half_to_float(a >> 16), half_to_float(b >> 16))) << 16 | float_to_half(low);
#endif
        return found;
    } else {
        return MAX ? __vmaxu2(a, b) : __vminu2(a, b);
    }
}
__device__ __forceinline__ unsigned bits_of(unsigned word) { return word; }
__device__ __forceinline__ unsigned bits_of(float word) { return __float_as_uint(word); }
template <typename T = word> __device__ __forceinline__ T word_of(unsigned bits) {
    if constexpr (IS_SAME<T, float>) return __uint_as_float(bits);
    else return bits;
}
template <bool MAX = IS_MAXIMUM, typename T> __device__ __forceinline__ T best(T a, T b, T c) {
#ifndef CUDA_ON_CPU
    if constexpr (COMPARES_THREE)
        return MAX ? __vimax3_u16x2(a, b, c) : __vimin3_u16x2(a, b, c);
#endif
    return best<MAX>(best<MAX>(a, b), c);
}

// ---- Minima of K neighbours, at B places at once. -------------------------------------------------
//
// Their windows share a core.  Minima from it to the left and to the right are running minima: each place takes three
// comparisons, and the core, read once, one for each of its samples, or for each two where three are compared at once.

__device__ __forceinline__ constexpr int comparisons(int b) {  // at b places
    const int core = COMPARES_THREE ? (KSIZE - b + 1) / 2 : KSIZE - b;
    return b == 1 ? core : core + 3 * b - 4;
}
// So many of `count` places at once, which it is a multiple of, as take the fewest comparisons.
__device__ __forceinline__ constexpr int places_of(int count) {
    int found = 1;
    for (int b = 2; b <= count && b <= KSIZE; ++b)
        if (count % b == 0 && comparisons(b) * found <= comparisons(found) * b) found = b;
    return found;
}

// At B places APART, the first of which is `from`.
template <bool MAX, int B, int APART, class In, class Out>
__device__ __forceinline__ void slide(int from, const In& in, const Out& out) {
    word left[B], right;
    word& core = left[B - 1];
    core = in(from + (B - 1) * APART);
    #pragma unroll
    for (int k = B; k + 1 < KSIZE; k += 2) core = best<MAX>(core, in(from + k * APART), in(from + (k + 1) * APART));
    if constexpr ((KSIZE - B) % 2 == 1) core = best<MAX>(core, in(from + (KSIZE - 1) * APART));
    #pragma unroll
    for (int i = B - 2; i >= 0; --i) left[i] = best<MAX>(left[i + 1], in(from + i * APART));
    out(from, left[0]);
    #pragma unroll
    for (int i = 1; i < B; ++i) {
        const word next = in(from + (KSIZE + i - 1) * APART);
        right = i == 1 ? next : best<MAX>(right, next);
        out(from + i * APART, best<MAX>(left[i], right));
    }
}

// At COUNT * B places, in blocks of B * APART; along x of all channels but alpha, which is what it is.
template <bool MAX, int B, int APART, int COUNT, bool ALONG_X, class In, class Out>
__device__ __forceinline__ void slide_all(const In& in, const Out& out) {
    #pragma unroll
    for (int n = 0; n < COUNT; ++n) {
        const int from = n / APART * B * APART + n % APART;
        if (!ALONG_X || !is_alpha(n % APART)) {
            slide<MAX, B, APART>(from, in, out);
        } else {
            #pragma unroll
            for (int i = 0; i < B; ++i) out(from + i * APART, in(from + i * APART + HALO_X));
        }
    }
}

// ---- Along x: from rows of a stage to rows of minima. ---------------------------------------------

__device__ __forceinline__ unsigned chunk_word(const uint4& chunk, int i) {
    return i == 0 ? chunk.x : i == 1 ? chunk.y : i == 2 ? chunk.z : chunk.w;
}

// Sample i of two rows in one word.
__device__ __forceinline__ unsigned both(const unsigned* above, const unsigned* below, int i) {
    if constexpr (BYTES == 1) return __byte_perm(above[i / 4], below[i / 4], (4 + i % 4) << 12 | 4 << 8 | i % 4 << 4);
    return __byte_perm(above[i / 2], below[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

// PARTS of a row, each of PART samples, for which a thread takes AT_ONCE of STEP_ROWS rows; strides in bytes.
template <bool MAX, int STEP_ROWS, int PART, int PARTS, int FROM_STRIDE, int TO_STRIDE>
__device__ __forceinline__ void along_x(unsigned char* minima, const unsigned char* stage) {
    constexpr int ROWS = STEP_ROWS / AT_ONCE, A_CHUNK = 16 / BYTES, SPARE = HALO_BYTES / BYTES - HALO_X;
    constexpr int CHUNKS = (SPARE + PART + 2 * HALO_X + A_CHUNK - 1) / A_CHUNK, B = places_of(PART / CHANNELS);
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
    if (part >= PARTS) return;
    unsigned words[AT_ONCE][CHUNKS * 4];
    #pragma unroll
    for (int r = 0; r < AT_ONCE; ++r)
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const uint4 chunk =
                reinterpret_cast<const uint4*>(stage + (row + r * ROWS) * FROM_STRIDE + part * PART * BYTES)[c];
            #pragma unroll
            for (int w = 0; w < 4; ++w) words[r][4 * c + w] = chunk_word(chunk, w);
        }
    word out[PART];
    slide_all<MAX, B, CHANNELS, PART / B, true>(
        [&](int i) {
            return word_of(AT_ONCE == 1 ? words[0][SPARE + i] : both(words[0], words[AT_ONCE - 1], SPARE + i));
        },
        [&](int i, word found) { out[i] = found; });
    #pragma unroll
    for (int c = 0; c < PART / A_CHUNK; ++c) {
        unsigned found[AT_ONCE][4];
        #pragma unroll
        for (int w = 0; w < 4; ++w) {
            constexpr int A_WORD = 4 / BYTES;
            unsigned of[A_WORD];
            #pragma unroll
            for (int i = 0; i < A_WORD; ++i) of[i] = bits_of(out[A_CHUNK * c + A_WORD * w + i]);
            if constexpr (BYTES == 4) {
                found[0][w] = of[0];
            } else {
                if constexpr (BYTES == 1) {  // the upper halves, of both rows
                    of[0] = __byte_perm(of[0], of[1], 0x7351);
                    of[1] = __byte_perm(of[A_WORD - 2], of[A_WORD - 1], 0x7351);
                }
                found[0][w] = __byte_perm(of[0], of[A_WORD > 1], 0x5410);
                found[AT_ONCE - 1][w] = __byte_perm(of[0], of[A_WORD > 1], 0x7632);
            }
        }
        #pragma unroll
        for (int r = 0; r < AT_ONCE; ++r)
            reinterpret_cast<uint4*>(minima + (row + r * ROWS) * TO_STRIDE + part * PART * BYTES)[c] =
                make_uint4(found[r][0], found[r][1], found[r][2], found[r][3]);
    }
}

// ---- Down a column of 4 bytes: minima of K rows, for COUNT rows. -----------------------------------

// read(i): row i from the first of the first window on; write(i, word).
template <bool MAX, int COUNT, class Read, class Write>
__device__ __forceinline__ void down(int column, const Read& read, const Write& write) {
    constexpr int B = places_of(COUNT), PIECES = COUNT / B;
    const auto finish = [&](int i, unsigned found) {
        const unsigned alpha = alpha_bits(column);
        write(i, HAS_ALPHA ? (found & ~alpha) | (read(i + RADIUS) & alpha) : found);
    };
    if constexpr (BYTES > 1) {
        slide_all<MAX, B, 1, PIECES, false>([&](int i) { return word_of(read(i)); },
                                            [&](int i, word found) { finish(i, bits_of(found)); });
    } else {  // bytes 0 and 2, then bytes 1 and 3
        unsigned even[COUNT];
        slide_all<MAX, B, 1, PIECES, false>([&](int i) { return read(i) << 8; },
                                            [&](int i, unsigned found) { even[i] = found; });
        slide_all<MAX, B, 1, PIECES, false>(
            read, [&](int i, unsigned found) { finish(i, __byte_perm(even[i], found, 0x7351)); });
    }
}
