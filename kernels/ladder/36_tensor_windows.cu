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
the other.  Rows come by the copy engine, or by threads where they have to begin half a piece before the sums, so that these \
need fewer pieces.  Weights that are whole numbers of eight bits over a divisor give exact sums.  Others are integers of two \
bytes, as tensor_dense_bytes has them: of a product's rows eight are sums of the high bytes then, and eight of the low ones, \
which the same lane puts together.  Every second block walks up, so that rows which two blocks need come from memory once."""
after   = "tensor_dense_bytes"
weights = "windows"
includes = ["wide", "tensor", "async", "copies", "warpgroups"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as shared."],
    ["3 <= KSIZE <= 15", "A thread holds bands of weights in registers here, and has registers for sizes from 3 to 15. Choose another implementation, such as shared."],
    ["WINDOWS_DIGITS <= 2", "The products here take weights of two bytes at most, and these need three. Choose another implementation, such as tensor_dense_bytes."],
]
capability = [9, 0]
architecture_specific = true
# Measured on an H200: of one channel tensor_dense_bytes is as quick or quicker, with two digits up to size 9; of a
# small picture's sums in rows words_of_two up to size 5; of separable weights of two digits tensor_tile_bytes.
quick   = """(CHANNELS > 1 and KSIZE >= (7 if IN_ROWS and WORDS_ROWS else 5) if WINDOWS_DIGITS == 1 else
    RANK > 1 and (CHANNELS > 1 or KSIZE >= 11))"""
own_block = "A block of four warps walks down a strip of the picture, or up."
# Whole numbers' sums are exact but for weights that float32 has rounded, as whole_numbers says.  Of others
# what rounding the weights to integers may lose is all of it but 8, see digit_bands.py.
chain_length = "2 if WINDOWS_DIGITS == 1 else 2 * (KSIZE * KSIZE + 40)"

[[passes]]
block  = ["32", "4"]
# In one wave of blocks, or just less than a whole number of them; of a small picture four rows each.
covers = ["WINDOWS_STRIP", """4 * parts(parts(HEIGHT, 4), blocks_down(parts(WIDTH * CHANNELS, WINDOWS_STRIP),
    WINDOWS_BLOCKS * MULTIPROCESSORS, parts(HEIGHT, 4), (KSIZE + 2) // 4))"""]
rows_by = "4"
shared_bytes = """((4 if WINDOWS_DIGITS == 1 or WINDOWS_NARROW else 8) * WINDOWS_STRIP + 8 * WINDOWS_STAGES
    + (4 * WINDOWS_STAGES + WINDOWS_TWICE) * (WINDOWS_STRIP + 2 * WINDOWS_BESIDE))"""
# A block reads four rows at a time, with 8 to 32 bytes on either side, and two of a ring's rows twice; to wrap,
# also what lies beyond, for the block before the last as well if the last is so narrow.
loads.picture = """(4 * (parts(HEIGHT, 4) + (KSIZE + 2) // 4 * segments(4))
    * (WINDOWS_ACROSS + ((BORDER == 'WRAP') and (BLOCKS_X > 1) and
        2 * HALO_X + ((WIDTH * CHANNELS - 1) % COVERS_X + 1 < HALO_X and min(HALO_X, WINDOWS_BESIDE - 1 - (WIDTH * CHANNELS - 1) % COVERS_X))))
    + WINDOWS_TWICE * WINDOWS_ACROSS
        * ((segments(4) - 1) * parts(parts(parts(HEIGHT, BLOCKS_Y), 4) + (KSIZE + 2) // 4, WINDOWS_STAGES)
            + parts(parts(HEIGHT - (segments(4) - 1) * up(parts(HEIGHT, BLOCKS_Y), 4), 4) + (KSIZE + 2) // 4, WINDOWS_STAGES)))"""
loads.weights = "512 * (WINDOWS_LEFTS + WINDOWS_DIGITS) * BLOCKS_X * segments(4)"
stores = { picture = "up(WIDTH * CHANNELS, 16) * HEIGHT" }
# For four rows of a strip products of 64 x 32 numbers by as many columns as it has blocks of 16 samples; with
# two digits in each of two passes, and a multiply-add a sample.
flops = """(2 * (64 * 32 * WINDOWS_PRODUCTS // 16 + 2 * (WINDOWS_DIGITS - 1)) * WINDOWS_DIGITS
    * COVERS_X * BLOCKS_X * parts(HEIGHT, 4))"""
---*/

