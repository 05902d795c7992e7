/*---
title   = "Tensor cores, tiles of bytes"
idea    = "The sums down the columns are products of matrices, too: a warp sums eight rows along x, for tiles of 16 × 8 samples, and then as many of those sums as the weights cover."
lesson  = """
Down the columns tensor_bytes multiplies and adds in float32, K times a sample, and keeps K sums of each in registers. Here tensor
cores do that as well.  What a lane holds of the sums along x is, lane by lane, what the next product wants of it as the left
matrix; only, it wants numbers of half precision, which hold eleven bits.  So each sum is split into a half and what that lost: the
second product is made of three.  Tensor cores do the subtraction as well, a product with minus one on the diagonal.  What is lost
can be too small for a half, and is kept as bfloat16, which has a float's exponent.  Sums of eight rows stay in registers, as many
as a column of weights covers.  They stay where they are while the warp walks down, and the weights go round instead: so there is
one copy of the second product for each place of the newest sums, and the compiler knows every register's number."""
after   = "tensor_bytes"
weights = "byte_bands"
includes = ["wide", "async", "tensor", "bytes"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as tile_separable."],
    ["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."],
    ["GAIN < 64", "Without their signs these weights add up to 64 or more, which half precision does not hold here. Choose another implementation, such as tensor_separable."],
    ["KSIZE <= 127", "A thread keeps the sums of all rows that {KSIZE} weights cover in registers here, and has registers for 127. Choose another implementation, such as tensor_separable."],
]
capability = [8, 0]
own_block = "A block owns 256 samples of a row, each warp 32 or 64 of them, and walks down the picture."
# KSIZE additions along x and as many down the columns.  In units of 2^-24: two halves of a weight lose up
# to 4, a half and a bfloat16 of a sum 8, and so do the low parts' weights, which are bfloat16, too.
chain_length = "2 * KSIZE + 24"
error_factor = 2.0              # tensor cores cut sums off, they do not round them

[[passes]]
anatomy = "tile_bytes.tensor_tile_bytes"
block  = ["32", "4 if KSIZE <= 63 else 8"]
# Of blocks a multiprocessor holds as many as of their registers.
covers = ["256", """8 * -(-((HEIGHT + 7) // 8) // blocks_down(-(-WIDTH * CHANNELS // 256),
    MULTIPROCESSORS * (4 if KSIZE <= 9 else 3 if KSIZE <= 31 else 2 if KSIZE <= 63 else 1),
    (HEIGHT + 7) // 8, 1 + (KSIZE + 6) // 8))"""]
rows_by = "8"
# Answers, the weights as lanes hold them, what lies beyond a row's ends, and the ring.
shared_bytes = """(2048 + 1152 * (1 + (HALO_X + 7) // 8) + 768 * (1 + (KSIZE + 6) // 8) + 16 * ((2 * HALO_X + 3) // 4)
    + 64 * 32 * ((17 + ((1 + (HALO_X + 7) // 8) // 2 + 1) // 2 * 2 + (1 + (HALO_X + 7) // 8) // 2) // 2 // 2 * 2 + 1))"""
# A block copies its rows with whole chunks beside its own, an even number on the left; what wraps
# around is read sample by sample, for eight rows at a time; so is alpha again, by the chunk.
loads.picture = """((up(WIDTH * CHANNELS, 16) + (BLOCKS_X > 1) * (
            16 * (up((1 + (HALO_X + 7) // 8) // 2, 2) + (1 + (HALO_X + 7) // 8) // 2) * (BLOCKS_X - 1)
            - max(0, 16 * ((1 + (HALO_X + 7) // 8) // 2) + 256 * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, 16))))
        * (HEIGHT + (KSIZE - 1) * segments(8))
    + (2 * HALO_X * (up(HEIGHT, 8) + up(KSIZE - 1, 8) * segments(8)) if BORDER == 'WRAP' and BLOCKS_X > 1 else 0)
    + HAS_ALPHA * up(WIDTH * CHANNELS, 16) * HEIGHT)"""
loads.weights = """(((256 * (1 + (HALO_X + 7) // 8) if CHANNELS == 1 else 288 * ((2 + (HALO_X + 7) // 8) // 2))
    + 192 * (1 + (KSIZE + 6) // 8)) * BLOCKS_X * segments(8))"""
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
# Products on the tensor cores, for tiles of 16 × 8 samples, warp by warp: along x with high halves and low
# ones of the weights, to take a sum's half from it, and three down the columns.
flops = """(2 * 1024 * parts(WIDTH * CHANNELS, 64 if KSIZE <= 63 else 32) * (4 if KSIZE <= 63 else 2) * (
    (1 + (2 if CHANNELS > 1 else 4) * (1 + (HALO_X + 7) // 8))
        * (up(HEIGHT, 8) // 8 + (KSIZE + 6) // 8 * segments(8))
    + 3 * (1 + (KSIZE + 6) // 8) * up(HEIGHT, 8) // 8))"""
---*/

