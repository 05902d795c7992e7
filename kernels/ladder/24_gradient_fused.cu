/*---
title   = "Gradient, fused"
idea    = "Everything in one launch: sums along rows in shared memory, as in a separable tile; the sums down the columns, Sobel's derivatives and the length in registers. Each sample is read about once and written once."
after   = "gradient"
weights = "separable"
filter = "gradient"
includes = ["wide", "async", "gradient"]
own_block = "A block is as large as its tile of 128 samples by 32 rows needs."
requires = [
    ["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose gradient."],
    ["KSIZE <= 31", "The fused gradient unrolls all its loops over weights, too many at size {KSIZE}; it takes sizes up to 31. Choose gradient."],
]
chain_length = "2 * KSIZE"
error_factor = 2.0  # as for separable

[[passes]]
block = ["128", "1"]
covers = ["128", "32"]
halo = ["HALO_X + CHANNELS", "HALO_Y + 1"]  # derivatives and all
shared_bytes = "(32 + 2 + KSIZE - 1) * (128 * SAMPLE_BYTES // 16 + 2 * -(-(HALO_X + 4) * SAMPLE_BYTES // 16) + 1 + (128 + 2 * max(4, 8 // SAMPLE_BYTES)) // 4 + 1) * 16"
loads = { picture = "BLOCKS * (COVERS_Y + KSIZE + 1) * (COVERS_X + 2 * up(HALO_X + 4, CHUNK))" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
# Along rows; down columns, for ten rows of a quad and a pixel around it at a time; slopes and lengths.
flops = """(2 * KSIZE * BLOCKS * (COVERS_Y + KSIZE + 1) * up(COVERS_X + 8, max(CHUNK, 8))
    + (2 * KSIZE - 1) * up(WIDTH * CHANNELS, 4) * BLOCKS_Y * 10 * (4 + 2 * CHANNELS) * PLANES // CHANNELS
    + 16 * up(WIDTH * CHANNELS, 4) * HEIGHT)"""
---*/

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

constexpr int THREADS = 128;
constexpr int QUAD = 4;  // samples side by side that a thread makes,
constexpr int BAND = 8;  // in so many rows
constexpr int TILE_W = 32 * QUAD;            // samples of a row that a block makes,
constexpr int TILE_H = THREADS / 32 * BAND;  // in so many rows

// Slopes need weighted samples a pixel beyond the tile: a row above and below, and at most a quad left
// and right.  Those need RADIUS pixels more of the picture.
constexpr int ROWS = TILE_H + 2 + 2 * HALO_Y;
constexpr int REACH = (HALO_X + QUAD + CHUNK - 1) / CHUNK;  // chunks on either side of the tile,
constexpr int SPARE = REACH * CHUNK - HALO_X - QUAD;  // the first with so many samples not needed

// Sums along x are made in parts.  The last may reach beyond what is needed, and into the unused chunk
// at the end of a staged row: those sums are never read.
constexpr int PART = CHUNK > 8 ? CHUNK : 8;
constexpr int PARTS = (TILE_W + 2 * QUAD + PART - 1) / PART;

// The rows as they come from the picture, and their sums along x, which begin a quad left of the tile.
// Both lie an odd number of sixteen bytes apart, so that threads which read the same place of
// neighbouring rows meet in no bank.
constexpr int STAGE_CHUNKS = TILE_W / CHUNK + 2 * REACH;
constexpr int STAGE_STRIDE = STAGE_CHUNKS + 1;
constexpr int SUMS_STRIDE = PARTS * PART / QUAD + 1;
static_assert(STAGE_STRIDE % 2 == 1 && SUMS_STRIDE % 2 == 1, "or banks are asked twice");

// The weighted samples around a thread's own, a pixel more on every side.
constexpr int TALL = BAND + 2, SPAN = QUAD + 2 * CHANNELS;

