/*---
title   = "Words of two"
idea    = "Weights that are whole numbers over a divisor need no floats: two sums of sixteen bits share a word, so that one addition adds two samples, and rounding half to even is one or two operations for both."
lesson  = """
Most filters that people use on bytes have weights like 1, 2, 1 over 16: whole numbers over a common divisor.  Their sums are
integers of at most 16 bits, and of these two fit a word: one AND leaves samples 0 and 2 of a word of four, sixteen bits apart, one
selection of bytes samples 1 and 3.  From then on adding, subtracting and multiplying whole words counts for both halves.  A
negative sum borrows from its neighbour, which does not matter: each sum begins with a multiple of twice the divisor, so that it is
positive again in the end, and no quotient changes its parity.  Halves are rounded to even without a comparison: a sum that began
with just less than half the divisor gets the lowest bit of its quotient added.  Sums of a box or a Gaussian of 3 x 3 are so small
that floats of sixteen bits hold them, whose additions have a pipe of their own and round by themselves.  So no answer is ever
off, and a picture takes about as long as its copy.  A thread owns sixteen bytes of a row and walks down the picture with the sums
of the last K - 1 rows in registers.  Every second warp walks up instead: neighbours then need the rows that both of them read at
the same time."""
after   = "register_tile"
weights = "words_of_two"
includes = ["wide"]
requires = [
    ["SAMPLE == 'uint8'", "Two sums of bytes fit a word here, and these samples are {SAMPLE}. Choose another implementation, such as shared."],
    ["3 <= KSIZE <= 9", "A thread keeps sums of {KSIZE - 1} rows in registers here, and has registers for sizes from 3 to 9. Choose another implementation, such as shared."],
    ["DIVISOR", "These weights are no whole numbers over a common divisor. Choose another implementation, such as tensor_dense_bytes."],
    ["DIVISOR % 2 or 256 % DIVISOR == 0", "These weights are whole numbers over {DIVISOR}, and halves are rounded to even here for odd divisors and powers of two up to 256 alone. Choose another implementation, such as tensor_dense_bytes."],
    ["DIVISOR <= 256 and SUM_BITS <= 16", "These weights are whole numbers over {DIVISOR}, whose sums take {SUM_BITS} bits, and a word holds two of 16. Choose another implementation, such as tensor_dense_bytes."],
    ["IN_ROWS or KSIZE <= 5", "These weights are no column times a row, and a thread has registers for sums of {KSIZE} rows of such. Choose another implementation, such as tensor_dense_bytes."],
]
# Measured on an H200: larger sums are the tensor cores' where they have several channels.
quick   = """KSIZE == 3 or (IN_ROWS and (KSIZE == 5 or (KSIZE == 7 and CHANNELS == 1))
    and not (WORDS_ROWS and WIDTH * CHANNELS % 16))"""
own_block = "A warp owns 512 bytes of a row and walks down the picture, with three others above one another."
chain_length = "2"  # exact but for weights that float32 has rounded, as whole_numbers says

[[passes]]
block  = ["32", "4"]
# Just less than a whole number of waves of blocks, and of a small picture a few rows a warp.
covers = ["512", """4 * (WORDS_ROWS or parts(parts(HEIGHT, 4), blocks_down(parts(WIDTH * CHANNELS, 512),
    (3 * (7 if WORDS_HALVES and CHANNELS == 3 else 6) if KSIZE == 3 and CHANNELS > 1 else 4 if KSIZE <= 5 else 3)
        * MULTIPROCESSORS, parts(HEIGHT, 32), 1)))"""]
rows_by = "4"
# A warp reads whole chunks, at its ends words beside them, and one by one what lies beyond a row that is
# not so many chunks, or that wraps: seen from the last two chunks, if the last is shorter than the halo.
loads.picture = """((HEIGHT + (KSIZE - 1) * parts(HEIGHT, parts(HEIGHT, 4 * BLOCKS_Y)))
    * (512 * BLOCKS_X + 2 * up(HALO_X, 4) * (BLOCKS_X - 1)
        + (HALO_X * (2 + (WIDTH * CHANNELS > 16 and (WIDTH * CHANNELS - 1) % 16 + 1 < HALO_X))
            if BORDER == 'WRAP' or WIDTH * CHANNELS % 16 or (BORDER == 'MIRROR' and HALO_X > 16 - CHANNELS) else 0)))"""
stores = { picture = "up(WIDTH * CHANNELS, 16) * HEIGHT" }
# On integers, two at once: as many multiply-adds as there are weights of a row and of a column.
flops = """(2 * (2 * KSIZE if IN_ROWS else KSIZE * KSIZE) * up(WIDTH * CHANNELS, 16)
    * (HEIGHT + (KSIZE - 1) * parts(HEIGHT, parts(HEIGHT, 4 * BLOCKS_Y))))"""
---*/

