/*---
title   = "Tensor cores, bytes"
idea    = "Bytes stay bytes until they are summed: a word of a row is, as it was loaded, what a lane holds of a matrix; the sums along x stay in registers, and so do those down the columns."
lesson  = """
A filter that makes floats of bytes first spends more instructions on unpacking, moving and packing them than on its sums.
Here the word of four bytes that a lane loads is what tensor cores want of that lane: two selections of bytes make four numbers
of half precision of it, each the byte times the smallest number that a half holds, and so exact.  The weights, the other factor,
are scaled up as far again; each is the sum of two halves, since one holds eleven bits only.  With several channels side by side
most of the matrix of weights is zero, and where two of every four numbers always are, tensor cores can leave them out and
multiply twice as many samples in one instruction.  The sums of all rows under way stay in registers; shared memory only keeps the
rows that are coming, as bytes, and puts the answer in order.  On a small picture a block makes as few as four rows, and still
has to sum the rows of their halo along x, K − 1 more."""
after   = "tensor_separable"
weights = "byte_band"
includes = ["wide", "async", "tensor", "bytes", "lines"]
requires = [
    ["SAMPLE == 'uint8'", "Bytes go into the products as they are here, and these samples are {SAMPLE}. Choose another implementation, such as tile_separable."],
    ["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."],
    ["KSIZE <= 15", "A thread keeps four sums of {KSIZE} rows in registers here, and has registers for 15 rows. Choose another implementation, such as tensor_separable."],
]
capability = [7, 5]
own_block = "A warp owns 128 samples of a row and walks down the picture, with seven others beside it."
# KSIZE additions along x and as many down the columns.  Of a weight, two halves lose up to 2^-22, four roundings of
# float32; and the sums of up to four products of matrices, low halves before high ones, follow one another.
chain_length = "2 * KSIZE + 8"
error_factor = 2.0              # tensor cores cut sums off, they do not round them; and as for separable

[[passes]]
block  = ["32", "8"]
# So many blocks a multiprocessor as its registers hold, and as tall as that allows.
covers = ["1024", """max(4, -(-HEIGHT // max(1, MULTIPROCESSORS * (3 if KSIZE <= 5 else 2)
    // -(-WIDTH * CHANNELS // 1024))))"""]
rows_by = "1"
shared_bytes = "16 * (256 + 8 + 48 * 72)"
# A block reads four rows at a time, with whole chunks beside its own; to wrap, also what lies beyond.
loads.picture = """((up(WIDTH * CHANNELS, 16) + (BLOCKS_X > 1) * (
            32 * (((HALO_X + 7) // 8 + 1) // 2) * (BLOCKS_X - 1)
            - max(0, 16 * (((HALO_X + 7) // 8 + 1) // 2) + 1024 * (BLOCKS_X - 1) - up(WIDTH * CHANNELS, 16))))
    * ((segments(1) - 1) * up(parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4)
        + up(HEIGHT - (segments(1) - 1) * parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4))
    + (2 * HALO_X * (HEIGHT + (KSIZE - 1) * segments(1)) if BORDER == 'WRAP' and BLOCKS_X > 1 else 0))"""
loads.weights = """(256 * (8 * (1 + (HALO_X + 7) // 8) if CHANNELS == 1 else 9 * ((2 + (HALO_X + 7) // 8) // 2))
    * BLOCKS_X * segments(1))"""
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
# Products of 16×8×16 on the tensor cores, with high halves and low ones of the weights, for a line of
# 128 samples; down the columns float32 as for all else.
flops = """(parts(WIDTH * CHANNELS, 128) * 2 * (128 * KSIZE + 64 * HAS_ALPHA
            + (2048 if CHANNELS > 1 else 4096) * (1 + (HALO_X + 7) // 8))
    * ((segments(1) - 1) * up(parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4)
        + up(HEIGHT - (segments(1) - 1) * parts(HEIGHT, BLOCKS_Y) + KSIZE - 1, 4)))"""
---*/

__constant__ float COLUMN[KSIZE];

constexpr int STAGE_ROWS = 16;                 // rows that are waited for together
constexpr int STAGES = 3;                      // all but one of them on their way
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int MIN_BLOCKS = 1;                  // of others there is no room in shared memory
#else
constexpr int MIN_BLOCKS = KSIZE <= 5 ? 3 : 2;
#endif

// ---- Sums along x. --------------------------------------------------------------------------------
//
// A warp's line is eight blocks of 16 samples, and column g of a product's right matrix is block g.  So
// each product makes all 128 sums from one word a lane: see bytes.cuh.

// Four rows of a line, of which each lane holds four samples of two blocks, as they belong into
// memory: lane 8 r + n gets block n of row r.  answers: 32 chunks, the warp's.
__device__ __forceinline__ uint4 as_chunks(const unsigned (&rows)[4], uint4* answers) {
    write_blocks<4>(answers, rows);
    __syncwarp();
    const uint4 chunk = answers[threadIdx.x];
    __syncwarp();  // the next may be written
    return chunk;
}

// ---- Sums down the columns. -----------------------------------------------------------------------

// sums[i] are of the answer's row that i more rows complete.  Each row counts for all of them, and
// makes the next of each: they move up without being moved.  The last two of four may be alpha, which
// counts for one row alone: alpha_weight is what turns it into samples, and 0 in other lanes.
__device__ __forceinline__ void add_row(float (&sums)[KSIZE][4], const float (&along)[4], float alpha_weight) {
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        const bool is_alpha = HAS_ALPHA && k >= 2 && alpha_weight > 0.0f;
        const float value = is_alpha ? 0.0f : along[k];
        #pragma unroll
        for (int i = 0; i < KSIZE - 1; ++i) sums[i][k] = sums[i + 1][k] + COLUMN[KSIZE - 1 - i] * value;
        sums[KSIZE - 1][k] = (is_alpha ? 0.0f : OFFSET) + COLUMN[0] * value;
        if (HAS_ALPHA && k >= 2) sums[RADIUS][k] += alpha_weight * along[k];
    }
}