// Begin to copy what the block needs.  INSIDE: all of it lies in the picture.
template <bool INSIDE>
__device__ __forceinline__ void stage_rows(
    uint4* stage, const sample* __restrict__ src, int left, int top, int height, int width, int pitch)
{
    #pragma unroll (INSIDE ? 4 : 1)
    for (int n = threadIdx.x; n < ROWS * STAGE_CHUNKS; n += THREADS) {
        const int i = n / STAGE_CHUNKS, c = n % STAGE_CHUNKS;
        uint4* to = stage + i * STAGE_STRIDE + c;
        if (INSIDE) copy_async(to, row_of(src, top + i, pitch) + left + c * CHUNK);
        else read_chunk_async(to, src, left + c * CHUNK, top + i, height, width, pitch);
    }
}

// PART sums along a row.  from: the chunk that holds the first sample of the first sum, as its sample
// SPARE.  Alpha is what it is.
__device__ __forceinline__ void sum_along(float (&sums)[PART], const uint4* from) {
    float window[(SPARE + 2 * HALO_X + PART + CHUNK - 1) / CHUNK * CHUNK];
    #pragma unroll
    for (int c = 0; c < sizeof(window) / 4 / CHUNK; ++c) unpack(from[c], window + c * CHUNK);
    #pragma unroll
    for (int s = 0; s < PART; ++s) {
        sums[s] = 0.0f;
        #pragma unroll
        for (int i = 0; i < KSIZE; ++i) sums[s] += ROW[i] * window[SPARE + s + i * CHANNELS];
        if (is_alpha(s)) sums[s] = window[SPARE + s + HALO_X];
    }
}

// The weighted samples of TALL rows: sums down the columns of what lies along x.
__device__ __forceinline__ void sum_down(float (&weighted)[TALL][SPAN], const float4* along) {
    #pragma unroll
    for (int j = 0; j < TALL + KSIZE - 1; ++j) {
        float row[3 * QUAD];
        #pragma unroll
        for (int q = 0; q < 3; ++q) {
            const float4 four = along[j * SUMS_STRIDE + q];
            row[q * QUAD] = four.x;
            row[q * QUAD + 1] = four.y;
            row[q * QUAD + 2] = four.z;
            row[q * QUAD + 3] = four.w;
        }
        #pragma unroll
        for (int r = 0; r < TALL; ++r)
            #pragma unroll
            for (int s = 0; s < SPAN; ++s) {
                const float value = row[QUAD - CHANNELS + s];
                if (is_alpha(s) || r > j || j - r >= KSIZE) continue;
                weighted[r][s] = j == r ? COLUMN[0] * value : weighted[r][s] + COLUMN[j - r] * value;
            }
    }
}

// Beyond its edges the weighted picture is continued by its own samples.  All borders but one find
// them within two pixels; wrap needs nothing done, since what is repeated and then weighted repeats.
__device__ __forceinline__ void continue_weighted(
    float (&weighted)[TALL][SPAN], int x, int y, int height, int width)
{
    #pragma unroll
    for (int s = 0; s < SPAN; ++s) {
        const int at = x - CHANNELS + s;
        if (0 <= at && at < width * CHANNELS) continue;
        const int from = border_sample(at, width);
        #pragma unroll
        for (int r = 0; r < TALL; ++r) {
            float value = 0.0f;  // as it stays where that is OUTSIDE
            #pragma unroll
            for (int step = -2; step <= 2; ++step) {
                const int other = s + step * CHANNELS;
                if (from != OUTSIDE && from == at + step * CHANNELS && 0 <= other && other < SPAN)
                    value = weighted[r][other];
            }
            weighted[r][s] = value;
        }
    }
    #pragma unroll
    for (int r = 0; r < TALL; ++r) {
        const int at = y - 1 + r;
        if (0 <= at && at < height) continue;
        const int from = border_index(at, height);
        #pragma unroll
        for (int s = 0; s < SPAN; ++s) {
            float value = 0.0f;
            #pragma unroll
            for (int step = -2; step <= 2; ++step)
                if (from != OUTSIDE && from == at + step && 0 <= r + step && r + step < TALL)
                    value = weighted[r + step][s];
            weighted[r][s] = value;
        }
    }
}