// What the launcher says of the weights, see packed_sums.py: WHOLE_WEIGHTS, a column and then a row if
// IS_SEPARABLE, else all of them; CENTRE; DIVISOR; START, BIAS and SATURATES of a sum; and IN_HALVES, if these are a box's
// or a Gaussian's of 3 x 3, added, divided and rounded as floats of 16 bits.  And of the picture: ROWS that a warp makes,
// if that is known, and IS_BY_SAMPLE, see below.
__device__ constexpr int whole(int n) {
    constexpr int numbers[] = {WHOLE_WEIGHTS};
    return numbers[n];
}
__device__ constexpr int whole_at(int y, int x) {
    return IS_SEPARABLE ? whole(y) * whole(KSIZE + x) : whole(y * KSIZE + x);
}
__device__ constexpr bool is_mirrored() {  // upside down, the weights are the same
    for (int n = 0; n < KSIZE * KSIZE; ++n)
        if (whole_at(n / KSIZE, n % KSIZE) != whole_at(KSIZE - 1 - n / KSIZE, n % KSIZE)) return false;
    return true;
}
__device__ constexpr bool is_column_of_ones() {
    for (int k = 0; k < KSIZE; ++k)
        if (!IS_SEPARABLE || whole(k) != 1) return false;
    return true;
}
constexpr bool MIRRORED = is_mirrored();
constexpr bool RUNS = KSIZE > 3 && is_column_of_ones();  // the row that comes is added, the one that goes taken away
__device__ constexpr bool is_row_of_ones() {
    for (int k = 0; k < KSIZE; ++k)
        if (!IS_SEPARABLE || whole(KSIZE + k) != 1) return false;
    return true;
}
__device__ constexpr bool is_row_binomial() {
    constexpr int row[] = {1, 4, 6, 4, 1};
    for (int k = 0; k < KSIZE; ++k)
        if (!IS_SEPARABLE || KSIZE != 5 || whole(KSIZE + k) != row[k % 5]) return false;
    return true;
}

constexpr bool IS_BOX = DIVISOR == 9;  // if sums are IN_HALVES; else it is a Gaussian

// Rows that a thread has sums of; those that it makes in a turn of its loop, as many, so that registers
// keep their places, or twice as many, so that none is copied; and those that it has on their way.
// Of a small picture a warp asks for all of its few rows at once, and there is no loop.
constexpr int KEPT = RUNS ? KSIZE : KSIZE - 1;
constexpr int TURN = ROWS ? ROWS + KSIZE - 1 : RUNS || KSIZE > 5 ? KEPT : 2 * KEPT;
constexpr int AHEAD = ROWS ? TURN : KSIZE <= 5 && !RUNS ? 4 : KSIZE == 9 ? 3 : KEPT;
constexpr int MIN_BLOCKS = ROWS ? 3 : KSIZE == 3 ? (IN_HALVES && CHANNELS == 3 ? 7 : 6) : KSIZE == 5 ? 4 : 3;

constexpr int WARP = 32;
constexpr int SEGMENTS = 4;                        // warps of a block, one above another
constexpr int BESIDE = (HALO_X + 3) / 4;           // words beside a thread's four
constexpr int WORDS = 4 + 2 * BESIDE;

__device__ __forceinline__ constexpr unsigned both(int value) { return value * 0x10001u; }

