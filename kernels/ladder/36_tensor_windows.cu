/*---
title   = "Tensor cores, windows"
idea    = "Rows of the picture, as they lie in shared memory, are what the tensor cores multiply: windows of them that overlap are columns of a matrix, for which nothing is copied or even loaded."
lesson  = """
A warp's own products take their operands from registers, and to bring the picture there is most of what tensor_dense_bytes \
does.  From compute capability 9.0 on four warps together, a warpgroup, multiply by a matrix that stays in shared memory, and \
say with two strides how it lies there: pieces of 16 bytes, one after another along a column, and columns one beside another.  \
Nobody asks that columns do not overlap.  So block n of 16 samples of a row is column n, the 16 bytes before it and behind it \
are the same columns seen from 16 bytes further left or right, and a row with all its windows is an operand as it came from \
memory.  The weights, as bands, are the other operand and stay in registers: a product has 64 rows, for 16 neighbouring sums of \
four rows of the answer, so that few zeros are multiplied; and of interleaved channels' zeros half are left out.  What remains \
for the threads is to round sums and store them, which they do for one half of a strip while the tensor cores multiply for \
the other.  Rows come by the copy engine and go by it.  Weights are whole numbers of eight bits over a divisor, so that all \
sums are exact; every second block walks up, so that rows which two blocks need come from memory once."""
after   = "tensor_dense_bytes"
weights = "whole_bands"
includes = ["wide", "tensor", "copies", "warpgroups"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as shared."],
    ["3 <= KSIZE <= 11", "A thread holds bands of weights in registers here, and has registers for sizes from 3 to 11. Choose another implementation, such as tensor_dense_bytes."],
    ["HALO_X <= 16", "Sums take what is up to 16 samples beside them here, and these take what is {HALO_X} samples away. Choose another implementation, such as tensor_dense_bytes."],
    ["DIVISOR", "These weights are no whole numbers over a common divisor. Choose another implementation, such as tensor_dense_bytes."],
    ["WHOLE_FIT", "These weights are whole numbers over {DIVISOR}, and the products here take such from -128 to 127, and sums below 2^24. Choose another implementation, such as tensor_dense_bytes."],
]
capability = [9, 0]
architecture_specific = true
# Measured on an H200: of one channel tensor_dense_bytes is quicker, of sums in rows words_of_two up to size 5.
quick   = "CHANNELS > 1 and KSIZE >= (7 if IN_ROWS else 5)"
own_block = "A block of four warps walks down a strip of the picture, or up."
chain_length = "2"  # exact but for weights that float32 has rounded, as whole_numbers says

[[passes]]
block  = ["32", "4"]
# In one wave of blocks, or just less than a whole number of them; of a small picture four rows each.
covers = ["WINDOWS_STRIP", """4 * parts(parts(HEIGHT, 4), blocks_down(parts(WIDTH * CHANNELS, WINDOWS_STRIP),
    WINDOWS_BLOCKS * MULTIPROCESSORS, parts(HEIGHT, 4), (KSIZE + 2) // 4))"""]
rows_by = "4"
shared_bytes = "4 * WINDOWS_STRIP + WINDOWS_STAGES * (4 * (WINDOWS_STRIP + 32) + 8)"
# A block reads four rows at a time, with 16 bytes on either side; to wrap, also what lies beyond, for the
# block before the last as well if the last is so narrow.
loads.picture = """(4 * (parts(HEIGHT, 4) + (KSIZE + 2) // 4 * segments(4))
    * (up(WIDTH * CHANNELS, 16) + 32 * (BLOCKS_X - 1) + ((BORDER == 'WRAP') and (BLOCKS_X > 1) and
        2 * HALO_X + ((WIDTH * CHANNELS - 1) % COVERS_X + 1 < HALO_X and min(HALO_X, 15 - (WIDTH * CHANNELS - 1) % COVERS_X)))))"""
loads.weights = "512 * (WINDOWS_PRODUCTS + 1) * BLOCKS_X * segments(4)"
stores = { picture = "up(WIDTH * CHANNELS, 16) * HEIGHT" }
# For four rows of a strip products of 64 x 32 numbers by as many columns as it has blocks of 16 samples.
flops = """(2 * 64 * 32 * WINDOWS_PRODUCTS * (COVERS_X // 16) * BLOCKS_X * parts(HEIGHT, 4))"""
---*/

