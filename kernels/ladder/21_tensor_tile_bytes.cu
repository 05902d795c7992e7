/*---
title   = "Tensor cores, tiles of bytes"
idea    = "Bytes stay bytes until they are summed, along x as integers and without unpacking anything: a word of a row is, as it was loaded, what a lane holds of a matrix. A second product sums those sums down the columns, eight rows at a time."
lesson  = """
A filter that makes floats of bytes first spends more instructions on unpacking, moving and packing them than on its sums.
Here the word of four bytes that a lane loads is what tensor cores want of that lane.  With several channels side by side most of
the matrix of weights is zero, and where two of every four numbers always are, tensor cores can leave them out and multiply twice
as many samples in one instruction.  Down the columns it is as in tensor_separable: what a lane holds of the sums along x is, lane
by lane, what the next product wants of it, here as the left matrix; only, it wants numbers of half precision, which hold eleven
bits.  The sums along x are integers, bytes times 8-bit digits of the weights, and exact; of their 27 bits the highest eleven
are, as the bits of a half, that many times the smallest number that a half holds, and so are the eight bits after these.  One selection of bytes takes either from two
sums.  So the second product is made of three: high bits with the weights' halves and with what rounding to these lost, and low bits.
Sums of eight rows stay in registers, as many as a column of weights covers.  They stay where they are while the warp walks down, and
the weights go round instead: so there is one copy of the second product for each place of the newest sums, and the compiler knows
every register's number."""
after   = "tensor_separable"
weights = "digit_bands"
includes = ["wide", "async", "tensor", "digits"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as tile_separable."],
    ["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."],
    ["KSIZE <= 127", "A thread keeps the sums of all rows that {KSIZE} weights cover in registers here, and has registers for 127. Choose another implementation, such as tensor_separable."],
]
capability = [8, 0]
own_block = "A block owns 256 samples of a row, each warp 32 or 64 of them, and walks down the picture."
# KSIZE additions along x, which are exact, may lose as much by what is left out of their weights and of themselves:
# see `may_lose` of digit_bands.py.  KSIZE down the columns; two halves of a weight lose up to 4 of 2^-24, low bits 4.
chain_length = "2 * KSIZE + 24"
error_factor = 2.0              # tensor cores cut sums off, they do not round them

[[passes]]
block  = ["32", "4 if KSIZE <= 63 else 8"]
# So many blocks a multiprocessor as MIN_BLOCKS below has for sm_90.  Others hold fewer, and some blocks wait there.
covers = ["256", """8 * -(-((HEIGHT + 7) // 8) // blocks_down(-(-WIDTH * CHANNELS // 256),
    MULTIPROCESSORS * (4 if KSIZE <= (9 if ROW_DIGITS == 3 else 15) else 3 if KSIZE <= 31 else 2 if KSIZE <= 63 else 1),
    (HEIGHT + 7) // 8, 1 + (KSIZE + 6) // 8))"""]
rows_by = "8"
# Answers, the weights as lanes hold them, what lies beyond a row's ends, and the ring.
shared_bytes = """(2048 + -(-(1 + (HALO_X + 7) // 8) // (4 if CHANNELS > 1 else 2)) * (512 * ROW_DIGITS + 128)
    + 768 * (1 + (KSIZE + 6) // 8) + 16 * ((2 * HALO_X + 3) // 4)
    + 64 * 32 * ((17 + ((1 + (HALO_X + 7) // 8) // 2 + 1) // 2 * 2 + (1 + (HALO_X + 7) // 8) // 2) // 2 // 2 * 2 + 1))"""
# A block copies its rows with whole chunks beside its own, an even number on the left; what wraps
# around is read sample by sample, for eight rows at a time; so is alpha again, by the chunk.
loads.picture = """((up(WIDTH * CHANNELS, 16) + (BLOCKS_X > 1) * (
            16 * (up((1 + (HALO_X + 7) // 8) // 2, 2) + (1 + (HALO_X + 7) // 8) // 2) * (BLOCKS_X - 1)
            - max(0, 16 * ((1 + (HALO_X + 7) // 8) // 2) + 256 * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, 16))))
        * (HEIGHT + (KSIZE - 1) * segments(8))
    + (2 * HALO_X * (up(HEIGHT, 8) + up(KSIZE - 1, 8) * segments(8)) if BORDER == 'WRAP' and BLOCKS_X > 1 else 0)
    + HAS_ALPHA * up(WIDTH * CHANNELS, 16) * HEIGHT)"""
loads.weights = """((parts(1 + (HALO_X + 7) // 8, 4 if CHANNELS > 1 else 2) * (128 * ROW_DIGITS + 32 * (CHANNELS > 1))
    + 192 * (1 + (KSIZE + 6) // 8) + 96 * (4 if KSIZE <= 63 else 8)) * BLOCKS_X * segments(8))"""
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
# Products on the tensor cores, for tiles of 16 × 8 samples, warp by warp: along x with each digit of the weights,
# and three down the columns.  Then a multiply-add for each sum.
flops = """(2 * 1024 * parts(WIDTH * CHANNELS, 64 if KSIZE <= 63 else 32) * (4 if KSIZE <= 63 else 2) * (
    2 * ROW_DIGITS * parts(1 + (HALO_X + 7) // 8, 2 if CHANNELS > 1 else 1)
        * (up(HEIGHT, 8) // 8 + (KSIZE + 6) // 8 * segments(8))
    + 3 * (1 + (KSIZE + 6) // 8) * up(HEIGHT, 8) // 8)
    + 2 * up(WIDTH * CHANNELS, 64 if KSIZE <= 63 else 32) * up(HEIGHT, 8))"""
---*/