// The compiler may not look into a register: it would take masks and constants apart again.
__device__ __forceinline__ unsigned opaque(unsigned word) {
#ifndef CUDA_ON_CPU
    asm("" : "+r"(word));
#endif
    return word;
}

// ---- Sums. ----------------------------------------------------------------------------------------

// Floats of sixteen bits have eleven digits, and nine samples may need twelve.  So some of a window's samples count
// as what they lack to 255, taken away: x ^ 0x80FF is a float of x - 255.  Of each three neighbours that is the
// middle one or both others: of odd channels even samples, else every second pixel.
__device__ __forceinline__ constexpr unsigned turned(int word, bool is_odd) {
    if (!IN_HALVES) return 0;
    if (CHANNELS % 2) return is_odd ? 0 : 0x80FF80FFu;
    return CHANNELS == 2 ? 0x80FF0000u : word % 2 ? 0x80FF80FFu : 0;
}

// A thread's words and those beside them, as pairs of samples in sixteen bits each.
struct Pairs {
    unsigned even[WORDS], odd[WORDS];

    __device__ __forceinline__ explicit Pairs(const unsigned* words) {
        #pragma unroll
        for (int n = 0; n < WORDS; ++n) {
            even[n] = opaque((words[n] & 0x00FF00FFu) ^ turned(n, false));
            odd[n] = opaque(__byte_perm(words[n], 0, 0x4341) ^ turned(n, true));
        }
    }
    // Samples n and n + 2, counted from the thread's first; of a word, or of two.
    __device__ __forceinline__ unsigned at(int n) const {
        const int from = n + 4 * BESIDE, word = from / 4;
        const unsigned* const parts = from % 2 ? odd : even;
        return from % 4 < 2 ? parts[word] : __byte_perm(parts[word], parts[min(word + 1, WORDS - 1)], 0x5432);
    }
};

// Small sums, up to 2,047 in each half, or as `turned` down to -2,047, added as floats of 16 bits: the bits of such an
// integer are a float's of so many times the least one, and these additions have a pipe that is free.
__device__ __forceinline__ unsigned add_small(unsigned a, unsigned b) {
#ifdef CUDA_ON_CPU
    const auto half = [=](int by) {
        return float_to_half(half_to_float(a >> by & 0xFFFF) + half_to_float(b >> by & 0xFFFF));
    };
    return half(0) | half(16) << 16;
#else
    unsigned sum;
    asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
#endif
}

// By a factor, two floats as well, and rounded to nearest once.
__device__ __forceinline__ unsigned multiply_add_small(unsigned a, unsigned factor, unsigned b) {
#ifdef CUDA_ON_CPU
    const auto half = [=](int by) {
        const auto at = [=](unsigned word) { return half_to_float(word >> by & 0xFFFF); };
        return float_to_half(__fmaf_rn(at(a), at(factor), at(b)));
    };
    return half(0) | half(16) << 16;
#else
    unsigned sum;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(factor), "r"(b));
    return sum;
#endif
}

// Such sums over DIVISOR: as 32 + n / 32, whose bits end with n, so that rounding that float rounds the quotient, a
// half of sixteenths to even.  Ninths become too small by 2^-12 of themselves, 0.042 of the largest, and are 0.055
// from any tie.  `which` are the middle samples `turned`: with them three of nine, else six; of a Gaussian it is half of
// the weights either way.
__device__ __forceinline__ unsigned quotients_of(unsigned sums, unsigned which) {
    constexpr unsigned factor = both(IS_BOX ? 0x7B1C : 0x7800);  // 2^19 / DIVISOR
    const unsigned lacking = IS_BOX ? both(170) - (which & both(0x80FF)) / 0x80FF * 85 : both(127);
    return multiply_add_small(IS_BOX ? sums : add_small(sums, both(8)), factor, both(0x5000) + lacking);
}