extern "C" __global__ void __launch_bounds__(WARP * WARPS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    const unsigned* __restrict__ weights, // along x, see bytes.cuh
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int lane = threadIdx.x, warp = threadIdx.y, samples = width * CHANNELS;
    DYNAMIC_SHARED(uint4, shared);  // four lines for each warp, and a ring of [STAGES][STAGE_ROWS][ROW_CHUNKS]
    uint4* const answers = shared + warp * WARP;
    uint4* const ring = shared + WARPS * WARP + LINE_CHUNKS;

    // Rows y0 to y0 + rows - 1 of a strip, for which as many and a halo are read, from `top` on.
    const int share = (end_row - first_row + gridDim.y - 1) / gridDim.y;
    const int left = blockIdx.x * STRIP, y0 = first_row + blockIdx.y * share, rows = min(share, end_row - y0);
    if (rows <= 0) return;
    const int top = y0 - RADIUS, count = rows + KSIZE - 1;

    // 1. The first rows begin to arrive, four at a time: of row r of these, chunk n of the warp's line by this lane.
    const int r = lane / 8, n = lane % 8;
    const Lines<BESIDE> lines(src, height, width, pitch, left);
    const auto begin_stage = [&](int coming, int coming_slot) {  // the first row, and where it goes
        if (coming < count) {
            uint4* const stage = ring + (coming_slot * STAGE_ROWS + r) * ROW_CHUNKS;
            const int y = top + coming;
            if (coming + STAGE_ROWS <= count && y >= 0 && y + STAGE_ROWS <= height) {  // as a rule
                const sample* const from = row_of(src, y + r, pitch) + left;
                #pragma unroll
                for (int i = 0; i < STAGE_ROWS; i += 4) lines.begin(stage + i * ROW_CHUNKS, row_of(from, i, pitch));
            } else {
                #pragma unroll 1
                for (int i = 0; i < min(STAGE_ROWS, count - coming); i += 4) {
                    uint4* const to = stage + i * ROW_CHUNKS;
                    const int from_y = border_index(y + i + r, height);
                    if (from_y != OUTSIDE) lines.begin(to, row_of(src, from_y, pitch) + left);
                    else lines.clear(to);
                }
            }
        }
        end_group();  // an empty one at the end: so the wait below is the same for all rows
    };
    #pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i) begin_stage(i * STAGE_ROWS, i);

    // 2. The weights along x.
    const Bands bands(weights);
    uint4 band[STEPS][2];
    unsigned places[STEPS];
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        for (int part = 0; part < 2; ++part) band[s][part] = bands.halves[(2 * s + part) * WARP + lane];
        places[s] = SPARSE ? bands.places[s * WARP + lane] : 0;
    }
    const auto half_of = [&](int s, int part) { return band[s][part]; };
    const auto places_of = [&](int s) { return places[s]; };
    const float alpha_weight = is_alpha(2 * (lane / 4) + 1) ? 16777216.0f : 0.0f;  // 2^24
    float sums[KSIZE][4] = {};

    // 3. Down the rows, four of the answer at a time.  The first sums count for rows above them.
    const int to_x = lines.x0 + n * CHUNK;
    const unsigned stored = to_x < samples ? rows : 0;  // rows that this lane stores
    int y = r - (KSIZE - 1);                            // the next of them
    sample* to = row_of(dst, y0 + y, pitch) + to_x;
    int slot = 0;
    #pragma unroll 1
    for (int first = 0; first < count; first += STAGE_ROWS) {
        wait_for_groups<STAGES - 2>();  // this thread's chunks of these rows are here,
        __syncthreads();  // those of all, and all are done with the rows before: others take their place
        uint4* const stage = ring + slot * STAGE_ROWS * ROW_CHUNKS;
        begin_stage(first + (STAGES - 1) * STAGE_ROWS, slot > 0 ? slot - 1 : STAGES - 1);
        slot = slot + 1 < STAGES ? slot + 1 : 0;
        lines.put_beyond([&](const Lines<BESIDE>::Put& put) {
            #pragma unroll
            for (int i = threadIdx.x / 8; i < min(STAGE_ROWS, count - first); i += 4)
                put(stage + i * ROW_CHUNKS, top + first + i);
        });
        if (lines.x0 >= samples) continue;  // the whole warp

        const unsigned* word = reinterpret_cast<const unsigned*>(stage + warp * LINE_CHUNKS) + lane;
        #pragma unroll 1
        for (int i = 0; i < min(STAGE_ROWS, count - first); i += 4) {
            unsigned answer[4];
            #pragma unroll
            for (int row = 0; row < 4; ++row) {
                unsigned words[1][SPAN];
                #pragma unroll
                for (int k = 0; k < SPAN; ++k) words[0][k] = word[words_away(k, lane % 4) / 4];
                float along[1][4];
                sum_along(along, words, half_of, places_of);
                add_row(sums, along[0], alpha_weight);
                answer[row] = round_bytes(sums[0]);
                word += ROW_CHUNKS * CHUNK / 4;
            }
            const uint4 filtered = as_chunks(answer, answers);
            if (static_cast<unsigned>(y) < stored) write_chunk(to, 0, filtered);
            y += 4;
            to = row_of(to, 4, pitch);
        }
    }
}