// A lane that reads a word of four bytes has, to the byte, what a product of matrices wants of it, if
// column g of its right matrix is a block of 16 samples: lane 4 g + t reads word t of block g.  The left
// matrix has the weights, a band as in tensor.cuh: row m is for one of the 16 sums of every block.  What
// these sums need from beyond their blocks are words that lie a multiple of 16 samples further left or
// right: of SPAN blocks, of which the last is half one on the right, half one on the left, if their number
// is even.
constexpr int SPAN = 1 + (HALO_X + 7) / 8;
constexpr int SIDE = (SPAN - 1) / 2;               // whole blocks on either side
constexpr int BESIDE = SPAN / 2;                   // and with the half one
constexpr int STRIP = 256;                         // samples of a row: a block's,
constexpr int TILES = KSIZE <= 63 ? 4 : 2;         // of 16 x 8 sums, side by side, a warp's
constexpr int WARPS = STRIP / (16 * TILES);
constexpr int THREADS = WARP * WARPS;
constexpr int GROUPS = 1 + (KSIZE + 6) / 8;        // of 8 rows: so many matter to 8 rows of the answer
// Products along x, for each digit: of so many blocks of samples, and of how many the last is.
constexpr int BLOCKS_A_STEP = SPARSE_DIGITS ? 4 : 2;
constexpr int STEPS_ALONG = (SPAN + BLOCKS_A_STEP - 1) / BLOCKS_A_STEP;
constexpr int LAST_BLOCKS = (SPAN - 1) % BLOCKS_A_STEP < BLOCKS_A_STEP / 2 ? BLOCKS_A_STEP / 2 : BLOCKS_A_STEP;
constexpr bool HOLDS_WEIGHTS = STEPS_ALONG == 1;  // along x, a lane, in registers
// A product wants words in neighbouring registers, so that tiles side by side need the same word in several.
// Where a tile has three, they are read for each alone; where it has more, copying takes less than reading.
constexpr bool READS_BY_TILE = SPARSE_DIGITS && SPAN == 3;
constexpr int RING = 8;                            // groups in shared memory, on their way but those of a step
// Where two groups are all that matter, barriers stand between twice as many.  There, and where registers are left
// for it, the loop is written out for each place of the newest sums: so many turns.
constexpr int STEP_GROUPS = GROUPS == 2 && !SIGNED ? 2 : 1;
constexpr int TURNS = STEP_GROUPS == 2 || (KSIZE > 15 && KSIZE <= 31 && !SIGNED && !HAS_ALPHA) ? GROUPS : 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
constexpr int MIN_BLOCKS = KSIZE <= 9 ? 3 : KSIZE <= 63 ? 2 : 1;  // more of them would spill registers
#else
constexpr int MIN_BLOCKS = KSIZE <= (DIGITS == 3 ? 9 : 15) ? 4 : KSIZE <= 31 ? 3 : KSIZE <= 63 ? 2 : 1;
#endif

