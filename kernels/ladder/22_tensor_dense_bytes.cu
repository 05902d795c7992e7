/*---
title   = "Tensor cores, bytes, 2D"
idea    = "Bytes times 8-bit digits of the weights, summed as integers: one matrix product makes 16 neighbouring sums of two rows from several rows of the picture at once, so that few zeros are multiplied."
lesson  = """
Weights that are no column times a row need K² products a sample, which only tensor cores have time for.  They multiply bytes
twice as fast as numbers of half precision, and sum them up as integers, without any rounding.  So the weights become integers,
too, of up to three bytes each, most significant first: a product for each of these digits, and 65536, 256 and 1 times the sums
are the answer.  What counts is how few digits will do.  Sixteen bits are two less than float32's rounding would ask for, and
two things make up for these: of thousands of scales that one is taken with which the weights lose least by rounding, and
errors of both signs in equal parts, since samples are never negative and one half takes away what the other adds.  Nearly all
weights need two digits then, those of a box or of Sobel's operator one.  The band of one row of weights has K numbers and many
zeros in it.  Here a product's rows are sums of a small rectangle, 8 samples wide and 2 rows tall, and a block of the picture
counts for all of them: with 9 × 9 weights, ten rows of 16 samples instead of two times nine rows of 24.  Interleaved channels
leave all but a third of such a band empty, and again tensor cores leave out two of every four numbers."""
after   = "tensor_tile_bytes"
weights = "fixed_point"
includes = ["wide", "async", "tensor", "digits", "lines"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as shared."],
    ["KSIZE <= 15", "Beyond a size of 15 most of what would be multiplied here is zero. Choose another implementation, such as tensor_split."],
]
capability = [8, 0]
own_block = "A warp owns 128 samples of a row and walks down the picture, with seven others beside it."
# Sums are exact; what rounding the weights to integers may lose is all of it but 8, see digit_bands.py.
chain_length = "KSIZE * KSIZE + 40"
error_factor = 2.0

[[passes]]
block  = ["32", "8"]
# So many blocks a multiprocessor as its registers hold, and as tall as that allows; of a small picture
# one of up to twelve rows, since a halo's rows are read and multiplied once more.
covers = ["1024", """max(4, -(-HEIGHT // max(1, MULTIPROCESSORS * (3 if KSIZE <= 3 else 2)
        // -(-WIDTH * CHANNELS // 1024))),
    min(12, -(-HEIGHT // max(1, MULTIPROCESSORS // -(-WIDTH * CHANNELS // 1024)))))"""]
rows_by = "1"
shared_bytes = "16 * (256 + 96 * (KSIZE + 1) + 8 + 288 * (8 + (KSIZE + 2) // 4))"
# A block reads four rows at a time, with two chunks on either side of its own; to wrap, also what lies
# beyond.
loads.picture = """((up(WIDTH * CHANNELS, 16) + (BLOCKS_X > 1) * (
            64 * (BLOCKS_X - 1) - max(0, 32 + 1024 * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, 16)))
        + (2 * HALO_X if BORDER == 'WRAP' and BLOCKS_X > 1 else 0))
    * ((segments(1) - 1) * up(parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4)
        + up(HEIGHT - (segments(1) - 1) * parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4)))"""
loads.weights = "KSIZE * KSIZE * BLOCKS_X * segments(1)"
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
# For four rows of a line of 128 samples four tiles, each of as many products of 16×8×32 as `steps_of`
# below says, for each digit; then a multiply-add for each digit, and one to scale.
flops = """(2 * parts(WIDTH * CHANNELS, 128)
    * ((segments(1) - 1) * parts(parts(HEIGHT, BLOCKS_Y), 4)
        + parts(HEIGHT - (segments(1) - 1) * parts(HEIGHT, BLOCKS_Y), 4))
    * (512 * (DIGITS + 1) + 4 * 4096 * DIGITS * min(
        parts(KSIZE, (16 if CHANNELS > 1 else 8)
            // (4 if KSIZE == 1 else 8 if (HALO_X + 3) // 4 + (HALO_X + 19) // 4 <= 8 else 16))
        + 99 * ((HALO_X + 3) // 4 + (HALO_X + 19) // 4 > 16),
        parts(KSIZE + 1, (16 if CHANNELS > 1 else 8)
            // (4 if (HALO_X + 3) // 4 + (HALO_X + 11) // 4 <= 4
                else 8 if (HALO_X + 3) // 4 + (HALO_X + 11) // 4 <= 8 else 16)))))"""
---*/

__constant__ float UNDO[1];                    // turns sums of integers into samples