constexpr int STRIP = 256;                         // samples of a row: a block's,
constexpr int TILES = KSIZE <= 63 ? 4 : 2;         // of 16 x 8 sums, side by side, a warp's
constexpr int WARPS = STRIP / (16 * TILES);
constexpr int THREADS = WARP * WARPS;
constexpr int GROUPS = 1 + (KSIZE + 6) / 8;        // of 8 rows: so many matter to 8 rows of the answer
constexpr int RING = 8;                            // groups in shared memory: all but one of them on their way
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
constexpr int MIN_BLOCKS = KSIZE <= 9 ? 3 : KSIZE <= 63 ? 2 : 1;  // more of them would spill registers
#else
constexpr int MIN_BLOCKS = KSIZE <= 9 ? 4 : KSIZE <= 31 ? 3 : KSIZE <= 63 ? 2 : 1;
#endif

// ---- Rows in shared memory. ----------------------------------------------------------------------
//
// A row has LEAD chunks before the strip's.  An asynchronous copy fetches 32 bytes at a time: so those
// stay together here.  Eight rows of a block, 8 x 16 bytes, are read at once: an odd number of 32 bytes
// from row to row, and chunks that change places in every second four rows, put them into different banks.
constexpr int LEAD = (BESIDE + 1) / 2 * 2;
constexpr int STAGED = LEAD + STRIP / CHUNK + BESIDE;     // chunks
constexpr int ROW_CHUNKS = 2 * ((STAGED + 1) / 2 | 1);

__device__ __forceinline__ int place_of(int row, int chunk) { return row * ROW_CHUNKS + (chunk ^ (row >> 2 & 1)); }

// Words t of row g of so many neighbouring blocks, for lane 4 g + t.  group: eight rows.
template <int COUNT>
__device__ __forceinline__ void read_words(unsigned (&words)[COUNT], const uint4* group, int chunk) {
    const int lane = threadIdx.x;
#ifndef CUDA_ON_CPU
    const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(group + place_of(lane % 8, chunk + lane / 8)));
    #pragma unroll
    for (int i = 0; i + 4 <= COUNT; i += 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
            : "=r"(words[i]), "=r"(words[i + 1]), "=r"(words[i + 2]), "=r"(words[i + 3]) : "r"(from + 16 * i) : "memory");
    constexpr int done = COUNT / 4 * 4;
    if constexpr (COUNT % 4 >= 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
            : "=r"(words[done]), "=r"(words[done + 1]) : "r"(from + 16 * done) : "memory");
    if constexpr (COUNT % 2 == 1) {
        const uint4* const row = group + place_of(lane % 8, chunk + COUNT - 1);
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
            : "=r"(words[COUNT - 1]) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))) : "memory");
    }
#else
    for (int i = 0; i < COUNT; ++i)
        words[i] = reinterpret_cast<const unsigned*>(group + place_of(lane / 4, chunk + i))[lane % 4];
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