// ---- Rows in shared memory. ----------------------------------------------------------------------
//
// A row has LEAD chunks before the strip's.  An asynchronous copy fetches 32 bytes at a time: so those
// stay together here.  Eight rows of a block, 8 x 16 bytes, are read at once: an odd number of 32 bytes
// from row to row, and chunks that change places in every second four rows, put them into different banks.
constexpr int LEAD = (BESIDE + 1) / 2 * 2;
constexpr int STAGED = LEAD + STRIP / CHUNK + BESIDE;     // chunks
constexpr int ROW_CHUNKS = 2 * ((STAGED + 1) / 2 | 1), GROUP_CHUNKS = 8 * ROW_CHUNKS;

// Four blocks a multiprocessor with three groups of sums have no register left for a lane's number.
constexpr bool KEEPS_LANE = KSIZE <= 9 || KSIZE > 15;

// A thread's number, which stays in a register; else it is read anew for each group, and all that follows from it.
__device__ __forceinline__ int kept(int number) {
#ifndef CUDA_ON_CPU
    asm volatile("" : "+r"(number));
#endif
    return number;
}

__device__ __forceinline__ int place_of(int row, int chunk) { return row * ROW_CHUNKS + (chunk ^ (row >> 2 & 1)); }

// Where a lane begins to read of a group's rows: from a chunk on, for words t of row g as lane 4 g + t.  Chunks an
// even number further lie as many chunks further.
struct Place {
    int chunk, in_group;
    __device__ __forceinline__ Place(int chunk, int lane) : chunk(chunk), in_group(place_of(lane % 8, chunk + lane / 8)) {}
};

// Such words of neighbouring blocks.  group: eight rows.
template <int COUNT>
__device__ __forceinline__ void read_words(unsigned (&words)[COUNT], const uint4* group, const Place& place, int lane) {
    static_assert(COUNT % 2 == 0, "products take an even number");
#ifndef CUDA_ON_CPU
    const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(group + place.in_group));
    #pragma unroll
    for (int i = 0; i + 4 <= COUNT; i += 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
            : "=r"(words[i]), "=r"(words[i + 1]), "=r"(words[i + 2]), "=r"(words[i + 3]) : "r"(from + 16 * i) : "memory");
    constexpr int done = COUNT / 4 * 4;
    if constexpr (COUNT % 4 >= 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
            : "=r"(words[done]), "=r"(words[done + 1]) : "r"(from + 16 * done) : "memory");
#else
    for (int i = 0; i < COUNT; ++i)
        words[i] = reinterpret_cast<const unsigned*>(group + place_of(lane / 4, place.chunk + i))[lane % 4];
#endif
}

// What lies beyond the ends of a row is put together there, where it comes from, too; only to wrap it
// comes from the other end of the picture.  Where each sample comes from is the same in all rows: that
// is found out once, and kept.
struct Beyond {
    const sample* src;
    int height, width, pitch;
    int left;           // where the block's strip begins
    unsigned* sources;  // [2 HALO_X], on the left and on the right: where in a row it goes, and where it is from

    static constexpr unsigned ZERO = 0xFFFE, FAR_AWAY = 0xFFFF;

    // How many of both a block needs, and the first of them.
    __device__ __forceinline__ int end() const {
        return HALO_X + max(0, min(HALO_X, left + STRIP + HALO_X - width * CHANNELS));
    }
    __device__ __forceinline__ int begin() const { return left == 0 ? 0 : HALO_X; }