// What the launcher says: DIVISOR, what is left of its reciprocal beyond float32, WHOLE_OFFSET, and the
// length of a strip, by the picture's size.
#ifndef STRIP
#define STRIP 2048
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS (STRIP < 2048 ? 3 : CHANNELS == 1 ? (KSIZE > 9 ? 2 : 3) : KSIZE > 7 ? 3 : 4)
#endif
#ifndef STEPS_AHEAD
#define STEPS_AHEAD (CHANNELS == 1 ? 5 : KSIZE > 7 ? 6 : 4)
#endif

constexpr int WARPS = 4;                       // of a warpgroup; each has a row of four in its sums
constexpr int COLUMNS = STRIP / PIECE / 2;     // of a product: half a strip
constexpr int HALF = STRIP / 2;
constexpr int ROW_BYTES = STRIP + 2 * PIECE;   // in shared memory, from PIECE before the strip on
constexpr int ROW_PIECES = ROW_BYTES / PIECE;
constexpr int STAGE_BYTES = 4 * ROW_BYTES;     // of four rows, that come together
constexpr int LOOK = (KSIZE + 2) / 4;          // stages that a step needs beyond its own
static_assert(STEPS_AHEAD > LOOK, "what a step needs is there at once");

// ---- Which products. ------------------------------------------------------------------------------
//
// Four rows of the answer need KSIZE + 3 of the picture, and of each three pieces for 16 sums: those of
// the sums and one on either side.  A product has two pieces in its columns: the first two of a row, or the
// third of two rows.  A sparse one has four: the same of four rows or, if that leaves two rows over, all of
// one row and another, for which there are zeros.  So many products waste least; see whole_bands.py.

constexpr int ROWS = KSIZE + 3;
constexpr bool IS_SPARSE = CHANNELS > 1;
constexpr int SINGLES = IS_SPARSE && ROWS % 4 == 2 ? 2 : 0;
constexpr int FOURS = SINGLES ? ROWS / 4 : LOOK + 1;
constexpr int PRODUCTS = IS_SPARSE ? 3 * FOURS + SINGLES : 3 * (ROWS / 2);

// All of them for half a strip, under way: ring is where that begins, first the stage that a step begins with.
__device__ __forceinline__ void multiply(
    int (&sums)[COLUMNS / 2], Windows ring, int first, const uint4 (&left)[PRODUCTS], const uint4& places)
{
    constexpr int ALL = STEPS_AHEAD * 4;
    begin_products();
    if constexpr (IS_SPARSE) {
        const auto stage = [=](int n) {
            return ring + (first + n < STEPS_AHEAD ? first + n : first + n - STEPS_AHEAD) * (4 * ROW_PIECES);
        };
        #pragma unroll
        for (int n = 0; n < 3 * FOURS; ++n)
            multiply_add_windows<COLUMNS, true, ROW_BYTES>(
                sums, left[n], stage(n / 3) + n % 3, n % 3 == 0 ? places.x : n % 3 == 1 ? places.y : places.z, n > 0);
        #pragma unroll
        for (int row = 0; row < SINGLES; ++row)
            multiply_add_windows<COLUMNS, true, PIECE>(
                sums, left[3 * FOURS + row], stage(FOURS) + row * ROW_PIECES, places.w, true);
    } else {
        #pragma unroll
        for (int pair = 0; pair < ROWS / 2; ++pair) {
            const int row = 4 * first + 2 * pair < ALL ? 4 * first + 2 * pair : 4 * first + 2 * pair - ALL;
            const Windows rows = ring + row * ROW_PIECES;
            multiply_add_windows<COLUMNS, false, PIECE>(sums, left[3 * pair], rows, 0, pair > 0);
            multiply_add_windows<COLUMNS, false, PIECE>(sums, left[3 * pair + 1], rows + ROW_PIECES, 0, true);
            multiply_add_windows<COLUMNS, false, ROW_BYTES>(sums, left[3 * pair + 2], rows + 2, 0, true);
        }
    }
    end_products();
}

// ---- Quotients. -----------------------------------------------------------------------------------

// A sum, exact as a float, times the float next to 1 / DIVISOR rounds as the true quotient does if DIVISOR
// is a power of two, which makes it exact, or if there are no halves and it is not too large.  Else what
// that float lacks is added.
constexpr bool IS_POWER = (DIVISOR & (DIVISOR - 1)) == 0;
constexpr bool NEEDS_REST = !IS_POWER && (DIVISOR % 2 == 0 || DIVISOR > 8192);