// Round four samples and store them at x, a multiple of four, of a row of the picture.
__device__ __forceinline__ void write_quad(sample* row, int x, const float (&values)[QUAD]) {
    constexpr int WORDS = sizeof(sample);  // four samples are so many words
    unsigned words[WORDS];
    #pragma unroll
    for (int w = 0; w < WORDS; ++w) words[w] = pack_word(values + w * QUAD / WORDS);
    if constexpr (WORDS == 4) *reinterpret_cast<uint4*>(row + x) = make_uint4(words[0], words[1], words[2], words[3]);
    else if constexpr (WORDS == 2) *reinterpret_cast<uint2*>(row + x) = make_uint2(words[0], words[1]);
    else *reinterpret_cast<unsigned*>(row + x) = words[0];
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, stage);  // [ROWS][STAGE_STRIDE]
    float4* const along = reinterpret_cast<float4*>(stage + ROWS * STAGE_STRIDE);  // [ROWS][SUMS_STRIDE]

    const int x0 = blockIdx.x * TILE_W;
    const int y0 = first_row + blockIdx.y * TILE_H;

    // 1. Stage.  Nearly all blocks find everything inside the picture, and need not look for borders.
    const int left = x0 - REACH * CHUNK, top = y0 - 1 - HALO_Y;
    if (left >= 0 && left + STAGE_CHUNKS * CHUNK <= width * CHANNELS && top >= 0 && top + ROWS <= height)
        stage_rows<true>(stage, src, left, top, height, width, pitch);
    else
        stage_rows<false>(stage, src, left, top, height, width, pitch);
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    // 2. Along x, neighbouring threads in neighbouring rows.
    #pragma unroll 1
    for (int n = threadIdx.x; n < ROWS * PARTS; n += THREADS) {
        const int i = n % ROWS, part = n / ROWS;
        float sums[PART];
        sum_along(sums, stage + i * STAGE_STRIDE + part * (PART / CHUNK));
        float4* to = along + i * SUMS_STRIDE + part * (PART / QUAD);
        #pragma unroll
        for (int q = 0; q < PART / QUAD; ++q)
            to[q] = make_float4(sums[q * 4], sums[q * 4 + 1], sums[q * 4 + 2], sums[q * 4 + 3]);
    }
    __syncthreads();

    // 3. Down the columns, and the slopes of what that gives.
    const int quad = threadIdx.x % 32, band = threadIdx.x / 32;
    const int x = x0 + quad * QUAD, y = y0 + band * BAND;
    if (x >= width * CHANNELS) return;
    const float4* corner = along + band * BAND * SUMS_STRIDE + quad;
    float weighted[TALL][SPAN];
    sum_down(weighted, corner);
    if (BORDER != WRAP && (x == 0 || y == 0 || x + QUAD + CHANNELS > width * CHANNELS || y + BAND + 1 > height))
        continue_weighted(weighted, x, y, height, width);

    #pragma unroll
    for (int r = 0; r < BAND; ++r) {
        if (y + r >= end_row) return;
        const float (&above)[SPAN] = weighted[r];
        const float (&here)[SPAN] = weighted[r + 1];
        const float (&below)[SPAN] = weighted[r + 2];
        float gx[QUAD], gy[QUAD], lengths[QUAD];
        #pragma unroll
        for (int s = 0; s < QUAD; ++s) {
            constexpr int C = CHANNELS;
            gx[s] = (above[s + 2 * C] - above[s]) + 2.0f * (here[s + 2 * C] - here[s])
                  + (below[s + 2 * C] - below[s]);
            gy[s] = (below[s] - above[s]) + 2.0f * (below[s + C] - above[s + C])
                  + (below[s + 2 * C] - above[s + 2 * C]);
        }
        lengths_of(lengths, gx, gy);
        if constexpr (HAS_ALPHA) {
            const float4 centre = corner[(r + 1 + RADIUS) * SUMS_STRIDE + 1];
            if (is_alpha(1)) lengths[1] = centre.y;
            lengths[3] = centre.w;
        }
        write_quad(row_of(dst, y + r, pitch), x, lengths);
    }
}