    __device__ __forceinline__ void find() const {
        #pragma unroll 1
        for (int n = begin() + threadIdx.y * WARP + threadIdx.x; n < end(); n += THREADS) {
            const int x = n - HALO_X + (n < HALO_X ? 0 : width * CHANNELS), from = border_sample(x, width);
            const int at = place_in_row(from);
            sources[n] = place_in_row(x)
                | (from == OUTSIDE ? ZERO : 0 <= at && at < STAGED * CHUNK ? at : FAR_AWAY) << 16;
        }
    }

    // In a group's rows, by all threads; they are `top` and so on in the picture.
    __device__ __forceinline__ void put(uint4* group, int top) const {
        constexpr int BESIDE_ONE_ANOTHER = THREADS / 8;
        const int thread = threadIdx.y * WARP + threadIdx.x, row = thread / BESIDE_ONE_ANOTHER;
        uint8* const samples = reinterpret_cast<uint8*>(group + row * ROW_CHUNKS);
        const unsigned other = place_of(row, 0) % 2 * CHUNK;  // chunks that change places
        const int first = begin() + thread % BESIDE_ONE_ANOTHER;
        constexpr int TIMES = (HALO_X + BESIDE_ONE_ANOTHER) / BESIDE_ONE_ANOTHER, AT_ONCE = TIMES < 4 ? TIMES : 4;
        #pragma unroll 1
        for (int n = first; n < end(); n += AT_ONCE * BESIDE_ONE_ANOTHER) {
            unsigned places[AT_ONCE];  // all are read before the first is waited for, and so are samples
            uint8 values[AT_ONCE];
            #pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) places[i] = sources[min(n + i * BESIDE_ONE_ANOTHER, end() - 1)];
            #pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const unsigned from = places[i] >> 16;
                values[i] = from < ZERO ? samples[from ^ other] : 0;
            }
            #pragma unroll
            for (int i = 0; i < AT_ONCE; ++i)
                if (n + i * BESIDE_ONE_ANOTHER < end()) samples[(places[i] & 0xFFFF) ^ other] = values[i];
        }
        if constexpr (BORDER == WRAP)
            #pragma unroll 1
            for (int n = first; n < end(); n += BESIDE_ONE_ANOTHER) {
                const unsigned place = sources[n];
                if (place >> 16 == FAR_AWAY) samples[place & 0xFFFF ^ other] = far_away(place & 0xFFFF, top + row);
            }
    }

private:
    __device__ __forceinline__ int place_in_row(int x) const { return x - left + LEAD * CHUNK; }
    __device__ __forceinline__ uint8 far_away(int place, int y) const {
        const int from = border_sample(place + left - LEAD * CHUNK, width), from_y = border_index(y, height);
        return from_y == OUTSIDE ? 0 : row_of(src, from_y, pitch)[from];
    }
};

// ---- Sums down the columns. ----------------------------------------------------------------------

// Sums along x of eight rows of a tile's 16 columns, of 27 bits, as halves for the 11 highest and the 8
// after these: a lane's pairs of columns 2 g and 2 g + 1 in rows 2 t and 2 t + 1.  An integer below 2048
// is, as the bits of a half, that many times the smallest number that a half holds.
struct Sums {
    unsigned high[2], rest[2];
};

__device__ __forceinline__ Sums split(const int (&along)[4]) {
    Sums made;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
        made.high[i] = __byte_perm(along[2 * i], along[2 * i + 1], 0x7632);
#ifndef CUDA_ON_CPU
        // Bytes 1 of both; between them the sign of the last, which is 0.
        asm("prmt.b32 %0, %1, %2, 0xF5B1;" : "=r"(made.rest[i]) : "r"(along[2 * i]), "r"(along[2 * i + 1]));
#else
        made.rest[i] = (along[2 * i] >> 8 & 255) | (along[2 * i + 1] >> 8 & 255) << 16;
#endif
    }
    return made;
}