struct Quotients {
    float by[2], rest[2];  // of a lane's sums in row g and in row g + 8, which are neighbours
    int more[2];

    __device__ __forceinline__ explicit Quotients(int lane) {
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
            const bool is_copied = is_alpha(lane / 4 * 2 + i);
            by[i] = is_copied ? 1.0f : 1.0f / DIVISOR;
            rest[i] = is_copied ? 0.0f : RECIPROCAL_REST;
            more[i] = is_copied ? 0 : WHOLE_OFFSET;
        }
    }
    // Two sums of each of two neighbours, as bytes: blocks 2 t and 2 t + 1, two each.
    __device__ __forceinline__ unsigned of(const int* sums) const {
        float values[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float sum = static_cast<float>(WHOLE_OFFSET ? sums[i] + more[i / 2] : sums[i]);
            values[i] = NEEDS_REST ? __fmaf_rn(sum, by[i / 2], sum * rest[i / 2]) : sum * by[i / 2];
        }
        return round_bytes(values);
    }
};

// COUNT matrices of eight blocks, from lanes' quotients to 128 bytes each, one behind another.
template <int COUNT>
__device__ __forceinline__ void write_blocks(uint8* to, const unsigned* words) {
    const int lane = threadIdx.x;
#ifdef CUDA_ON_CPU
    unsigned short* const pairs = reinterpret_cast<unsigned short*>(to) + lane % 4 * 16 + lane / 4;
    for (int i = 0; i < COUNT; ++i) {
        pairs[64 * i] = static_cast<unsigned short>(words[i]);
        pairs[64 * i + 8] = static_cast<unsigned short>(words[i] >> 16);
    }
#else
    const unsigned at = shared_address(to) + 16 * (lane % (8 * COUNT));
    if constexpr (COUNT == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};"
                     ::"r"(at), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    else if constexpr (COUNT == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};"
                     ::"r"(at), "r"(words[0]), "r"(words[1]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at), "r"(words[0]) : "memory");
#endif
}

// ---- Down a strip of the picture, or up. -----------------------------------------------------------

constexpr bool IS_ZERO = BORDER == ZERO || BORDER == CROP;