constexpr int ROW_WORDS = ROW_CHUNKS * 4;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int MIN_BLOCKS = 1;                  // of others there is no room in shared memory
#else
constexpr int MIN_BLOCKS = KSIZE <= 3 ? 3 : 2;
#endif

// ---- Which products. ------------------------------------------------------------------------------
//
// A warp's line is eight blocks of 16 samples side by side.  A product has 16 sums of each of them in
// its rows: one row of COLUMNS = 16 samples, or two of the left or of the right 8.  Its columns, one a
// block, are bytes of the picture that count for these, as words of four: SPAN of a row, the first of
// them LEFT before the sums' own, and then those of the next rows.  So lane 4 g + t reads word
// 4 g + t, or so many words further, and has what the product wants of column g.

constexpr int LEFT = (HALO_X + 3) / 4;         // words of a halo
constexpr int STEP_WORDS = SPARSE_DIGITS ? 16 : 8;    // of a product's columns

// Words of a row that matter to so many sums side by side; a power of two.
__device__ constexpr int span_of(int columns) {
    int span = 4;
    while (span < LEFT + (columns + HALO_X + 3) / 4) span *= 2;
    return span;
}
// Products for all rows that matter.
__device__ constexpr int steps_of(int columns) {
    if (span_of(columns) > STEP_WORDS) return 1000;
    const int rows_a_step = STEP_WORDS / span_of(columns);
    return (16 / columns + KSIZE - 1 + rows_a_step - 1) / rows_a_step;
}
constexpr int COLUMNS = steps_of(16) < steps_of(8) ? 16 : 8;
constexpr int TILE_ROWS = 16 / COLUMNS;
constexpr int SPAN = span_of(COLUMNS);
constexpr int STEPS = steps_of(COLUMNS);
constexpr int ROWS_A_STEP = STEP_WORDS / SPAN;
constexpr int LANE_WORDS = SPAN / 4;                // of a row, a lane's
static_assert(STEPS <= KSIZE + 1, "shared memory has room for so many");

// Four rows of the answer at a time: tiles of sums one above another, and side by side.
constexpr int DOWN = 4 / TILE_ROWS, ACROSS = TILE_ROWS;
constexpr int NEEDED = 4 + KSIZE - 1;          // rows of the picture
// A lane's weights stay in registers if there are few; else they come from shared memory, for all of
// these tiles at once.  Tiles side by side are made together where there are registers for it.
constexpr bool STAYS = STEPS <= (DIGITS == 3 ? 2 : 5);
constexpr int AT_ONCE = KSIZE <= 3 ? 1 : ACROSS;

// ---- The weights. ---------------------------------------------------------------------------------

// Sum `place` of 16 is for a sample of its tile: so a lane, with rows g and g + 8 as places 2 g and
// 2 g + 1, gets sums that are neighbours.
__device__ __forceinline__ int row_of_sum(int place) { return place / COLUMNS; }
__device__ __forceinline__ int column_of_sum(int place) { return place % COLUMNS; }

// How far the first sample of word `word` of a product's columns is from a sum's column.
__device__ __forceinline__ int away(int word, int place) {
    return 4 * (word % SPAN - LEFT) - column_of_sum(place);
}

// The two places in a word, one of a row's fours, whose samples may be of the sum's channel.
__device__ __forceinline__ int first_kept(int word, int place) {
    const int channel = (64 * CHANNELS - away(word, place)) % CHANNELS;
    return CHANNELS == 4 && channel == 3 ? 2 : channel;
}
__device__ __forceinline__ int second_kept(int first) {
    return CHANNELS == 2 ? first + 2 : CHANNELS == 3 && first == 1 ? 2 : 3;
}

// What a lane tells of them.
__device__ __forceinline__ unsigned places_of(int lane) {
    unsigned places = 0;
    if (SPARSE_DIGITS)
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int first = first_kept(lane / 2 % 2 * 8 + i, lane / 4 * 2 + lane % 2);
            places |= (first | second_kept(first) << 2) << 4 * i;
        }
    return places;
}

// The integer between a sum and sample `byte` of a word, of all rows that product `step` has; 0 where
// no tap is.
__device__ __forceinline__ int weight_at(const int* weights, int step, int word, int byte, int place) {
    const int y = step * ROWS_A_STEP + word / SPAN - row_of_sum(place);
    const int x = away(word, place) + byte + HALO_X;
    if (is_alpha(column_of_sum(place))) return x == HALO_X && y == RADIUS;  // its one weight is 1
    const bool is_tap = 0 <= y && y < KSIZE && 0 <= x && x <= 2 * HALO_X && x % CHANNELS == 0;
    return is_tap ? weights[y * KSIZE + x / CHANNELS] : 0;
}