// Sums down the columns of the last GROUPS times eight rows.  They stay where they are, the newest at
// `newest`, and the weights go round: down(p, part) is what a lane holds of the column's band for eight rows
// and the next, or the first; what rounding to halves lost, halves for the sums' low bits, and for the high.
template <typename Down>
__device__ __forceinline__ void sum_down(
    float (&sums)[TILES][4], const Sums (&rows)[TILES][GROUPS], const Down& down, int newest)
{
    #pragma unroll
    for (int i = 0; i < 4 * TILES; ++i) sums[i / 4][i % 4] = 0.0f;
    #pragma unroll
    for (int part = 0; part < 3; ++part)  // the largest last: the fewest sums are rounded at its size
        #pragma unroll
        for (int s = 0; s < GROUPS; s += 2) {
            const uint2 right = down((s + GROUPS - 1 - newest) % GROUPS, part);
            #pragma unroll
            for (int n = 0; n < TILES; ++n) {
                const auto& above = part == 1 ? rows[n][s].rest : rows[n][s].high;
                if (s + 1 < GROUPS) {
                    const auto& below = part == 1 ? rows[n][s + 1].rest : rows[n][s + 1].high;
                    const unsigned left[4] = {above[0], above[1], below[0], below[1]};
                    multiply_add(sums[n], left, right);
                } else {
                    multiply_add(sums[n], above[0], above[1], right.x);
                }
            }
        }
}

// Eight rows of TILES tiles, of which a lane holds two columns in two rows each, as they belong into
// memory: lane TILES r + n gets the chunk of tile n in row r.  answers: 8 TILES chunks, the warp's.
__device__ __forceinline__ uint4 as_chunks(const unsigned (&columns)[TILES], uint4* answers, int lane) {
    const auto place = [](int row, int tile) { return 8 * tile + (row + 8 / TILES * tile) % 8; };  // all in other banks
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(answers + place(lane % 8, lane / 8 % TILES)));
    if constexpr (TILES == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::
            "r"(to), "r"(columns[0]), "r"(columns[1]), "r"(columns[TILES - 2]), "r"(columns[TILES - 1]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::
            "r"(to), "r"(columns[0]), "r"(columns[1]) : "memory");
#else
    #pragma unroll
    for (int n = 0; n < TILES; ++n)
        #pragma unroll
        for (int i = 0; i < 2; ++i)
            reinterpret_cast<unsigned short*>(answers + place(lane % 4 * 2 + i, n))[lane / 4] =
                static_cast<unsigned short>(columns[n] >> 16 * i);
#endif
    __syncwarp();
    const uint4 chunk = answers[place(lane / TILES % 8, lane % TILES)];
    __syncwarp();  // the next may be written
    return chunk;
}

// ---- Weights. ------------------------------------------------------------------------------------

// The argument of `digit_bands`, see digit_bands.py: what lanes hold of the weights along x, digit by digit, the
// most significant first, and which two of four samples these are for; then of those down.
struct Weights {
    uint4 along[STEPS_ALONG][DIGITS][WARP];
    unsigned places[SPARSE_DIGITS ? STEPS_ALONG : 1][WARP];
    uint2 down[3][GROUPS][WARP];

    // All copied at once, by all threads.
    __device__ __forceinline__ void begin_copy(const unsigned* from, int thread) {
        from = copy(along, from, thread);
        if (SPARSE_DIGITS) from = copy(places, from, thread);
        copy(down, from, thread);
    }

private:
    template <typename Array>
    static __device__ __forceinline__ const unsigned* copy(Array& to, const unsigned* from, int thread) {
        #pragma unroll 1
        for (int i = thread; i < sizeof(Array) / sizeof(uint4); i += THREADS)
            copy_async(reinterpret_cast<uint4*>(&to) + i, reinterpret_cast<const uint4*>(from) + i);
        return from + sizeof(Array) / sizeof(unsigned);
    }
};
// Behind them: what a sum of integers begins with, and what turns sums down the columns into samples.
constexpr int WORDS_OF_WEIGHTS = STEPS_ALONG * WARP * (4 * DIGITS + SPARSE_DIGITS) + 3 * GROUPS * WARP * 2;

