/*---
title   = "Tensor cores, warpgroups"
idea    = "Four warps together multiply by matrices that stay in shared memory: samples as halves are there once and for all, and the sums along x, in registers, are at once the left matrix of the products down the columns."
lesson  = """
tensor_separable is slow where weights are many: every warp loads its samples from shared memory, as blocks of halves, and the \
weights' blocks again with them, and between the two products it waits.  A warpgroup's products read their right matrix from shared \
memory themselves.  Along x that matrix is the picture: all threads make two halves of each sample, which lie there as pieces of \
eight samples of 32 rows, and the weights are the left matrix, in registers for good; of a warp's 16 rows eight are sums with \
the weights' high halves and eight with what these lost, in the same lane, which adds the two.  What a lane holds of these sums \
is, lane by lane, what it has to hold of the left matrix of the next product, so they go on from register to register, as two \
halves again.  Down the columns the right matrix is a band of the column's weights.  It goes round, and the sums of rows under \
way stay where they are: of a ring of them the oldest sixteen are done, stored, and begin anew.  The copy engine brings 32 rows \
a step, three steps ahead, and as rows and halves have barriers of their own, no warp waits for the slowest at each step."""
after   = "tensor_separable"
weights = "warpgroup_bands"
includes = ["tensor", "copies", "warpgroups"]
requires = [
    ["SAMPLE == 'float32' or SAMPLE == 'float16'", "Floats become halves here, and these samples are {SAMPLE}. Choose another implementation, such as tensor_separable."],
    ["CHANNELS == 1", "A piece of a row is eight neighbours of one channel here, and this picture has {CHANNELS}. Choose another implementation, such as tensor_separable."],
    ["RANK == 1", "These weights are not separable: they are the sum of {RANK} separable ones. Choose another implementation, such as shared."],
    ["KSIZE <= 63", "A thread keeps the sums of all rows that {KSIZE} weights cover in registers here, and has registers for 63. Choose another implementation, such as tensor_separable."],
]
finite_only = true
strips_differ = true  # the power of two is a block's
capability = [9, 0]
architecture_specific = true
quick = "KSIZE >= (25 if SAMPLE == 'float32' else 33) and WIDTH * HEIGHT >= 1 << 22"  # measured on an H200
own_block = "Sixteen warps walk down a strip of 256 columns."
chain_length = "2 * KSIZE + 24"  # 24: what two halves lose of samples, sums, weights and their products
error_factor = 2.0               # tensor cores cut sums off, they do not round them

[[passes]]
block  = ["32", "16"]
covers = ["256", """32 * parts(parts(HEIGHT, 32),
    blocks_down(parts(WIDTH, 256), MULTIPROCESSORS, parts(HEIGHT, 32), parts(GROUP_LAG, 32)))"""]
rows_by = "32"
# The column's band, twice; two stages of halves; three of rows as they came; barriers and peaks.
shared_bytes = "128 * (GROUP_LAG + 16) + (132 * HALVES + 96 * SAMPLE_BYTES) * (256 + 2 * GROUP_SIDE) + 96 * 16 + 128"
# Whole steps of 32 rows with what is beside the strip; from the other end what wraps around; a sample a thread to guess by.
loads.picture = """(32 * (parts(HEIGHT, 32) + parts(GROUP_LAG, 32) * segments(32)) * (up(WIDTH, CHUNK) + (BLOCKS_X > 1) * (
        2 * GROUP_SIDE * (BLOCKS_X - 1) - max(0, GROUP_SIDE + 256 * (BLOCKS_X - 1) - up(WIDTH, CHUNK))
        + (BORDER == 'WRAP') * (2 * RADIUS + max(0, min(RADIUS, GROUP_SIDE - 1 - (WIDTH - 1) % 256)))))
    + 512 * BLOCKS_X * segments(32))"""
loads.weights = "(2048 * (2 + GROUP_SIDE // 8) + 32 * (GROUP_LAG + 16)) * BLOCKS_X * segments(32)"
stores = { picture = "WIDTH * HEIGHT" }
# For 32 rows of 64 columns products of 64×32×16, two for each half, and three of 64 by so many rows as are under way
# by 16, twice.
flops = """(2 * 4 * (2 * HALVES * 32768 * (2 + GROUP_SIDE // 8) + 6 * 1024 * (GROUP_LAG + 16))
    * (parts(HEIGHT, 32) + parts(GROUP_LAG, 32) * segments(32)) * BLOCKS_X)"""
---*/