// sum + weight(k) * values[k] for all k; equal weights and opposite ones are taken together.
template <typename Weight>
__device__ __forceinline__ unsigned weigh(unsigned sum, const unsigned (&values)[KSIZE], const Weight& weight) {
    if (weight(RADIUS)) sum += weight(RADIUS) * values[RADIUS];
    #pragma unroll
    for (int k = RADIUS - 1; k >= 0; --k) {
        const int a = weight(k), b = weight(KSIZE - 1 - k);
        const unsigned low = values[k], high = values[KSIZE - 1 - k];
        if (a == b && a) sum += a == 1 ? low + high : a * (low + high);
        if (a == -b && a) sum += b * (high - low);
        if (a != b && a != -b) sum += (a ? a * low : 0) + (b ? b * high : 0);
    }
    return sum;
}

// What the rows before have left of a pair of sums, and how the next row changes it.
template <bool FLIPPED>
struct Down {
    unsigned rows[KEPT], running;

    __device__ __forceinline__ unsigned add(const unsigned (&values)[KSIZE], unsigned start, unsigned four) {
        if constexpr (!IS_SEPARABLE) {  // rows[k]: the sum so far of the answer k rows on
            unsigned sums[KSIZE];
            #pragma unroll
            for (int k = 0; k < KSIZE; ++k)
                sums[k] = weigh(k < KSIZE - 1 ? rows[k] : start, values,
                                [=](int n) { return whole_at(FLIPPED ? k : KSIZE - 1 - k, n); });
            #pragma unroll
            for (int k = 0; k < KEPT; ++k) rows[k] = sums[k + 1];
            return sums[0];
        }
        constexpr unsigned two = both(0x4000);  // as floats
        unsigned along;
        if constexpr (IN_HALVES && !IS_BOX) along = multiply_add_small(values[1], two, add_small(values[0], values[2]));
        else if constexpr (is_row_binomial())  // by multiply-adds, for which there is a pipe of their own
            along = (values[1] + values[3]) * four + values[0] + 6 * values[2] + values[4];
        else if constexpr (is_row_of_ones() && KSIZE <= 7) {
            along = values[0];
            #pragma unroll
            for (int k = 1; k < KSIZE; ++k) along = add_small(along, values[k]);
        }
        else along = weigh(0, values, [](int n) { return whole(KSIZE + n); });
        unsigned sum;
        if constexpr (IN_HALVES) {
            sum = add_small(rows[0], along);
            sum = IS_BOX ? add_small(sum, rows[1]) : multiply_add_small(rows[1], two, sum);
        } else if constexpr (RUNS) {
            sum = running += along - rows[0];
        } else {
            unsigned column[KSIZE];
            #pragma unroll
            for (int k = 0; k < KSIZE; ++k) column[k] = k < KEPT ? rows[k] : along;
            sum = weigh(start, column, [](int n) { return whole(FLIPPED ? KSIZE - 1 - n : n); });
        }
        #pragma unroll
        for (int k = 0; k < KEPT; ++k) rows[k] = k < KEPT - 1 ? rows[k + 1] : along;
        return sum;
    }
};

// ---- Rounded half to even, divided and saturated: a pair of samples in the high bytes or the low ones. ----

constexpr bool IS_POWER = (DIVISOR & (DIVISOR - 1)) == 0;
constexpr bool ENDS_HIGH = IS_POWER && DIVISOR > 1 && !IN_HALVES;

__device__ __forceinline__ constexpr int log2_of(int power) { return power < 2 ? 0 : 1 + log2_of(power / 2); }

__device__ __forceinline__ unsigned saturated(unsigned sums, int bias, int most) {
    return __viaddmin_s16x2_relu(sums, both(-bias & 0xFFFF), both(most));
}