// What a lane needs of those along x, which it keeps if they are few.
struct AlongX {
    const Weights& weights;
    int lane;
    uint4 held[DIGITS];
    unsigned held_places;

    __device__ __forceinline__ AlongX(const Weights& from, int lane) : weights(from), lane(lane) {
        if (!HOLDS_WEIGHTS) return;
        for (int d = 0; d < DIGITS; ++d) held[d] = weights.along[0][d][lane];
        held_places = SPARSE_DIGITS ? weights.places[0][lane] : 0;
    }
    __device__ __forceinline__ uint4 digit(int step, int d) const {
        return HOLDS_WEIGHTS ? held[d] : weights.along[step][d][lane];
    }
    __device__ __forceinline__ unsigned places(int step) const {
        return HOLDS_WEIGHTS ? held_places : SPARSE_DIGITS ? weights.places[step][lane] : 0;
    }
};

// ---- Sums along x. -------------------------------------------------------------------------------

using Words = unsigned[TILES][STEPS_ALONG * BLOCKS_A_STEP];  // of each tile; those that do not matter are any

__device__ __forceinline__ void add_products(int (&sums)[TILES][4], const Words& words, const AlongX& weights, int digit) {
    #pragma unroll
    for (int s = 0; s < STEPS_ALONG; ++s) {
        const uint4 left = weights.digit(s, digit);
        const unsigned places = weights.places(s);
        #pragma unroll
        for (int n = 0; n < TILES; ++n) {
            const unsigned* const right = words[n] + s * BLOCKS_A_STEP;
            if (s + 1 < STEPS_ALONG) multiply_add_bytes<BLOCKS_A_STEP>(sums[n], left, places, right, sums[n]);
            else multiply_add_bytes<LAST_BLOCKS>(sums[n], left, places, right, sums[n]);
        }
    }
}

