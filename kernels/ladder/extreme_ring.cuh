// The words of rungs that walk down a strip of the picture, STEP_ROWS rows at a time: minima along x go to a ring of
// rows in shared memory, minima down the columns come from there.  Needs extremes.cuh and wide.cuh, before this file.

// What is compared at once: one float32, or two narrower samples, of which a byte is the upper half of its 16 bits,
// whatever is below.
constexpr int BYTES = sizeof(sample);
template <int> struct compared { using type = unsigned; };
template <> struct compared<4> { using type = float; };
using word = compared<BYTES>::type;

__device__ __forceinline__ unsigned best(unsigned a, unsigned b) {
    if constexpr (IS_SAME<sample, float16>) {
        unsigned found;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if constexpr (IS_MAXIMUM) asm("max.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
        else asm("min.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
#else
        const float low = best(half_to_float(a & 0xFFFF), half_to_float(b & 0xFFFF));
        found = float_to_half(best(half_to_float(a >> 16), half_to_float(b >> 16))) << 16 | float_to_half(low);
#endif
        return found;
    } else {
        return IS_MAXIMUM ? __vmaxu2(a, b) : __vminu2(a, b);
    }
}
__device__ __forceinline__ unsigned bits_of(unsigned word) { return word; }
__device__ __forceinline__ unsigned bits_of(float word) { return __float_as_uint(word); }
template <typename T = word> __device__ __forceinline__ T word_of(unsigned bits) {
    if constexpr (IS_SAME<T, float>) return __uint_as_float(bits);
    else return bits;
}
template <typename T> __device__ __forceinline__ T best(T a, T b, T c) {
#ifndef CUDA_ON_CPU
    if constexpr (BYTES < 4 && !IS_SAME<sample, float16>)
        return IS_MAXIMUM ? __vimax3_u16x2(a, b, c) : __vimin3_u16x2(a, b, c);
#endif
    return best(best(a, b), c);
}

constexpr int THREADS = 256;
constexpr int STEP_ROWS = 32;
constexpr int STAGES = 2;  // steps on their way
// A row that a block makes, a part of which a thread makes along x, of two rows if a word has two samples.
constexpr int STRIP_BYTES = CHANNELS == 3 ? 768 : BYTES == 4 && KSIZE > 31 && KSIZE <= 63 ? 1024 : 512;
constexpr int STRIP = STRIP_BYTES / BYTES;
constexpr int AT_ONCE = BYTES == 4 ? 1 : 2;
constexpr int PART = STRIP * STEP_ROWS / AT_ONCE / THREADS;
constexpr int HALO_BYTES = (HALO_X * BYTES + 15) / 16 * 16;
constexpr int IN_BYTES = STRIP_BYTES + 2 * HALO_BYTES;
// From row to row 16 bytes more than lines of 128: the lanes of a warp, in different rows, meet in no bank.
constexpr int IN_STRIDE = (IN_BYTES + 111) / 128 * 128 + 16;
constexpr int RING_STRIDE = STRIP_BYTES + 16;
constexpr int SLOTS = 1 + (KSIZE - 1 + STEP_ROWS - 1) / STEP_ROWS;  // steps in the ring
constexpr int STAGE = STEP_ROWS * IN_STRIDE;                        // bytes
constexpr int COLUMNS = STRIP_BYTES / 4;                            // of 4 bytes
constexpr int GROUPS = COLUMNS * 2 <= THREADS ? 2 : 1;              // threads that share one
constexpr int GROUP_ROWS = STEP_ROWS / GROUPS;

// ---- Minima of K neighbours, at B places at once. -------------------------------------------------
//
// Their windows share a core.  Minima from it to the left and to the right are running minima: each place
// takes three comparisons, and the core, read once, one for each two of its samples.

__device__ __forceinline__ constexpr int power_within(int most) {  // of two, and not above K
    int power = 1;
    while (2 * power <= most && 2 * power <= KSIZE) power *= 2;
    return power;
}

// At B places APART, the first of which is `from`.
template <int B, int APART, class In, class Out>
__device__ __forceinline__ void slide(int from, const In& in, const Out& out) {
    word left[B], right;
    word& core = left[B - 1];
    core = in(from + (B - 1) * APART);
    #pragma unroll
    for (int k = B; k + 1 < KSIZE; k += 2) core = best(core, in(from + k * APART), in(from + (k + 1) * APART));
    if constexpr ((KSIZE - B) % 2 == 1) core = best(core, in(from + (KSIZE - 1) * APART));
    #pragma unroll
    for (int i = B - 2; i >= 0; --i) left[i] = best(left[i + 1], in(from + i * APART));
    out(from, left[0]);
    #pragma unroll
    for (int i = 1; i < B; ++i) {
        const word next = in(from + (KSIZE + i - 1) * APART);
        right = i == 1 ? next : best(right, next);
        out(from + i * APART, best(left[i], right));
    }
}

// At COUNT * B places, in blocks of B * APART; along x of all channels but alpha, which is what it is.
template <int B, int APART, int COUNT, bool ALONG_X, class In, class Out>
__device__ __forceinline__ void slide_all(const In& in, const Out& out) {
    #pragma unroll
    for (int n = 0; n < COUNT; ++n) {
        const int from = n / APART * B * APART + n % APART;
        if (!ALONG_X || !is_alpha(n % APART)) {
            slide<B, APART>(from, in, out);
        } else {
            #pragma unroll
            for (int i = 0; i < B; ++i) out(from + i * APART, in(from + i * APART + HALO_X));
        }
    }
}

// ---- Along x: from rows of a stage to rows of the ring. -------------------------------------------

__device__ __forceinline__ unsigned chunk_word(const uint4& chunk, int i) {
    return i == 0 ? chunk.x : i == 1 ? chunk.y : i == 2 ? chunk.z : chunk.w;
}

// Sample i of two rows in one word.
__device__ __forceinline__ unsigned both(const unsigned* above, const unsigned* below, int i) {
    if constexpr (BYTES == 1) return __byte_perm(above[i / 4], below[i / 4], (4 + i % 4) << 12 | 4 << 8 | i % 4 << 4);
    return __byte_perm(above[i / 2], below[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

__device__ __forceinline__ void along_x(unsigned char* ring, const unsigned char* stage) {
    constexpr int ROWS = STEP_ROWS / AT_ONCE, A_CHUNK = 16 / BYTES, SPARE = HALO_BYTES / BYTES - HALO_X;
    constexpr int CHUNKS = (SPARE + PART + 2 * HALO_X + A_CHUNK - 1) / A_CHUNK, B = power_within(PART / CHANNELS);
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
    unsigned words[AT_ONCE][CHUNKS * 4];
    #pragma unroll
    for (int r = 0; r < AT_ONCE; ++r)
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const uint4 chunk =
                reinterpret_cast<const uint4*>(stage + (row + r * ROWS) * IN_STRIDE + part * PART * BYTES)[c];
            #pragma unroll
            for (int w = 0; w < 4; ++w) words[r][4 * c + w] = chunk_word(chunk, w);
        }
    word out[PART];
    slide_all<B, CHANNELS, PART / B, true>(
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
            reinterpret_cast<uint4*>(ring + (row + r * ROWS) * RING_STRIDE + part * PART * BYTES)[c] =
                make_uint4(found[r][0], found[r][1], found[r][2], found[r][3]);
    }
}

// ---- Down the columns: from the ring to GROUP_ROWS rows of dst. -----------------------------------

// at[n]: the column in the ring's rows of n steps before; write(i, word): row i of the group.
template <int GROUP, class Write>
__device__ __forceinline__ void down_column(const unsigned char* const (&at)[SLOTS], int column, const Write& write) {
    const auto read = [&](int i) {  // row i from the first of the first window on
        const int row = i - (KSIZE - 1) + GROUP * GROUP_ROWS + SLOTS * STEP_ROWS;  // SLOTS steps added: not negative
        return *reinterpret_cast<const unsigned*>(at[SLOTS - row / STEP_ROWS] + row % STEP_ROWS * RING_STRIDE);
    };
    constexpr int B = power_within(GROUP_ROWS), COUNT = GROUP_ROWS / B;
    const auto finish = [&](int i, unsigned found) {
        const unsigned alpha = alpha_bits(column);
        write(i, HAS_ALPHA ? (found & ~alpha) | (read(i + RADIUS) & alpha) : found);
    };
    if constexpr (BYTES > 1) {
        slide_all<B, 1, COUNT, false>([&](int i) { return word_of(read(i)); },
                                      [&](int i, word found) { finish(i, bits_of(found)); });
    } else {  // bytes 0 and 2, then bytes 1 and 3
        unsigned even[GROUP_ROWS];
        slide_all<B, 1, COUNT, false>([&](int i) { return read(i) << 8; },
                                      [&](int i, unsigned found) { even[i] = found; });
        slide_all<B, 1, COUNT, false>(
            read, [&](int i, unsigned found) { finish(i, __byte_perm(even[i], found, 0x7351)); });
    }
}

// ---- The walk. -------------------------------------------------------------------------------------

// A strip of the picture, and the rows of it that a block makes.
struct Strip {
    const sample* src;
    int height, width, pitch;
    int x, y, rows;  // of dst

    __device__ __forceinline__ int first() const { return x - HALO_BYTES / BYTES; }  // sample of a row that is read
    __device__ __forceinline__ int first_row(int step) const { return y - RADIUS + step * STEP_ROWS; }
    __device__ __forceinline__ bool has(int step) const { return step * STEP_ROWS < rows + KSIZE - 1; }
    // Samples that are brought of a row, which may end in its padding.
    __device__ __forceinline__ int from() const { return max(first(), 0); }
    __device__ __forceinline__ int end() const {
        return min(first() + IN_BYTES / BYTES, (width * CHANNELS + 16 / BYTES - 1) / (16 / BYTES) * (16 / BYTES));
    }
    // The row that is brought for row r of a step: some other one where the border has none.
    __device__ __forceinline__ const sample* row(int step, int r) const {
        return row_of(src, max(border_index(first_row(step) + r, height), 0), pitch);
    }
    __device__ __forceinline__ bool is_edge(int step) const {
        const bool is_beyond = first_row(step) < 0 || first_row(step) + STEP_ROWS > height;
        return first() < 0 || first() + IN_BYTES / BYTES > width * CHANNELS
            || ((BORDER == ZERO || BORDER == CROP) && is_beyond);
    }
};

// Put what lies beyond the picture into a stage whose rows are there.  Nearly all comes from the stage itself;
// only to wrap, or where a strip is narrower than a halo, it comes from elsewhere in the picture.
__device__ __noinline__ void put_beyond(unsigned char* stage, Strip strip, int step) {
    const int first = strip.first(), samples = strip.width * CHANNELS, count = IN_BYTES / BYTES;
    const int left = max(-first, 0), right = min(max(samples - first, 0), count), edges = left + count - right;
    const int y = strip.first_row(step);
    #pragma unroll 1
    for (int n = threadIdx.x; n < STEP_ROWS * edges; n += THREADS) {
        const int r = n / edges, e = n % edges, i = e < left ? e : right + e - left;
        const int from_y = border_index(y + r, strip.height);
        if (from_y == OUTSIDE || first + i < -HALO_X || first + i >= samples + HALO_X) continue;  // below, or never
        const int from = border_sample(first + i, strip.width);
        sample* const row = reinterpret_cast<sample*>(stage + r * IN_STRIDE);
        const bool is_staged = first <= from && from < first + count;
        if (from == OUTSIDE) row[i] = to_sample(outside_value());  // infinity becomes the last integer
        else row[i] = is_staged ? row[from - first] : row_of(strip.src, from_y, strip.pitch)[from];
    }
    #pragma unroll 1
    for (int n = threadIdx.x; (BORDER == ZERO || BORDER == CROP) && n < STEP_ROWS * IN_BYTES / 16; n += THREADS) {
        const int r = n / (IN_BYTES / 16), c = n % (IN_BYTES / 16);
        if (border_index(y + r, strip.height) != OUTSIDE) continue;
        reinterpret_cast<uint4*>(stage + r * IN_STRIDE)[c] = outside_chunk();
    }
}

// rows.begin(stage, step): begin to bring a step's rows; rows.wait(step): until they are there, for all behind
// the next barrier; rows.put(): what put_beyond wrote may be overwritten.
template <class Rows>
__device__ __forceinline__ void walk(unsigned char* memory, const Strip& strip, Rows& rows, sample* __restrict__ dst) {
    unsigned char* const ring = memory + STAGES * STAGE;
    const int column = threadIdx.x % COLUMNS, group = threadIdx.x / COLUMNS;
    const int x = strip.x + column * (4 / BYTES);
    #pragma unroll 1
    for (int step = 0; step < STAGES; ++step) rows.begin(memory + step * STAGE, step);
    int slot = 0;
    #pragma unroll 1
    for (int step = 0; strip.has(step); ++step) {
        unsigned char* const stage = memory + step % STAGES * STAGE;
        rows.wait(step);
        if (strip.is_edge(step)) {
            __syncthreads();
            put_beyond(stage, strip, step);
            rows.put();
        }
        __syncthreads();  // the rows are there, and all are done with those in the slot
        along_x(ring + slot * STEP_ROWS * RING_STRIDE, stage);
        __syncthreads();
        rows.begin(stage, step + STAGES);

        // Rows of dst from `top` on, of which the first step makes none but the last few.
        const int top = step * STEP_ROWS - (KSIZE - 1) + group * GROUP_ROWS;
        if (group < GROUPS && x < strip.width * CHANNELS && top + GROUP_ROWS > 0) {
            const unsigned char* at[SLOTS];  // this step's rows, those of the step before, ...
            #pragma unroll
            for (int n = 0; n < SLOTS; ++n)
                at[n] = ring + (slot + SLOTS - n) % SLOTS * STEP_ROWS * RING_STRIDE + column * 4;
            sample* const to = row_of(dst, strip.y + top, strip.pitch) + x;
            const auto write = [&](int i, unsigned found) {
                if (top + i >= 0 && top + i < strip.rows)
                    *reinterpret_cast<unsigned*>(row_of(to, i, strip.pitch)) = found;
            };
            if (group == 0) down_column<0>(at, column, write);
            else down_column<GROUPS - 1>(at, column, write);
        }
        slot = slot + 1 < SLOTS ? slot + 1 : 0;
    }
}