// Digit `number` of an integer, the last one 0, in the low bits.  Signed ones are half as large, and so
// where the last digits would be too large there is one more of the next.
__device__ __forceinline__ int digit_of(int integer, int number) {
    const int carry = SIGNED ? 0x808080 & (1 << 8 * number) - 1 : 0;
    return (integer + carry) >> 8 * number & 255;
}

// The left matrices of all products, as the lanes hold them, by all threads: table[step][digit][lane],
// the most significant digit first.
__device__ __forceinline__ void write_table(unsigned* table, const int* weights, int thread) {
    #pragma unroll 1
    for (int at = thread; at < STEPS * WARP * 4; at += WARP * WARPS) {
        const int part = at % 4, lane = at / 4 % WARP, step = at / 4 / WARP;
        const int place = lane / 4 * 2 + part % 2;
        unsigned digits[DIGITS] = {};
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int kept = part / 2 * 16 + lane % 4 * 4 + i;
            const int word = SPARSE_DIGITS ? kept / 2 : kept / 4;
            const int first = first_kept(word, place);
            const int byte = !SPARSE_DIGITS ? i : i % 2 == 0 ? first : second_kept(first);
            const int weight = weight_at(weights, step, word, byte, place);
            #pragma unroll
            for (int d = 0; d < DIGITS; ++d)
                digits[d] |= static_cast<unsigned>(digit_of(weight, DIGITS - 1 - d)) << 8 * i;
        }
        #pragma unroll
        for (int d = 0; d < DIGITS; ++d) table[((step * DIGITS + d) * WARP + lane) * 4 + part] = digits[d];
    }
}

// What a lane holds of them: all, or what it reads when it needs it.
struct Weights {
    const uint4* table;
    uint4 held[STAYS ? STEPS : 1][DIGITS];
    unsigned places;

    __device__ __forceinline__ Weights(const uint4* table, int lane) : table(table + lane), places(places_of(lane)) {
        if constexpr (STAYS)
            #pragma unroll
            for (int i = 0; i < STEPS * DIGITS; ++i) held[i / DIGITS][i % DIGITS] = this->table[i * WARP];
    }
    __device__ __forceinline__ uint4 digit(int step, int d) const {
        return STAYS ? held[STAYS ? step : 0][d] : table[(step * DIGITS + d) * WARP];
    }
};

// ---- Sums. ----------------------------------------------------------------------------------------

// An integer that is added to the bits of a float of 2^23 or more is added to that number, if the sum
// is still less than 2^24: sums that begin there are floats without a conversion.  Signed ones begin in
// the middle.
constexpr int LARGEST_SUM = KSIZE * KSIZE * (SIGNED ? 128 : 255) * 255;
constexpr int START = SIGNED ? 3 << 22 : 1 << 23;
constexpr int START_BITS = SIGNED ? 0x4B400000 : 0x4B000000;
constexpr bool BEGINS_AS_FLOAT = LARGEST_SUM < (1 << 24) - START;

__device__ __forceinline__ float scale_of(int digit) { return static_cast<float>(1 << 8 * (DIGITS - 1 - digit)); }
constexpr float STARTS = static_cast<float>(START * (((1LL << 8 * DIGITS) - 1) / 255));  // of all digits

// Sums of all digits as one number: those of the most significant digits are first.
__device__ __forceinline__ float as_one(const int (&digits)[DIGITS][4], int i) {
    float value = 0.0f;
    if constexpr (BEGINS_AS_FLOAT) {
        #pragma unroll
        for (int d = 0; d < DIGITS; ++d)
            value = __uint_as_float(digits[d][i]) * scale_of(d) + (d == 0 ? -STARTS : value);
    } else {
        #pragma unroll
        for (int d = DIGITS - 1; d >= 0; --d) value += static_cast<float>(digits[d][i]) * scale_of(d);
    }
    return value;
}