// The 27 bits that count, see digit_bands.py.  None of these sums is negative, since they begin high enough.
// 256 times the first digit's are what the second digit's are added to, by the products themselves, or
// afterwards where there are registers for both; of a third digit's what they are 256ths of.
__device__ __forceinline__ void sum_along(int (&sums)[TILES][4], const Words& words, const AlongX& weights, int begin) {
    constexpr int second = DIGITS > 1;
    int parts[DIGITS][TILES][4] = {};
    #pragma unroll
    for (int d = 0; d < DIGITS; ++d) {
        #pragma unroll
        for (int i = 0; i < 4 * TILES; ++i) {
            if (SIGNED && d == second) parts[d][i / 4][i % 4] = begin;
            if (!HOLDS_WEIGHTS && d == 1) parts[d][i / 4][i % 4] += parts[0][i / 4][i % 4] * 256;
        }
        add_products(parts[d], words, weights, d);
    }
    #pragma unroll
    for (int i = 0; i < 4 * TILES; ++i) {
        int& sum = sums[i / 4][i % 4];
        sum = parts[second][i / 4][i % 4];
        if (HOLDS_WEIGHTS && DIGITS > 1) sum += parts[0][i / 4][i % 4] * 256;
        if (DIGITS > 2) sum += parts[DIGITS - 1][i / 4][i % 4] >> 8;
        if (SUM_SHIFT > 0) sum *= 1 << (SUM_SHIFT > 0 ? SUM_SHIFT : 0);
        if (SUM_SHIFT < 0) sum = static_cast<unsigned>(sum) >> (SUM_SHIFT < 0 ? -SUM_SHIFT : 0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const unsigned* __restrict__ bands, // the weights, see `Weights`
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int lane = KEEPS_LANE ? kept(threadIdx.x) : threadIdx.x, warp = kept(threadIdx.y), samples = width * CHANNELS;
    DYNAMIC_SHARED(uint4, shared);
    uint4* const answers = shared + warp * 8 * TILES;
    Weights& weights = *reinterpret_cast<Weights*>(shared + STRIP / 2);
    unsigned* const sources = reinterpret_cast<unsigned*>(&weights + 1);
    uint4* const ring = shared + STRIP / 2 + sizeof(Weights) / sizeof(uint4) + (2 * HALO_X + 3) / 4;
    // Rows y0 to y0 + rows - 1 of a strip, for which as many and a halo are read, from `top` on.
    const int share = ((end_row - first_row + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
    const int left = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const int top = y0 - RADIUS, count = rows + KSIZE - 1;
    const int groups = (rows + 7) / 8 + GROUPS - 1;

    // 1. The weights and the first rows begin to arrive, each row by one warp.
    weights.begin_copy(bands, warp * WARP + lane);
    const int begin = bands[WORDS_OF_WEIGHTS];
    const float scale = __uint_as_float(bands[WORDS_OF_WEIGHTS + 1]);
    const float more = __uint_as_float(bands[WORDS_OF_WEIGHTS + 2]) + OFFSET;
    const int x_copied = left + (lane - LEAD) * CHUNK;
    bool has_chunk[(STAGED + WARP - 1) / WARP];  // of a row: lane, lane + 32
    #pragma unroll
    for (int i = 0; i < STAGED; i += WARP) {
        const int x = x_copied + i * CHUNK;
        has_chunk[i / WARP] = lane + i < STAGED && 0 <= x && x < samples;
    }
    // Groups that lie in the picture whole, counted from the first of these.
    const int before = top < 0 ? (7 - top) / 8 : 0, inside = max(0, min(height - top, count) / 8 - before);
    const sample* from = row_of(src, top + warp, pitch) + x_copied;  // what this lane copies next: of the first row
    int coming = 0;                                                  // the group that it is of
    const auto copy_row = [&](uint4* group, int row, const sample* from) {
        uint4* const to = group + place_of(row, lane);
        #pragma unroll
        for (int i = 0; i < STAGED; i += WARP)
            if (has_chunk[i / WARP]) copy_async(to + i, from + i * CHUNK);
    };
    const auto begin_group = [&](uint4* group) {
        if (static_cast<unsigned>(coming - before) < static_cast<unsigned>(inside)) {  // as a rule
            #pragma unroll
            for (int i = 0; i < 8; i += WARPS) copy_row(group, warp + i, row_of(from, i, pitch));
        } else {
            #pragma unroll 1
            for (int row = warp; row < min(8, count - 8 * coming); row += WARPS) {
                const int from_y = border_index(top + 8 * coming + row, height);
                if (from_y != OUTSIDE) copy_row(group, row, row_of(src, from_y, pitch) + x_copied);
                else
                    #pragma unroll 1
                    for (int i = lane; i < STAGED; i += WARP) group[place_of(row, i)] = make_uint4(0, 0, 0, 0);
            }
        }
        end_group();  // an empty one at the end: so the wait below is the same for all
        ++coming;
        from = row_of(from, 8, pitch);
    };
    #pragma unroll 1
    for (int i = 0; i < RING - STEP_GROUPS; ++i) begin_group(ring + i * GROUP_CHUNKS);

    const auto down = [&](int p, int part) { return weights.down[part][p][lane]; };
    // 2. What lies beyond a row's ends, of the first rows; later of the next, one barrier before they are summed.
    const Beyond beyond = {src, height, width, pitch, left, sources};
    const bool is_beside = beyond.begin() < beyond.end();  // the whole block
    if (is_beside) beyond.find();
    if (is_beside || HOLDS_WEIGHTS) {
        wait_for_groups<RING - 2 * STEP_GROUPS>();
        __syncthreads();
    }
    #pragma unroll
    for (int s = 0; s < STEP_GROUPS; ++s)
        if (is_beside) beyond.put(ring + s * GROUP_CHUNKS, top + 8 * s);
    const AlongX along_x(weights, lane);

    // 3. Down the rows, eight at a time.
    const int x0 = left + warp * TILES * CHUNK;  // where the warp's samples begin
    const Place places[2] = {{LEAD - SIDE + warp * TILES, lane}, {LEAD - SIDE + warp * TILES + 1, lane}};
    Sums sums[TILES][GROUPS];
    int newest = 0;  // of the sums
    int slot = 0;    // of the ring
    const uint4* eight = ring;  // rows
    #pragma unroll 1
    for (int first = 0; first < groups; first += TURNS)
    #pragma unroll
    for (int turn = 0; turn < TURNS; ++turn, newest = newest + 1 < GROUPS ? newest + 1 : 0) {
        const int group = first + turn;
        if (turn > 0 && group >= groups) break;
        if (TURNS > 1) newest = turn;
        if (turn % STEP_GROUPS == 0) {
            wait_for_groups<RING - 3 * STEP_GROUPS>();  // this thread's chunks of these rows and the next are here,
            __syncthreads();  // those of all, and all are done with the rows before: others take their place
            eight = ring + slot * GROUP_CHUNKS;
            #pragma unroll
            for (int s = 0; s < STEP_GROUPS; ++s) begin_group(ring + ((slot > 0 ? slot : RING) - STEP_GROUPS + s) * GROUP_CHUNKS);
            slot = slot + STEP_GROUPS < RING ? slot + STEP_GROUPS : 0;
            #pragma unroll
            for (int s = 0; s < STEP_GROUPS; ++s)
                if (is_beside && group + STEP_GROUPS + s < groups)
                    beyond.put(ring + (slot + s) * GROUP_CHUNKS, top + 8 * (group + STEP_GROUPS + s));
        } else eight += GROUP_CHUNKS;
        if (x0 >= samples) continue;  // the whole warp
        Words words;
        if constexpr (READS_BY_TILE) {
            #pragma unroll
            for (int n = 0; n < TILES; ++n) read_words(words[n], eight + n / 2 * 2, places[n % 2], lane);
        } else {
            unsigned row[TILES + 2 * BESIDE];
            read_words(row, eight, {LEAD - BESIDE + warp * TILES, lane}, lane);
            #pragma unroll
            for (int n = 0; n < TILES; ++n) {
                #pragma unroll
                for (int k = 0; k < STEPS_ALONG * BLOCKS_A_STEP; ++k) words[n][k] = row[k <= 2 * SIDE ? n + BESIDE - SIDE + k : n];
                if (SPAN % 2 == 0) words[n][SPAN - 1] = lane % 4 < 2 ? row[n + 2 * BESIDE] : row[n];
            }
        }
        const int x = x0 + lane % TILES * CHUNK, row = 8 * (group - GROUPS + 1) + lane / TILES;  // of a lane's chunk
        const bool is_stored = x < samples && row < rows && lane < 8 * TILES;
        uint4 original = make_uint4(0, 0, 0, 0);  // alpha arrives while the rest is worked out
        if (HAS_ALPHA && group >= GROUPS - 1 && is_stored) original = load_chunk(row_of(src, y0 + row, pitch), x);
        int along[TILES][4];
        float filtered[TILES][4];
        sum_along(along, words, along_x, begin);
        #pragma unroll
        for (int place = 0; place < GROUPS; ++place)  // a constant: sums are in registers
            if (place == newest) {
                #pragma unroll
                for (int n = 0; n < TILES; ++n) sums[n][place] = split(along[n]);
                if (group >= GROUPS - 1) sum_down(filtered, sums, down, place);
            }
        if (group < GROUPS - 1) continue;
        unsigned columns[TILES];
        #pragma unroll
        for (int n = 0; n < TILES; ++n) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) filtered[n][i] = filtered[n][i] * scale + more;
            columns[n] = round_bytes(filtered[n]);
        }
        const uint4 answer = as_chunks(columns, answers, lane);
        if (!is_stored) continue;
        write_chunk(row_of(dst, y0 + row, pitch), x, keep_alpha(answer, original));
    }
}