// Two floats as bfloat16s, the first in the low bits: a float's exponent, and eight bits.
__device__ __forceinline__ unsigned to_coarse_pair(float first, float second) {
#ifndef CUDA_ON_CPU
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
#else
    const auto upper = [](float value) {
        const unsigned bits = __float_as_uint(value);
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    };
    return upper(first) | upper(second) << 16;
#endif
}

// As multiply_add of tensor.cuh, 8 and 16 deep, with bfloat16s.
__device__ __forceinline__ void multiply_add_coarse(float (&sum)[4], unsigned left, unsigned left_below, unsigned right) {
#ifndef CUDA_ON_CPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left), "r"(left_below), "r"(right));
#else
    const auto upper = cuda_cpu::all_lanes(left, __LINE__), lower = cuda_cpu::all_lanes(left_below, __LINE__);
    const auto columns = cuda_cpu::all_lanes(right, __LINE__);
    const int lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    const auto number = [](unsigned pair, int i) { return __uint_as_float(i == 0 ? pair << 16 : pair & 0xFFFF0000u); };
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 2; ++i) {
            const float a = number(upper[4 * g + k], i), b = number(lower[4 * g + k], i);
            const float x = number(columns[8 * t + k], i), y = number(columns[8 * t + 4 + k], i);
            sum[0] += a * x;
            sum[1] += a * y;
            sum[2] += b * x;
            sum[3] += b * y;
        }
#endif
}
__device__ __forceinline__ void multiply_add_coarse(float (&sum)[4], const unsigned (&left)[4], uint2 right) {
#ifndef CUDA_ON_CPU
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right.x), "r"(right.y));
#else
    multiply_add_coarse(sum, left[0], left[1], right.x);
    multiply_add_coarse(sum, left[2], left[3], right.y);
#endif
}

// Sums along x of eight rows of a tile's 16 columns, as a half and what that lost: a lane's pairs of
// columns 2 g and 2 g + 1 in rows 2 t and 2 t + 1.
struct Sums {
    unsigned high[2], rest[2];
};

// minus_one: this lane's pair of a matrix with -1 on its diagonal.
__device__ __forceinline__ Sums split(const float (&along)[4], unsigned minus_one) {
    Sums made;
    float rest[4];
    #pragma unroll
    for (int i = 0; i < 2; ++i) made.high[i] = to_pair(along[2 * i], along[2 * i + 1]);
    #pragma unroll
    for (int i = 0; i < 4; ++i) rest[i] = along[i];
    multiply_add(rest, made.high[0], made.high[1], minus_one);
    #pragma unroll
    for (int i = 0; i < 2; ++i) made.rest[i] = to_coarse_pair(rest[2 * i], rest[2 * i + 1]);
    return made;
}

// Sums down the columns of the last GROUPS times eight rows.  They stay where they are, the newest at
// `newest`, and the weights go round: down(p, part) is what a lane holds of COLUMN's band for eight rows
// and the next, or the first; what rounding to halves lost, halves, and all as bfloat16.
template <typename Down>
__device__ __forceinline__ void sum_down(
    float (&sums)[TILES][4], const Sums (&rows)[TILES][GROUPS], const Down& down, int newest)
{
    #pragma unroll
    for (int n = 0; n < TILES; ++n) begin_with_offset<4>(sums[n]);
    #pragma unroll
    for (int part = 0; part < 3; ++part)  // the last is what is ready last
        #pragma unroll
        for (int s = 0; s < GROUPS; s += 2) {
            const uint2 right = down((s + GROUPS - 1 - newest) % GROUPS, part);
            #pragma unroll
            for (int n = 0; n < TILES; ++n) {
                const auto& above = part == 2 ? rows[n][s].rest : rows[n][s].high;
                if (s + 1 < GROUPS) {
                    const auto& below = part == 2 ? rows[n][s + 1].rest : rows[n][s + 1].high;
                    const unsigned left[4] = {above[0], above[1], below[0], below[1]};
                    if (part == 2) multiply_add_coarse(sums[n], left, right);
                    else multiply_add(sums[n], left, right);
                } else if (part == 2) {
                    multiply_add_coarse(sums[n], above[0], above[1], right.x);
                } else {
                    multiply_add(sums[n], above[0], above[1], right.x);
                }
            }
        }
}