extern "C" __global__ void __launch_bounds__(WARP * WARPS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const uint4* __restrict__ bands, // [up][1 + PRODUCTS][WARPS * WARP]: which two of four, and the weights
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    // A row of the answer for each warp, the ring of [STEPS_AHEAD][4][ROW_BYTES], and a barrier for each stage.
    DYNAMIC_SHARED(uint8, shared);
    const int lane = threadIdx.x, warp = __shfl_sync(~0u, threadIdx.y, 0), thread = warp * WARP + lane;
    const int samples = width * CHANNELS, stored = (samples + CHUNK - 1) / CHUNK * CHUNK;
    uint8* const answer = shared + warp * STRIP;
    uint8* const ring = shared + WARPS * STRIP;
    barrier* const bars = reinterpret_cast<barrier*>(ring + STEPS_AHEAD * STAGE_BYTES);

    // Rows y0 to y0 + rows - 1 of the answer, from the last one up in every second block.
    const int share = ((end_row - first_row + gridDim.y - 1) / gridDim.y + 3) / 4 * 4;
    const int x0 = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const bool is_up = blockIdx.y % 2;
    const int steps = (rows + 3) / 4, stages = steps + LOOK;
    // Of the rows that a block reads number i, counted the way it goes.
    const auto y_of = [&](int i) { return is_up ? y0 + rows - 1 + RADIUS - i : y0 - RADIUS + i; };
    const auto row_at = [&](int i) { return row_of(src, nearest_row(y_of(i), height), pitch); };
    const auto is_outside = [&](int i) { return border_index(y_of(i), height) == OUTSIDE; };

    // 1. The first rows begin to arrive, and the weights.
    const int from = max(x0 - PIECE, 0), bytes = min(x0 + STRIP + PIECE, stored) - from;
    const auto begin_stage = [&](int i) {
        uint8* const to = ring + i % STEPS_AHEAD * STAGE_BYTES + from - x0 + PIECE;
        expect(bars + i % STEPS_AHEAD, 4 * bytes);
        #pragma unroll
        for (int r = 0; r < 4; ++r)  // where the border has none another, see below
            bring(to + r * ROW_BYTES, row_at(4 * i + r) + from, bytes, bars + i % STEPS_AHEAD);
    };
    if (thread < STEPS_AHEAD) begin_barrier(bars + thread);
    __syncthreads();
    if (thread == 0)
        #pragma unroll 1
        for (int i = 0; i < min(STEPS_AHEAD, stages); ++i) begin_stage(i);
    bands += (is_up ? 1 + PRODUCTS : 0) * WARPS * WARP + thread;
    const uint4 places = bands[0];
    uint4 left[PRODUCTS];
    #pragma unroll
    for (int i = 0; i < PRODUCTS; ++i) left[i] = bands[(1 + i) * WARPS * WARP];

    // 2. What lies beyond a row's ends: sixteen lanes a side put a byte each, which nearly always is there,
    //    in the strip.  Warp r does it for row r of four.
    const bool is_left = lane < PIECE;
    const int beyond = is_left ? lane - PIECE : samples + lane - PIECE;
    const bool reaches_end = x0 + STRIP + HALO_X > samples, is_edge = x0 == 0 || reaches_end;
    const bool puts = is_left ? x0 == 0 && beyond >= -HALO_X
        : reaches_end && lane - PIECE < HALO_X && beyond < x0 + STRIP + PIECE;
    const int source = puts ? border_sample(beyond, width) : 0;
    const bool is_staged = from <= source && source < from + bytes;
    const auto wait_for_stage = [&](int i) {
        uint8* const row = ring + i % STEPS_AHEAD * STAGE_BYTES + warp * ROW_BYTES + PIECE;
        wait_for(bars + i % STEPS_AHEAD, i / STEPS_AHEAD & 1);
        bool changes = is_edge;
        if (is_edge && puts)
            row[beyond - x0] = source == OUTSIDE ? 0 : is_staged ? row[source - x0] : row_at(4 * i + warp)[source];
        if constexpr (IS_ZERO) {
            if (is_outside(4 * i) || is_outside(4 * i + 3)) {  // the same for all threads
                changes = true;
                __syncwarp();
                if (is_outside(4 * i + warp))
                    for (int n = lane; n < ROW_BYTES / 16; n += WARP)
                        reinterpret_cast<uint4*>(row - PIECE)[n] = make_uint4(0, 0, 0, 0);
            }
        }
        if (changes) {
            see_stores();
            __syncthreads();
        }
    };

    // 3. Four rows of the answer at a time: sums of one half of the strip are made while the other is stored.
    const Quotients quotients(lane);
    const auto store = [&](const int (&sums)[COLUMNS / 2], int step, int half) {
        if (lane == 0) wait_for_sent<1>();  // the same half of the rows before
        __syncwarp();
        uint8* const to = answer + half * HALF;
        constexpr int MATRICES = COLUMNS / 8;
        #pragma unroll
        for (int q = 0; q < MATRICES; q += 4) {
            unsigned words[4];
            #pragma unroll
            for (int i = 0; i < 4 && q + i < MATRICES; ++i) words[i] = quotients.of(sums + 4 * (q + i));
            if (MATRICES - q >= 4) write_blocks<4>(to + 128 * q, words);
            else {
                if (MATRICES - q >= 2) write_blocks<2>(to + 128 * q, words);
                if (MATRICES % 2) write_blocks<1>(to + 128 * (MATRICES - 1), words + (MATRICES - 1 - q) % 4);
            }
        }
        see_stores();
        __syncwarp();
        if (lane == 0) {
            const int i = 4 * step + warp, x = x0 + half * HALF, count = min(HALF, stored - x);
            if (i < rows && count > 0) send(row_of(dst, is_up ? y0 + rows - 1 - i : y0 + i, pitch) + x, to, count);
            end_sending();
        }
    };
    const Windows left_half = windows_at(ring), right_half = left_half + HALF / PIECE;
    #pragma unroll
    for (int i = 0; i < LOOK; ++i) wait_for_stage(i);
    #pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        int one[COLUMNS / 2], other[COLUMNS / 2];
        wait_for_stage(step + LOOK);
        multiply(one, left_half, step % STEPS_AHEAD, left, places);
        multiply(other, right_half, step % STEPS_AHEAD, left, places);
        wait_for_products<1>(one);
        store(one, step, 0);
        wait_for_products<0>(other);
        __syncthreads();  // nobody needs the step's first stage any more
        if (thread == 0 && step + STEPS_AHEAD < stages) begin_stage(step + STEPS_AHEAD);
        store(other, step, 1);
    }
    if (lane == 0) wait_for_sent<0>();
}