__device__ __forceinline__ unsigned rounded(unsigned sums) {
    if constexpr (IN_HALVES) {
        return sums;  // as `quotients_of` has made them
    } else if constexpr (DIVISOR == 1) {
        return SATURATES ? saturated(sums, BIAS, 255) : sums;
    } else if constexpr (!IS_POWER) {
        // Never a tie.  factor / 2^shift is above 1 / DIVISOR by so little that sums of 16 bits, or of 15
        // with a sign, are divided exactly; of what does not saturate only the eight lowest bits count.
        constexpr int shift = SATURATES ? 15 + log2_of(2 * DIVISOR - 1) : 24;
        constexpr unsigned factor = ((1ull << shift) + DIVISOR - 1) / DIVISOR;
        const unsigned low = (sums & 0xFFFF) * factor, high = (sums >> 16) * factor;
        if (SATURATES) return saturated((high >> shift) << 16 | low >> shift, BIAS / DIVISOR, 255);
        return __byte_perm(low, high, 0x0703);
    } else {
        constexpr int log2 = log2_of(DIVISOR);
        const unsigned odd = DIVISOR == 256 ? (sums & both(256)) >> 8 : sums >> log2 & both(1);
        unsigned even = sums + odd;
        if (SATURATES) even = saturated(even, BIAS, 256 * DIVISOR - 1);
        return even * (256 / DIVISOR);
    }
}

// A word of the answer, from the sums of its even and of its odd samples.
__device__ __forceinline__ unsigned answer_of(unsigned even, unsigned odd, unsigned centre) {
    even = rounded(even);
    odd = rounded(odd);
    if constexpr (CENTRE != 0) {
        constexpr unsigned which = ENDS_HIGH ? 0x4341 : 0x4240;
        even = saturated(both(256) + CENTRE * (centre & 0x00FF00FFu) - __byte_perm(even, 0, which), 256, 255);
        odd = saturated(both(256) + CENTRE * __byte_perm(centre, 0, 0x4341) - __byte_perm(odd, 0, which), 256, 255);
        return __byte_perm(even, odd, 0x6240);
    }
    return __byte_perm(even, odd, ENDS_HIGH ? 0x7351 : 0x6240);
}

// ---- What lies beyond a row's ends. -------------------------------------------------------------------
//
// Rows of whole chunks, as most are, find it in their first and last chunk, which a thread has: two
// selections of bytes with constants.  For other rows, to wrap, and where a mirror reaches further, these
// samples are read one by one.  Known when compiling: as a branch it costs all pictures 4 to 10 %.

// How many samples from its end into the row sample n beyond that end is found, n and it from 0; -1: it is 0.
__device__ __forceinline__ constexpr int source_of(int n) {
    if (BORDER == ZERO || BORDER == CROP) return -1;
    const int pixel = n / CHANNELS, into = BORDER == CLAMP ? 0 : BORDER == REFLECT ? pixel : pixel + 1;
    return into * CHANNELS + CHANNELS - 1 - n % CHANNELS;
}

// Four bytes of a chunk, each from where `place` says; 0 where it says -1.
template <typename Place>
__device__ __forceinline__ unsigned four_of(const unsigned* chunk, const Place& place) {
    unsigned low = 0, high = 0, which = 0, mask = 0;
    bool is_low = true, is_high = true;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int from = place(i);
        if (from < 0) continue;
        mask |= 0xFFu << 8 * i;
        which |= (from / 8 * 4 + i) << 4 * i;
        if (from < 8) low |= from << 4 * i, is_high = false;
        else high |= (from - 8) << 4 * i, is_low = false;
    }
    const unsigned picked = is_low ? __byte_perm(chunk[0], chunk[1], low)
        : is_high ? __byte_perm(chunk[2], chunk[3], high)
        : __byte_perm(__byte_perm(chunk[0], chunk[1], low), __byte_perm(chunk[2], chunk[3], high), which);
    return mask == ~0u ? picked : picked & mask;
}

// ---- Down the picture, or up. -----------------------------------------------------------------------

constexpr bool IS_ZERO = BORDER == ZERO || BORDER == CROP;

struct Strip {
    const sample* src;
    sample* dst;
    int height, samples, pitch;
    int chunk, chunks;        // of a row, the thread's
    int count, first_y, step; // rows to read, the first of them, and how far it is to the next: 1 or -1
    int stored;               // rows of the answer, or 0 for a lane that has none
    const int* beyond;        // if IS_BY_SAMPLE: where they are, left and then right
};