// Eight rows of TILES tiles, of which a lane holds two columns in two rows each, as they belong into
// memory: lane TILES r + n gets the chunk of tile n in row r.  answers: 8 TILES chunks, the warp's.
__device__ __forceinline__ uint4 as_chunks(const unsigned (&columns)[TILES], uint4* answers) {
    const int lane = threadIdx.x;
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

// As `Bands` of bytes.cuh, in shared memory; all copied at once, by all threads.
struct Weights {
    uint4 halves[STEPS][2][WARP];
    unsigned places[SPARSE ? STEPS : 1][WARP];
    uint2 down[3][GROUPS][WARP];

    __device__ __forceinline__ void begin_copy(const Bands& from, int thread) {
        copy(halves, from.halves, thread);
        if (SPARSE) copy(places, from.places, thread);
        copy(down, from.down, thread);
    }

private:
    template <typename Array>
    static __device__ __forceinline__ void copy(Array& to, const void* from, int thread) {
        #pragma unroll 1
        for (int i = thread; i < sizeof(Array) / sizeof(uint4); i += THREADS)
            copy_async(reinterpret_cast<uint4*>(&to) + i, static_cast<const uint4*>(from) + i);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const unsigned* __restrict__ bands, // the weights, see bytes.cuh
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int lane = threadIdx.x, warp = threadIdx.y, samples = width * CHANNELS;
    DYNAMIC_SHARED(uint4, shared);
    uint4* const answers = shared + warp * 8 * TILES;
    Weights& weights = *reinterpret_cast<Weights*>(shared + STRIP / 2);
    unsigned* const sources = reinterpret_cast<unsigned*>(&weights + 1);
    uint4* const ring = shared + STRIP / 2 + sizeof(Weights) / sizeof(uint4) + (2 * HALO_X + 3) / 4;
    const auto in_ring = [&](int group) { return ring + group % RING * 8 * ROW_CHUNKS; };

    // Rows y0 to y0 + rows - 1 of a strip, for which as many and a halo are read, from `top` on.
    const int share = ((end_row - first_row + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
    const int left = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const int top = y0 - RADIUS, count = rows + KSIZE - 1;
    const int groups = (rows + 7) / 8 + GROUPS - 1;

    // 1. The weights and the first rows begin to arrive, each row by one warp.
    weights.begin_copy(Bands(bands), warp * WARP + lane);
    const int x_copied = left + (lane - LEAD) * CHUNK;
    bool has_chunk[(STAGED + WARP - 1) / WARP];  // of a row: lane, lane + 32
    #pragma unroll
    for (int i = 0; i < STAGED; i += WARP) {
        const int x = x_copied + i * CHUNK;
        has_chunk[i / WARP] = lane + i < STAGED && 0 <= x && x < samples;
    }
    const auto copy_row = [&](uint4* group, int row, const sample* from) {
        uint4* const to = group + place_of(row, lane);
        #pragma unroll
        for (int i = 0; i < STAGED; i += WARP)
            if (has_chunk[i / WARP]) copy_async(to + i, from + i * CHUNK);
    };
    const auto begin_group = [&](int coming) {
        uint4* const group = in_ring(coming);
        const int y = top + 8 * coming;
        if (8 * coming + 8 <= count && y >= 0 && y + 8 <= height) {  // as a rule
            const sample* const from = row_of(src, y + warp, pitch) + x_copied;
            #pragma unroll
            for (int i = 0; i < 8; i += WARPS) copy_row(group, warp + i, row_of(from, i, pitch));
        } else {
            #pragma unroll 1
            for (int row = warp; row < min(8, count - 8 * coming); row += WARPS) {
                const int from_y = border_index(y + row, height);
                if (from_y != OUTSIDE) copy_row(group, row, row_of(src, from_y, pitch) + x_copied);
                else
                    #pragma unroll 1
                    for (int i = lane; i < STAGED; i += WARP) group[place_of(row, i)] = make_uint4(0, 0, 0, 0);
            }
        }
        end_group();  // an empty one at the end: so the wait below is the same for all
    };
    #pragma unroll 1
    for (int i = 0; i < RING - 1; ++i) begin_group(i);

    const auto half_of = [&](int s, int part) { return weights.halves[s][part][lane]; };
    const auto places_of = [&](int s) { return weights.places[s][lane]; };
    const auto down = [&](int p, int part) { return weights.down[part][p][lane]; };
    const int g = lane / 4, t = lane % 4;
    const unsigned minus_one = (g == 2 * t ? 0xBC00u : 0) | (g == 2 * t + 1 ? 0xBC000000u : 0);

    // 2. What lies beyond a row's ends, of the first rows; later of the next, one barrier before they are summed.
    const Beyond beyond = {src, height, width, pitch, left, sources};
    const bool is_beside = beyond.begin() < beyond.end();  // the whole block
    if (is_beside) {
        beyond.find();
        wait_for_groups<RING - 2>();
        __syncthreads();
        beyond.put(in_ring(0), top);
    }

    // 3. Down the rows, eight at a time.
    const int x0 = left + warp * TILES * CHUNK;  // where the warp's samples begin
    Sums sums[TILES][GROUPS];
    int newest = 0;  // of the sums
    #pragma unroll 1
    for (int group = 0; group < groups; ++group, newest = newest + 1 < GROUPS ? newest + 1 : 0) {
        wait_for_groups<RING - 3>();  // this thread's chunks of these rows and the next are here,
        __syncthreads();  // those of all, and all are done with the rows before: others take their place
        begin_group(group + RING - 1);
        uint4* const eight = in_ring(group);
        if (is_beside && group + 1 < groups) beyond.put(in_ring(group + 1), top + 8 * group + 8);
        if (x0 >= samples) continue;  // the whole warp
        unsigned words[TILES + 2 * BESIDE];
        read_words(words, eight, LEAD - BESIDE + warp * TILES);
        unsigned around[TILES][SPAN];  // of each tile
        #pragma unroll
        for (int n = 0; n < TILES; ++n) {
            #pragma unroll
            for (int k = 0; k <= 2 * SIDE; ++k) around[n][k] = words[n + BESIDE - SIDE + k];
            if (SPAN % 2 == 0) around[n][SPAN - 1] = t < 2 ? words[n + 2 * BESIDE] : words[n];
        }
        float along[TILES][4], filtered[TILES][4];
        sum_along(along, around, half_of, places_of);
        #pragma unroll
        for (int place = 0; place < GROUPS; ++place)  // a constant: sums are in registers
            if (place == newest) {
                #pragma unroll
                for (int n = 0; n < TILES; ++n) sums[n][place] = split(along[n], minus_one);
                if (group >= GROUPS - 1) sum_down(filtered, sums, down, place);
            }
        if (group < GROUPS - 1) continue;
        const int x = x0 + lane % TILES * CHUNK, row = 8 * (group - GROUPS + 1) + lane / TILES;  // of a lane's chunk
        const bool is_stored = x < samples && row < rows && lane < 8 * TILES;
        unsigned columns[TILES];
        #pragma unroll
        for (int n = 0; n < TILES; ++n) columns[n] = round_bytes(filtered[n]);
        const uint4 answer = as_chunks(columns, answers);
        if (!is_stored) continue;
        const uint4 original = HAS_ALPHA ? load_chunk(row_of(src, y0 + row, pitch), x) : answer;
        write_chunk(row_of(dst, y0 + row, pitch), x, keep_alpha(answer, original));
    }
}