// What the launcher says: the length of a strip, by the picture's size; bytes of a weight, and whether they
// are signed.  Of one DIVISOR, what is left of its reciprocal beyond float32, and WHOLE_OFFSET.
constexpr int STEPS_AHEAD = KSIZE > 11 ? 8 : KSIZE > 9 ? 6 : CHANNELS == 1 || (KSIZE == 3 && DIGITS == 2) ? 5
    : KSIZE > 7 || DIGITS == 2 ? 6 : 4;
constexpr int WARPS = 4;                       // of a warpgroup
constexpr int COLUMNS = STRIP / PIECE * DIGITS / 2;  // of a product: half a strip, or all of it
constexpr int HALF = STRIP / 2;
constexpr int SIDE = (HALO_X + PIECE - 1) / PIECE;  // pieces that count beside those of the sums
constexpr bool IS_SPARSE = CHANNELS > 1;
constexpr bool IS_NARROW = DIGITS == 2 && IS_SPARSE && KSIZE == 5;  // see below, as for IS_OFF
constexpr bool IS_OFF = !IS_NARROW && HALO_X % PIECE > 0 && HALO_X % PIECE <= PIECE / 2;
constexpr int BESIDE = SIDE * PIECE - (IS_OFF ? PIECE / 2 : 0);
constexpr int ROW_BYTES = STRIP + 2 * BESIDE;  // in shared memory, from BESIDE before the strip on
constexpr int ROW_PIECES = ROW_BYTES / PIECE;
constexpr int STAGE_BYTES = 4 * ROW_BYTES;     // of four rows, that come together
constexpr int LOOK = (KSIZE + 2) / 4;          // stages that a step needs beyond its own
static_assert(STEPS_AHEAD > LOOK + IS_OFF, "what a step needs is there at once");
constexpr int STILL_COMING = STEPS_AHEAD - LOOK - 2;  // if IS_OFF: when those of a step, and of the next, are there

// ---- Which products. ------------------------------------------------------------------------------
//
// A step makes four rows of the answer in two passes.  With one digit a weight a pass is half a strip: its
// products have 16 sums of each of four rows, a warp's of one.  With two they have 8 sums of a warp, high and
// low digit of each, so that a lane has both: a pass is two rows of 16 sums each, or, where 8 sums need two
// pieces alone and that wastes less, all four rows of the left 8 or of the right.
//
// Of each row of the picture three pieces count for 16 sums, that of the sums and one on either side, or five
// of a large halo.  But of a halo of up to 8 samples, or 17 to 24, half of the outer pieces has no weight: if rows
// begin 8 bytes before a piece there is one less.  The copy engine moves 16 bytes from and to multiples of 16, so
// threads bring such rows.  It is worth it wherever it saves products, which it does but where 8 sums are made.
//
// A product has two pieces in its columns, those of a row.  A sparse one has four: the same of four rows or, if that
// leaves two rows over, all three or four of one row; for those that are none there are zeros.  So many products
// waste least; see window_bands.py.

constexpr bool TWO_ROWS = DIGITS == 2 && !IS_NARROW;
constexpr int BUFFERS = TWO_ROWS ? 2 : 1;      // of four rows of the answer
constexpr int ROWS = KSIZE + (TWO_ROWS ? 1 : 3);
constexpr int SINGLES = IS_SPARSE && SIDE == 1 + IS_OFF && ROWS % 4 == 2 ? 2 : 0;
constexpr int FOURS = SINGLES ? ROWS / 4 : (ROWS + 3) / 4;
constexpr int PIECES = IS_NARROW ? 2 : 2 * SIDE + 1 - IS_OFF;
constexpr int PLACES = SIDE == 1 ? 4 : 5;  // words: of pieces 0, 1 ... and, of three and four, of a row
constexpr int PRODUCTS = IS_SPARSE ? PIECES * FOURS + SINGLES : ROWS;
constexpr int LEFTS = IS_NARROW ? 2 * PRODUCTS : PRODUCTS;
constexpr int BANDS = LEFTS + DIGITS;
constexpr int MIN_BLOCKS = DIGITS == 2 ? (LEFTS <= 8 ? 4 : LEFTS <= 16 ? 3 : 2)
    : STRIP < 2048 || KSIZE > (CHANNELS == 1 ? 5 : 7) ? 3 : 4;

// Rows are in a ring, and four of them that a product takes lie one behind another: of the second pass of
// two rows they may begin with the last two, behind which the first two are found once more.
constexpr int RING_ROWS = STEPS_AHEAD * 4;
constexpr int TWICE = TWO_ROWS && IS_SPARSE ? 2 : 0;