template <bool FLIPPED>
__device__ __forceinline__ void walk(const Strip& s) {
    const int lane = threadIdx.x, x = s.chunk * CHUNK;
    const bool is_first = s.chunk == 0, is_last = s.chunk == s.chunks - 1;
    const bool is_beside = (lane == 0 && !is_first) || (lane == WARP - 1 && !is_last);
    const int beside = lane == 0 ? -4 * BESIDE : CHUNK;  // what is beside the warp
    const sample* const at = s.src + x;
    // If the compiler knew that it is 4, it would shift and add on the pipe that has most to do.
    const unsigned start = opaque(both(START)), four = 4 + (s.height >> 31);

    // Rows on their way: a thread's four words and, at a warp's ends, those beside the warp.
    unsigned coming[AHEAD][4 + BESIDE];
    const auto load = [&](unsigned* words, int i) {
        const sample* const row = row_of(at, nearest_row(s.first_y + i * s.step, s.height), s.pitch);
        const uint4 chunk = load_chunk(row, 0);
        words[0] = chunk.x, words[1] = chunk.y, words[2] = chunk.z, words[3] = chunk.w;
        #pragma unroll
        for (int n = 0; n < BESIDE; ++n)
            words[4 + n] = is_beside ? reinterpret_cast<const unsigned*>(row + beside)[n] : 0;
    };
    #pragma unroll
    for (int i = 0; i < AHEAD; ++i) load(coming[i], min(i, s.count - 1));

    Down<FLIPPED> down[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int k = 0; k < KEPT; ++k) down[j].rows[k] = 0;
        down[j].running = start;
    }
    unsigned centres[RADIUS + 1][4];  // of the rows above the newest, for alpha or CENTRE
    sample* to = row_of(s.dst + x, s.first_y - RADIUS * s.step, s.pitch);

    #pragma unroll 1
    for (int first = 0; first < (ROWS ? 1 : s.count); first += TURN) {
        #pragma unroll
        for (int n = 0; n < TURN; ++n) {
            const int i = first + n;
            if (!ROWS && n == KEPT && i >= s.count) return;  // no half of a turn for nothing
            const unsigned* const now = coming[0];
            unsigned words[WORDS];
            #pragma unroll
            for (int k = 0; k < 4; ++k) words[BESIDE + k] = now[k];
            #pragma unroll
            for (int k = 0; k < BESIDE; ++k) {
                const unsigned left = __shfl_up_sync(~0u, now[4 - BESIDE + k], 1), right = __shfl_down_sync(~0u, now[k], 1);
                words[k] = lane == 0 ? now[4 + k] : left;
                words[BESIDE + 4 + k] = lane == WARP - 1 ? now[4 + k] : right;
            }

            const unsigned* const own = words + BESIDE;
            #pragma unroll
            for (int k = 0; k < BESIDE; ++k) {
                const unsigned left = four_of(own, [=](int byte) {
                    const int away = 4 * (BESIDE - k) - 1 - byte;
                    return away < HALO_X ? source_of(away) : -1;
                });
                const unsigned right = four_of(own, [=](int byte) {
                    const int away = 4 * k + byte, from = away < HALO_X ? source_of(away) : -1;
                    return from < 0 ? -1 : CHUNK - 1 - from;
                });
                if (!IS_BY_SAMPLE && is_first) words[k] = left;
                if (!IS_BY_SAMPLE && is_last) words[BESIDE + 4 + k] = right;
            }
            if constexpr (IS_BY_SAMPLE) {
                const int end = s.samples - x;  // of the row, seen from the thread's first sample
                const bool reaches_end = end < CHUNK + HALO_X;
                __shared__ __align__(4) uint8 windows[SEGMENTS * 3][4 * (WORDS + BESIDE)];
                uint8* const window = windows[threadIdx.y * 3 + (is_first ? 0 : is_last ? 1 : 2)];
                if (s.stored && (is_first || reaches_end) && i < s.count) {
                    const int y = nearest_row(s.first_y + i * s.step, s.height);
                    const sample* const row = row_of(s.src, y, s.pitch);
                    unsigned* const all = reinterpret_cast<unsigned*>(window);
                    #pragma unroll
                    for (int k = 0; k < WORDS; ++k) all[k] = words[k];
                    #pragma unroll 1
                    for (int side = is_first ? 0 : 1; side <= reaches_end; ++side) {
                        uint8* const put = window + 4 * BESIDE + (side ? end : -HALO_X);
                        #pragma unroll
                        for (int k = 0; k < HALO_X; ++k) {
                            const int from = s.beyond[side * HALO_X + k];
                            put[k] = IS_ZERO ? 0 : row[from];
                        }
                    }
                    #pragma unroll
                    for (int k = 0; k < WORDS; ++k) words[k] = all[k];
                }
            }

            if (IS_ZERO && border_index(s.first_y + i * s.step, s.height) == OUTSIDE)
                #pragma unroll
                for (int k = 0; k < WORDS; ++k) words[k] = 0;

            const Pairs pairs(words);
            // Into registers that are free by now; if not, those keep what they have, which costs no copy.
            if (!ROWS && i + AHEAD < s.count) load(coming[0], i + AHEAD);
            #pragma unroll
            for (int n = 0; n < 4 + BESIDE; ++n) {
                const unsigned newest = coming[0][n];
                #pragma unroll
                for (int k = 0; k < AHEAD; ++k) coming[k][n] = k < AHEAD - 1 ? coming[k + 1][n] : newest;
            }
            unsigned sums[8];
            #pragma unroll
            for (int j = 0; j < 8; ++j) {  // samples 4 (j / 2) + j % 2 and two further on
                if (HAS_ALPHA && CHANNELS == 2 && j % 2) { sums[j] = 0; continue; }
                unsigned values[KSIZE];
                #pragma unroll
                for (int k = 0; k < KSIZE; ++k) values[k] = pairs.at(j / 2 * 4 + j % 2 + (k - RADIUS) * CHANNELS);
                sums[j] = down[j].add(values, start, four);
                if constexpr (IN_HALVES) sums[j] = quotients_of(sums[j], turned(BESIDE + j / 2, j % 2));
            }
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                centres[RADIUS][k] = own[k];
                sums[k] = answer_of(sums[2 * k], sums[2 * k + 1], centres[0][k]);
            }
            const uint4 centre = make_uint4(centres[0][0], centres[0][1], centres[0][2], centres[0][3]);
            if (ROWS ? n >= KSIZE - 1 && n - (KSIZE - 1) < s.stored
                : static_cast<unsigned>(i - (KSIZE - 1)) < static_cast<unsigned>(s.stored))
                write_chunk(to, 0, keep_alpha(make_uint4(sums[0], sums[1], sums[2], sums[3]), centre));
            to = row_of(to, s.step, s.pitch);
            #pragma unroll
            for (int k = 0; k < 4 * RADIUS; ++k) centres[k / 4][k % 4] = centres[k / 4 + 1][k % 4];
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARP * SEGMENTS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    __shared__ int beyond[IS_BY_SAMPLE ? 2 * HALO_X : 1];
    const int samples = width * CHANNELS, chunks = (samples + CHUNK - 1) / CHUNK;
    if constexpr (IS_BY_SAMPLE) {
        const int n = threadIdx.y * WARP + threadIdx.x;
        if (n < 2 * HALO_X) beyond[n] = border_sample(n < HALO_X ? n - HALO_X : samples + n - HALO_X, width);
        __syncthreads();
    }
    // Lanes behind the row's end do as the last, and store nothing.
    const int warp = __shfl_sync(~0u, threadIdx.y, 0);  // so the compiler knows it to be the same in all lanes
    const int chunk = blockIdx.x * WARP + threadIdx.x, segments = gridDim.y * SEGMENTS;
    const int share = ROWS ? ROWS : (end_row - first_row + segments - 1) / segments;
    const int y0 = first_row + (blockIdx.y * SEGMENTS + warp) * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const bool is_up = warp % 2;
    const Strip strip = {src, dst, height, samples, pitch, min(chunk, chunks - 1), chunks, rows + KSIZE - 1,
                         is_up ? y0 + rows - 1 + RADIUS : y0 - RADIUS, is_up ? -1 : 1, chunk < chunks ? rows : 0,
                         beyond};
    if (MIRRORED || !is_up) walk<false>(strip);
    else if constexpr (!MIRRORED) walk<true>(strip);
}