// Four rows of the answer.  fours: a lane's first word of each four rows of the picture, in a ring.
// Of each tile, those of the left side first, two sums of two blocks, as bytes.
__device__ __forceinline__ void filter_four(
    unsigned (&answer)[4], const unsigned* const (&fours)[(NEEDED + 3) / 4], const Weights& weights,
    float undo, bool has_alpha, const int (&start)[4])
{
    #pragma unroll
    for (int side = 0; side < ACROSS; side += AT_ONCE) {
        int sums[AT_ONCE][DOWN][DIGITS][4];
        // Rows of the picture, one after another; beyond those that matter, where weights are 0, nothing.
        unsigned words[AT_ONCE][((DOWN - 1) * TILE_ROWS + STEPS * ROWS_A_STEP) * LANE_WORDS];
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            const int known = step == 0 ? 0 : (DOWN - 1) * TILE_ROWS + step * ROWS_A_STEP;
            #pragma unroll
            for (int row = known; row < (DOWN - 1) * TILE_ROWS + (step + 1) * ROWS_A_STEP; ++row)
                #pragma unroll
                for (int i = 0; i < AT_ONCE * LANE_WORDS; ++i)
                    words[i / LANE_WORDS][row * LANE_WORDS + i % LANE_WORDS] = row >= NEEDED ? 0
                        : fours[row < NEEDED ? row / 4 : 0][row % 4 * ROW_WORDS + 2 * (side + i / LANE_WORDS) + 4 * (i % LANE_WORDS)];
            #pragma unroll
            for (int d = 0; d < DIGITS; ++d) {
                const uint4 left = weights.digit(step, d);
                #pragma unroll
                for (int i = 0; i < AT_ONCE * DOWN; ++i) {
                    int (&sum)[4] = sums[i / DOWN][i % DOWN][d];
                    const unsigned* const right = words[i / DOWN] + (i % DOWN * TILE_ROWS + step * ROWS_A_STEP) * LANE_WORDS;
                    if (step == 0) multiply_add_bytes<STEP_WORDS / 4>(sum, left, weights.places, right, start);
                    else multiply_add_bytes<STEP_WORDS / 4>(sum, left, weights.places, right, sum);
                }
            }
        }
        #pragma unroll
        for (int i = 0; i < AT_ONCE * DOWN; ++i) {
            float values[4];
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                const bool is_alpha = HAS_ALPHA && k >= 2 && has_alpha;
                values[k] = as_one(sums[i / DOWN][i % DOWN], k) * (is_alpha ? 1.0f : undo) + (is_alpha ? 0.0f : OFFSET);
            }
            answer[side * DOWN + i] = round_bytes(values);
        }
    }
}

// Four rows of a line, of which each lane holds sums of four tiles, as they belong into memory: lane
// 8 r + n gets block n of row r.  answers: 32 chunks, the warp's.
__device__ __forceinline__ uint4 as_chunks(const unsigned (&tiles)[4], uint4* answers) {
    const int lane = threadIdx.x;
    write_blocks<4>(answers, tiles);
    __syncwarp();
    uint4 chunk;
    if constexpr (COLUMNS == 16) {
        chunk = answers[lane];
    } else {  // of two tiles, that on the left and that on the right, the upper half or the lower one
        const uint2* const half = reinterpret_cast<const uint2*>(answers + lane / 16 * 8 + lane % 8) + lane / 8 % 2;
        const uint2 left = half[0], right = half[2 * 16];
        chunk = make_uint4(left.x, left.y, right.x, right.y);
    }
    __syncwarp();  // the next may be written
    return chunk;
}

// ---- Rows in shared memory. -----------------------------------------------------------------------

constexpr int STAGE_ROWS = 16;                 // of the answer, for which rows are waited for together
constexpr int AHEAD = 1;                       // stages on their way
constexpr int STAGE_FOURS = STAGE_ROWS / 4;
constexpr int MORE_FOURS = (KSIZE + 2) / 4;    // that the last rows of a stage need beyond it
constexpr int MORE_ROWS = 4 * MORE_FOURS;
constexpr int FOURS = (1 + AHEAD) * STAGE_FOURS + MORE_FOURS;  // in the ring
constexpr int FOUR_CHUNKS = 4 * ROW_CHUNKS;
constexpr int BESIDE = 2;                      // chunks on either side of a block: 32 bytes, which come at once
static_assert(4 * LEFT <= BESIDE * CHUNK && 4 * (SPAN - LEFT) - COLUMNS <= BESIDE * CHUNK, "what sums read");