// All of them for a pass, under way; first: the stage that a step begins with.
template <int PASS>
__device__ __forceinline__ void multiply(
    int (&sums)[COLUMNS / 2], Windows ring, int first, const uint4 (&lefts)[LEFTS],
    const unsigned (&places)[PLACES])
{
    constexpr int APART = DIGITS == 1 ? COLUMNS : IS_NARROW ? 1 : 0;  // pieces from pass to pass
    const uint4* const left = lefts + (IS_NARROW ? PASS * PRODUCTS : 0);
    const auto row = [=](int n) {
        const int at = 4 * first + n + (TWO_ROWS ? 2 * PASS : 0);
        return ring + (at < RING_ROWS ? at : at - RING_ROWS) * ROW_PIECES + PASS * APART;
    };
    begin_products();
    if constexpr (IS_SPARSE) {
        #pragma unroll
        for (int n = 0; n < PIECES * FOURS; ++n) {
            const int piece = n % PIECES, kept = piece + (IS_NARROW ? 2 * PASS : 0);
            multiply_add_windows<COLUMNS, true, ROW_BYTES>(
                sums, left[n], row(n / PIECES * 4) + piece, places[kept], n > 0);
        }
        #pragma unroll
        for (int n = 0; n < SINGLES; ++n)
            multiply_add_windows<COLUMNS, true, PIECE>(
                sums, left[PIECES * FOURS + n], row(4 * FOURS + n), places[PIECES % PLACES], true);
    } else {
        #pragma unroll
        for (int n = 0; n < ROWS; ++n)
            multiply_add_windows<COLUMNS, false, PIECE>(sums, left[n], row(n), 0, n > 0);
    }
    end_products();
}