__constant__ float UNDO[1];

constexpr int GROUPS = 4, WARPS = 4 * GROUPS, THREADS = WARP * WARPS;
constexpr int STRIP = 64 * GROUPS;                    // columns that a block writes
constexpr int SIDE = (RADIUS + 7) / 8 * 8;            // and stages on either side
constexpr int STAGED = STRIP + 2 * SIDE, PIECES = STAGED / 8;
constexpr int ALONG = (32 + 2 * SIDE) / 16;           // products along x, for 32 columns
constexpr int ROWS = 32;                              // of the picture, in a step
constexpr int PARTS = FITS_HALF ? 1 : 2;              // halves a sample
constexpr int BETWEEN = 16 * (ROWS + 1);              // bytes from piece to piece: 32 rows, and one for other banks
constexpr int PLANE = PIECES * BETWEEN, STAGE = PARTS * PLANE;
constexpr int RAW_STAGES = 3;
constexpr int RAW_ROW = STAGED * sizeof(sample) + 16, RAW_STAGE = ROWS * RAW_ROW;  // bytes
constexpr int SUMS = KSIZE > 17 ? (KSIZE + 14) / 16 * 16 + 16 : 32;  // rows of the answer under way,
constexpr int PHASES = SUMS / 16, LAG = SUMS - 16;    // the first of them LAG rows above a step's first and RADIUS
constexpr int TURN = PHASES % 2 ? PHASES : PHASES / 2;  // steps until the ring is where it was
constexpr int BAND = 64 * SUMS;                       // bytes: as many rows twice, of 16 halves
// Samples become less than 2^ROOM by a guess, from some of the first, and may become 2^SPARE times as large.
constexpr int ROOM = 4, SPARE = 7;