extern "C" __global__ void __launch_bounds__(WARP * WARPS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const int* __restrict__ weights, // (KSIZE, KSIZE): times UNDO they are the weights
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int lane = threadIdx.x, warp = threadIdx.y, samples = width * CHANNELS;
    // Four lines for each warp, the weights, and a ring of [FOURS][4][ROW_CHUNKS].
    DYNAMIC_SHARED(uint4, shared);
    uint4* const answers = shared + warp * WARP;
    uint4* const table = shared + WARPS * WARP;
    uint4* const ring = table + STEPS * DIGITS * WARP + LINE_CHUNKS;

    // Rows y0 to y0 + rows - 1 of a strip, for which as many and a halo are read, from `top` on.
    const int share = (end_row - first_row + gridDim.y - 1) / gridDim.y;
    const int left = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const int top = y0 - RADIUS, count = (rows + KSIZE - 1 + 3) / 4 * 4;

    // 1. The first rows begin to arrive, four at a time: of row r of these, chunk n of the warp's line by this lane.
    const int r = lane / 8, n = lane % 8;
    const Lines<BESIDE> lines(src, height, width, pitch, left);
    const auto begin_rows = [&](int coming, int end, int coming_slot) {  // the first goes there
        #pragma unroll 1
        for (; coming < min(end, count); coming += 4) {
            uint4* const to = ring + coming_slot * FOUR_CHUNKS + r * ROW_CHUNKS;
            const int from_y = border_index(top + coming + r, height);
            if (from_y != OUTSIDE) lines.begin(to, row_of(src, from_y, pitch) + left);
            else lines.clear(to);
            coming_slot = coming_slot + 1 < FOURS ? coming_slot + 1 : 0;
        }
        end_group();  // an empty one at the end: so the wait below is the same for all rows
    };
    #pragma unroll 1
    for (int i = 0; i < AHEAD; ++i) {
        const int begin = i == 0 ? 0 : i * STAGE_ROWS + MORE_ROWS;
        begin_rows(begin, (i + 1) * STAGE_ROWS + MORE_ROWS, begin / 4);
    }

    // 2. The weights, by way of where answers will be.
    int* const integers = reinterpret_cast<int*>(shared);
    static_assert(KSIZE * KSIZE <= WARPS * WARP && sizeof(int) * KSIZE * KSIZE <= sizeof(uint4) * WARPS * WARP, "");
    const int thread = warp * WARP + lane;
    if (thread < KSIZE * KSIZE) integers[thread] = weights[thread];
    __syncthreads();
    write_table(reinterpret_cast<unsigned*>(table), integers, thread);
    __syncthreads();
    const Weights band(table, lane);
    const bool has_alpha = is_alpha(2 * (lane / 4) + 1);  // the second of each two sums
    const float undo = UNDO[0];
    int start[4];
    #pragma unroll
    for (int& each : start) {
        each = BEGINS_AS_FLOAT ? START_BITS : 0;
#ifndef CUDA_ON_CPU
        if (BEGINS_AS_FLOAT) asm volatile("" : "+r"(each));  // stays where it is, four registers for all
#endif
    }

    // 3. Down the rows, four of the answer at a time.
    const int to_x = lines.x0 + n * CHUNK;
    const int stored = to_x < samples ? rows : 0;  // rows that this lane stores
    int slot = 0;
    #pragma unroll 1
    for (int first = 0; first < rows; first += STAGE_ROWS) {
        wait_for_groups<AHEAD - 1>();  // this thread's chunks of these rows are here,
        __syncthreads();  // those of all, and all are done with the rows before: others take their place
        const int begin = first == 0 ? 0 : first + MORE_ROWS, end = min(first + STAGE_ROWS + MORE_ROWS, count);
        begin_rows(first + AHEAD * STAGE_ROWS + MORE_ROWS, first + (1 + AHEAD) * STAGE_ROWS + MORE_ROWS,
                   slot < STAGE_FOURS ? slot + FOURS - STAGE_FOURS : slot - STAGE_FOURS);
        lines.put_beyond([&](const Lines<BESIDE>::Put& put) {
            #pragma unroll 1
            for (int i = begin + threadIdx.x / 8; i < end; i += 4)
                put(ring + i / 4 % FOURS * FOUR_CHUNKS + i % 4 * ROW_CHUNKS, top + i);
        });
        if (lines.x0 >= samples) continue;  // the whole warp

        #pragma unroll 1
        for (int i = first; i < min(first + STAGE_ROWS, rows); i += 4) {
            const unsigned* fours[(NEEDED + 3) / 4];
            #pragma unroll
            for (int k = 0; k < (NEEDED + 3) / 4; ++k) {
                const int at = slot + k < FOURS ? slot + k : slot + k - FOURS;
                fours[k] = reinterpret_cast<const unsigned*>(ring + at * FOUR_CHUNKS + warp * LINE_CHUNKS) + lane - LEFT;
            }
            unsigned answer[4];
            filter_four(answer, fours, band, undo, has_alpha, start);
            const uint4 filtered = as_chunks(answer, answers);
            if (i + r < stored) write_chunk(row_of(dst, y0 + i + r, pitch), to_x, filtered);
            slot = slot + 1 < FOURS ? slot + 1 : 0;
        }
    }
}