// As async.cuh copies sixteen bytes, eight, between multiples of eight.
__device__ __forceinline__ void copy_async(uint2* shared, const void* global) {
#if ASYNC_COPIES
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
#else
    *shared = *static_cast<const uint2*>(global);
#endif
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

// ---- Sums of two digits. ---------------------------------------------------------------------------

// A warp's 8 sums of each column, to its half of a row of the answer.  A lane has one of these 8, of two of each
// eight columns: for g < 4 lane 4 g + t has sum 2 g, and lane 4 g + t + 16 the next.  The two exchange words of
// four, so that one has pairs of neighbours of the first eight columns, and the other of the next eight: 16 bytes
// hold 8 sums of column n and 8 of column n + 8.
__device__ __forceinline__ void write_sums(uint8* to, const int (&sums)[COLUMNS / 2], float by, float more) {
    const bool is_odd = threadIdx.x >= WARP / 2;
    unsigned words[COLUMNS / 16];
    #pragma unroll
    for (int m = 0; m < COLUMNS / 16; ++m) {
        float values[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {  // first those of column 2 t of both eights
            const int* const digits = sums + 8 * m + i % 2 * 4 + i / 2;
            values[i] = __fmaf_rn(static_cast<float>(digits[0] * 256 + digits[2]), by, more);
        }
        const unsigned own = round_bytes(values), other = __shfl_xor_sync(~0u, own, WARP / 2);
        words[m] = __byte_perm(own, other, is_odd ? 0x3726 : 0x5140);
    }
    #pragma unroll
    for (int m = 0; m < COLUMNS / 16; m += 4)
        write_blocks<(COLUMNS / 16 < 4 ? COLUMNS / 16 : 4)>(to + 128 * m, words + m);
}

// A chunk of 16 samples of two such halves.
__device__ __forceinline__ uint4 chunk_of(const uint8* halves, int column) {
    const uint8* const at = halves + column / 16 * 128 + column % 8 * 16 + column / 8 % 2 * 8;
    const uint2 left = *reinterpret_cast<const uint2*>(at), right = *reinterpret_cast<const uint2*>(at + HALF);
    return make_uint4(left.x, left.y, right.x, right.y);
}

// ---- Down a strip of the picture, or up. -----------------------------------------------------------

constexpr bool IS_ZERO = BORDER == ZERO || BORDER == CROP;

extern "C" __global__ void __launch_bounds__(WARP * WARPS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const uint4* __restrict__ bands, // [up][BANDS][WARPS * WARP]: which two of four, the weights, and of
                                     // two digits how sums become samples
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    // Rows of the answer; the ring of [RING_ROWS + TWICE][ROW_BYTES]; a barrier for each stage.
    DYNAMIC_SHARED(uint8, shared);
    const int lane = threadIdx.x, warp = __shfl_sync(~0u, threadIdx.y, 0), thread = warp * WARP + lane;
    const int samples = width * CHANNELS, stored = (samples + CHUNK - 1) / CHUNK * CHUNK;
    uint8* const ring = shared + BUFFERS * 4 * STRIP;
    barrier* const bars = reinterpret_cast<barrier*>(ring + (RING_ROWS + TWICE) * ROW_BYTES);

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
    const int from = max(x0 - BESIDE, 0), bytes = min(x0 + STRIP + BESIDE, stored) - from;
    const auto begin_row = [&](int i) {  // of stage i the warp's; where the border has none another, see below
        uint8* const to = ring + i % STEPS_AHEAD * STAGE_BYTES + warp * ROW_BYTES + BESIDE;  // where sample x0 lies
        const uint8* const row = row_at(4 * i + warp);
        const bool is_twice = warp < TWICE && i % STEPS_AHEAD == 0;
        if constexpr (IS_OFF) {  // first the strip, whole sectors, and then what is beside it
            const uint8* here = row + x0 + 8 * lane;
#ifndef CUDA_ON_CPU
            asm("" : "+l"(here));  // or the compiler works it out again for each copy
#endif
            const int end = from + bytes - x0 - 8 * lane, side = lane < BESIDE / 8 ? -BESIDE : STRIP - BESIDE;
            const bool has_side = lane < BESIDE / 4 && side < end && (side > 0 || x0 > 0);
            #pragma unroll 1
            for (int twice = 0; twice <= is_twice; ++twice) {
                uint8* const there = to + 8 * lane + twice * RING_ROWS * ROW_BYTES;
                #pragma unroll
                for (int n = 0; n < STRIP; n += 8 * WARP)
                    if (n < end) copy_async(reinterpret_cast<uint2*>(there + n), here + n);
                if (has_side) copy_async(reinterpret_cast<uint2*>(there + side), here + side);
            }
        } else {
            expect(bars + i % STEPS_AHEAD, is_twice ? 2 * bytes : bytes);
            bring(to + from - x0, row + from, bytes, bars + i % STEPS_AHEAD);
            if (is_twice) bring(to + from - x0 + RING_ROWS * ROW_BYTES, row + from, bytes, bars + i % STEPS_AHEAD);
        }
    };
    const auto begin_stage = [&](int i) {
        if ((IS_OFF || lane == 0) && i < stages) begin_row(i);
        if (IS_OFF) end_group();  // an empty one behind the last stage: so the wait is the same for all
    };
    if (!IS_OFF && thread < STEPS_AHEAD) begin_barrier(bars + thread, WARPS);
    if (!IS_OFF) __syncthreads();
    #pragma unroll 1
    for (int i = 0; i < STEPS_AHEAD; ++i) begin_stage(i);
    bands += (is_up ? BANDS : 0) * WARPS * WARP + thread;
    const uint4 four = bands[0], last = DIGITS == 1 ? four : bands[(BANDS - 1) * WARPS * WARP];
    const unsigned all_places[5] = {four.x, four.y, four.z, four.w, last.z};
    unsigned places[PLACES];
    #pragma unroll
    for (int i = 0; i < PLACES; ++i) places[i] = all_places[i];
    uint4 left[LEFTS];
    #pragma unroll
    for (int i = 0; i < LEFTS; ++i) left[i] = bands[(1 + i) * WARPS * WARP];

    // 2. What lies beyond a row's ends: a lane for each byte of a side, which nearly always is there, in the
    //    strip.  Of a small halo both sides are put at once.  Warp r does it for row r of four.
    const bool reaches_end = x0 + STRIP + HALO_X > samples, is_edge = x0 == 0 || reaches_end;
    int beyond[SIDE], source[SIDE];
    bool puts[SIDE], is_staged[SIDE];
    #pragma unroll
    for (int n = 0; n < SIDE; ++n) {
        const bool is_left = SIDE == 1 ? lane < PIECE : n == 0;
        const int away = lane % (SIDE == 1 ? PIECE : WARP);
        beyond[n] = is_left ? away - BESIDE : samples + away;
        puts[n] = is_left ? x0 == 0 && away < BESIDE && beyond[n] >= -HALO_X
            : reaches_end && away < HALO_X && beyond[n] < x0 + STRIP + BESIDE;
        source[n] = puts[n] ? border_sample(beyond[n], width) : 0;
        is_staged[n] = from <= source[n] && source[n] < from + bytes;
    }
    const auto wait_for_stage = [&](int i) {
        uint8* const row = ring + i % STEPS_AHEAD * STAGE_BYTES + warp * ROW_BYTES + BESIDE;
        const int copies = warp < TWICE && i % STEPS_AHEAD == 0 ? 2 : 1;
        if constexpr (IS_OFF) {
            if (i >= stages) return;
            wait_for_groups<STILL_COMING>();
            __syncwarp();
        } else {
            wait_for(bars + i % STEPS_AHEAD, i / STEPS_AHEAD & 1);
        }
        bool changes = is_edge;
        #pragma unroll
        for (int n = 0; n < SIDE; ++n) {
            if (!is_edge || !puts[n]) continue;
            const uint8 put = source[n] == OUTSIDE ? 0
                : is_staged[n] ? row[source[n] - x0] : row_at(4 * i + warp)[source[n]];
            for (int copy = 0; copy < copies; ++copy) row[copy * RING_ROWS * ROW_BYTES + beyond[n] - x0] = put;
        }
        if constexpr (IS_ZERO) {
            if (is_outside(4 * i) || is_outside(4 * i + 3)) {  // the same for all threads
                changes = true;
                __syncwarp();
                if (is_outside(4 * i + warp))
                    for (int n = lane; n < copies * ROW_PIECES; n += WARP)
                        reinterpret_cast<uint4*>(row - BESIDE)[n < ROW_PIECES ? n : n + (RING_ROWS - 1) * ROW_PIECES] =
                            make_uint4(0, 0, 0, 0);
            }
        }
        if (IS_OFF || changes) see_stores();
        if (!IS_OFF && changes) __syncthreads();  // else all do at the next barrier
    };

    // 3. Four rows of the answer at a time: sums of one pass are made while those of the other are stored.
    const Quotients quotients(lane);
    const float by = __uint_as_float(last.x), more = __uint_as_float(last.y);
    const auto row_of_answer = [&](int step, int row) { return shared + (TWO_ROWS * (step % 2) * 4 + row) * STRIP; };
    const auto finish = [&](const int (&sums)[COLUMNS / 2], int step, int pass) {
        if constexpr (DIGITS == 2) {
            const int row = TWO_ROWS ? 2 * pass + warp / 2 : warp, half = TWO_ROWS ? warp % 2 : pass;
            write_sums(row_of_answer(step, row) + half * HALF, sums, by, more);
            return;
        }
        if (lane == 0) wait_for_sent<1>();  // the same half of the rows before
        __syncwarp();
        uint8* const to = row_of_answer(step, warp) + pass * HALF;
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
            const int i = 4 * step + warp, x = x0 + pass * HALF, count = min(HALF, stored - x);
            if (i < rows && count > 0) send(row_of(dst, is_up ? y0 + rows - 1 - i : y0 + i, pitch) + x, to, count);
            end_sending();
        }
    };
    // Two digits' chunks are read again and stored by the threads.  Of two rows a pass, of which a warp has
    // half of one, that is behind the next barrier, of one pass for this step and of the other for the last.
    const auto store = [&](int step, int row, int column) {
        const int i = 4 * step + row, x = x0 + PIECE * column;
        if (i < rows && x < stored)
            write_chunk(row_of(dst, is_up ? y0 + rows - 1 - i : y0 + i, pitch), x,
                        chunk_of(row_of_answer(step, row), column));
    };
    const auto store_pass = [&](int step, int pass) {
        if (thread < 2 * COLUMNS) store(step, 2 * pass + thread / COLUMNS, thread % COLUMNS);
    };
    const Windows windows = windows_at(ring);
    #pragma unroll
    for (int i = 0; i < LOOK + IS_OFF; ++i) wait_for_stage(i);
    if (IS_OFF) __syncthreads();
    #pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        int one[COLUMNS / 2], other[COLUMNS / 2];
        if (!IS_OFF) wait_for_stage(step + LOOK);
        multiply<0>(one, windows, step % STEPS_AHEAD, left, places);
        multiply<1>(other, windows, step % STEPS_AHEAD, left, places);
        wait_for_products<1>(one);
        finish(one, step, 0);
        if (IS_OFF) wait_for_stage(step + LOOK + 1);  // for the next step, which has no barrier of its own for it
        wait_for_products<0>(other);
        __syncthreads();  // nobody needs the step's first stage any more
        begin_stage(step + STEPS_AHEAD);
        if constexpr (TWO_ROWS) {
            store_pass(step, 0);
            if (step > 0) store_pass(step - 1, 1);
        }
        finish(other, step, 1);
        if constexpr (IS_NARROW) {
            __syncwarp();
            #pragma unroll
            for (int n = 0; n < COLUMNS / WARP; ++n) store(step, warp, n * WARP + lane);
            __syncwarp();
        }
    }
    if constexpr (TWO_ROWS) {
        __syncthreads();
        store_pass(steps - 1, 1);
    } else if (DIGITS == 1 && lane == 0) {
        wait_for_sent<0>();
    }
}