extern "C" __global__ void __launch_bounds__(THREADS, 1) convolve(
    const sample* __restrict__ src,     // (height, width)
    sample* __restrict__ dst,           // the same
    const uint4* __restrict__ weights,  // [ALONG][128], as lanes of a warpgroup hold the row's; then of the column's
                                        // high halves and low ones a band, as it lies in shared memory
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint8, shared);
    uint8* const halves = shared + 2 * BAND;                             // [2][PARTS][PIECES][ROWS and one][8]
    uint8* const raws = halves + 2 * STAGE;                              // [RAW_STAGES][ROWS], as they came
    barrier* const come = reinterpret_cast<barrier*>(raws + RAW_STAGES * RAW_STAGE);  // [RAW_STAGES]: rows are there,
    barrier *const full = come + RAW_STAGES, *const empty = full + 2;    // [2]: their halves are, and are used no more
    unsigned* const peaks = reinterpret_cast<unsigned*>(empty + 2);      // [2], of what is too large, and that to guess by
    const int lane = threadIdx.x, warp = __shfl_sync(~0u, threadIdx.y, 0), thread = warp * WARP + lane;
    const int g = lane / 4, t = lane % 4;

    const int share = ((end_row - first_row + gridDim.y - 1) / gridDim.y + ROWS - 1) / ROWS * ROWS;
    const int x0 = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const int steps = (rows + ROWS - 1) / ROWS + (LAG + ROWS - 1) / ROWS;
    const int from = max(x0 - SIDE, 0), to = min(x0 + STRIP + SIDE, width);  // of a row, what is brought
    const auto y_of = [&](int step) { return y0 - RADIUS + ROWS * step + lane; };  // a lane's row

    if (thread < 2) begin_barrier(full + thread, WARPS), begin_barrier(empty + thread, WARPS);
    if (thread < RAW_STAGES) begin_barrier(come + thread, WARP);
    if (thread < 3) peaks[thread] = 0;
    uint4 left[ALONG];
    #pragma unroll
    for (int i = 0; i < ALONG; ++i) left[i] = weights[i * 128 + thread % 128];
    for (int i = thread; i < 2 * BAND / 16; i += THREADS) reinterpret_cast<uint4*>(shared)[i] = weights[ALONG * 128 + i];
    see_stores();
    __syncthreads();
    const float seen = row_of(src, min(y0 + thread % ROWS, height - 1), pitch)[min(x0 + thread / 2, width - 1)];
    const float first_peak = largest_of_warp(fabsf(seen));
    if (lane == 0) atomicMax(peaks + 2, __float_as_uint(first_peak));
    __syncthreads();
    int exponent = exponent_for(__uint_as_float(peaks[2]), ROOM, UNDO[0]);
    const auto too_large = [&](float peak) { return exponent > exponent_for(peak, ROOM + SPARE, UNDO[0]); };

    // Rows begin to arrive, by one warp, a lane a row.
    const auto begin_rows = [&](int step) {
        if (step >= steps || warp != step % WARPS) return;
        const int from_y = border_index(y_of(step), height);
        const unsigned bytes = from_y == OUTSIDE ? 0 : ((to - from) * sizeof(sample) + 15) / 16 * 16;
        uint8* const row = raws + step % RAW_STAGES * RAW_STAGE + lane * RAW_ROW;
        expect(come + step % RAW_STAGES, bytes);
        if (bytes > 0)
            bring(row + (from - x0 + SIDE) * sizeof(sample), row_of(src, from_y, pitch) + from, bytes, come + step % RAW_STAGES);
    };
    // Halves of them: a lane of its row, each warp every sixteenth piece; some have one more, by turns.  Returns the
    // largest of the warp's samples.
    const auto make_halves = [&](int step) {
        const sample* const row = reinterpret_cast<const sample*>(raws + step % RAW_STAGES * RAW_STAGE + lane * RAW_ROW);
        const int from_y = border_index(y_of(step), height);
        const float scale = power_of_two(exponent);
        float peak = 0.0f;
        #pragma unroll 1
        for (int piece = (warp + 4 * step) % WARPS; piece < PIECES; piece += WARPS) {
            const int x = x0 - SIDE + 8 * piece;
            uint8* const here = halves + step % 2 * STAGE + piece * BETWEEN + lane * 16;
            const sample* const eight = row + 8 * piece;
            float values[8];
            if (from_y != OUTSIDE && from <= x && x + 8 <= to) {
                if constexpr (PARTS == 1) {  // as they came
                    const uint4 pairs = *reinterpret_cast<const uint4*>(eight);
                    const unsigned words[4] = {pairs.x, pairs.y, pairs.z, pairs.w};
                    #pragma unroll
                    for (int k = 0; k < 8; ++k) peak = fmaxf(peak, fabsf(half_of(words[k / 2], k % 2)));
                    *reinterpret_cast<uint4*>(here) = pairs;
                    continue;
                } else {
                    const float4 one = reinterpret_cast<const float4*>(eight)[0], two = reinterpret_cast<const float4*>(eight)[1];
                    values[0] = one.x, values[1] = one.y, values[2] = one.z, values[3] = one.w;
                    values[4] = two.x, values[5] = two.y, values[6] = two.z, values[7] = two.w;
                }
            } else {
                #pragma unroll
                for (int k = 0; k < 8; ++k) {  // what is beyond the border's reach matters to none
                    const bool counts = from_y != OUTSIDE && -RADIUS <= x + k && x + k < width + RADIUS;
                    const int from_x = counts ? border_index(x + k, width) : OUTSIDE;
                    values[k] = from_x == OUTSIDE ? 0.0f : from <= from_x && from_x < to ? row[from_x - x0 + SIDE]
                        : row_of(src, from_y, pitch)[from_x];
                }
            }
            #pragma unroll
            for (int k = 0; k < 8; ++k) {
                peak = fmaxf(peak, fabsf(values[k]));
                if constexpr (PARTS == 2) values[k] *= scale;
            }
            uint4 high, low;
            high.x = to_pair(values[0], values[1]), high.y = to_pair(values[2], values[3]);
            high.z = to_pair(values[4], values[5]), high.w = to_pair(values[6], values[7]);
            *reinterpret_cast<uint4*>(here) = high;
            if constexpr (PARTS == 1) continue;
            low.x = rest_of(high.x, values[0], values[1]), low.y = rest_of(high.y, values[2], values[3]);
            low.z = rest_of(high.z, values[4], values[5]), low.w = rest_of(high.w, values[6], values[7]);
            *reinterpret_cast<uint4*>(here + PLANE) = low;
        }
        return largest_of_warp(peak);
    };
    const auto offer_halves = [&](int step) {
        if (step >= steps) return;
        wait_for(come + step % RAW_STAGES, step / RAW_STAGES & 1);
        if (step >= 2) wait_for(empty + step % 2, (step / 2 - 1) & 1);
        const float peak = make_halves(step);
        if (too_large(peak) && lane == 0) atomicMax(peaks + step % 2, __float_as_uint(peak));
        see_stores();
        __syncwarp();
        if (lane == 0) arrive(full + step % 2);
    };

    #pragma unroll 1
    for (int i = 0; i < RAW_STAGES; ++i) begin_rows(i);
    offer_halves(0);
    // Of 16 columns, 8 · (warp % 4) + g and 32 further of the group's, and two of each eight rows.
    float sums[SUMS / 2] = {};
    const Windows bands = windows_at(shared), staged = windows_at(halves);
    const int x = x0 + 64 * (warp / 4) + 8 * (warp % 4) + g;
    sample* answer = row_of(dst, y0 - LAG + 2 * t, pitch) + x;

    #pragma unroll 1
    for (int turn = 0; turn < steps; turn += TURN)
    #pragma unroll
    for (int u = 0; u < TURN; ++u) {
        const int step = turn + u;
        if (u > 0 && step >= steps) break;
        wait_for(full + step % 2, step / 2 & 1);
        const float peak = __uint_as_float(*reinterpret_cast<volatile unsigned*>(peaks + step % 2));
        if (too_large(peak)) {  // seldom, and then for all threads
            __syncthreads();
            const int before = exponent;
            exponent = exponent_for(peak, ROOM, UNDO[0]);
            const float factor = power_of_two(max(exponent - before, -126));
            #pragma unroll
            for (float& sum : sums) sum *= factor;
            make_halves(step);
            see_stores();
            __syncthreads();
        }
        begin_rows(step + RAW_STAGES);
        offer_halves(step + 1);

        // 1. Along x: 32 columns of the group's and then the other 32, each for 32 rows.
        uint4 high[2], low[2];  // of the first 16 rows, and of the others
        float both[2][16];      // not one array for both: ptxas 13.0 can take the second's sums for the first's
        #pragma unroll
        for (int n = 0; n < 2; ++n) {
            const Windows pieces = staged + step % 2 * (STAGE / PIECE) + (8 * (warp / 4) + 4 * n) * (BETWEEN / PIECE);
            float (&along)[16] = both[n];
            begin_products();
            #pragma unroll
            for (int i = 0; i < PARTS * ALONG; ++i)  // low halves first
                multiply_add_halves<32, BETWEEN>(along, left[i % ALONG],
                    pieces + (i % ALONG * 2 * BETWEEN + (PARTS == 2 && i < ALONG) * PLANE) / PIECE, i > 0);
            end_products();
            wait_for_products<0>(along);
            #pragma unroll
            for (int i = 0; i < 4; ++i) {  // eight rows: with the weights' high halves, and with low ones
                const float scale = PARTS == 1 ? power_of_two(exponent) : 1.0f;
                const float one = (along[4 * i] + along[4 * i + 2]) * scale, two = (along[4 * i + 1] + along[4 * i + 3]) * scale;
                const unsigned pair = to_pair(one, two), rest = rest_of(pair, one, two);
                uint4 &of_high = high[i / 2], &of_low = low[i / 2];
                if (i % 2 == 0) (n == 0 ? of_high.x : of_high.y) = pair, (n == 0 ? of_low.x : of_low.y) = rest;
                else (n == 0 ? of_high.z : of_high.w) = pair, (n == 0 ? of_low.z : of_low.w) = rest;
            }
        }
        if (lane == 0) arrive(empty + step % 2);

        // 2. Down the columns, 16 rows at a time, after which as many of the answer are done.
        const float scale = UNDO[0] * power_of_two(-exponent);
        #pragma unroll
        for (int c = 0; c < 2; ++c) {
            const int phase = (2 * u + c) % PHASES, done = (phase + 1) % PHASES;
            const Windows band = bands + (phase == 0 ? 0 : SUMS - 16 * phase);
            settle(sums);
            begin_products();
            multiply_add_halves<SUMS, BAND / 2>(sums, low[c], band, true);
            multiply_add_halves<SUMS, BAND / 2>(sums, high[c], band + BAND / PIECE, true);
            multiply_add_halves<SUMS, BAND / 2>(sums, high[c], band, true);
            end_products();
            wait_for_products<0>(sums);
            const int y = ROWS * step - LAG + 16 * c + 2 * t;
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                float& sum = sums[8 * done + i];
                const int row = i / 4 * 8 + i % 2, column = i / 2 % 2 * 32;
                if (static_cast<unsigned>(y + row) < static_cast<unsigned>(rows) && x + column < width)
                    row_of(answer, 16 * c + row, pitch)[column] = to_sample(with_offset(sum * scale));
                sum = 0.0f;
            }
        }
        answer = row_of(answer, ROWS, pitch);
    }
}
