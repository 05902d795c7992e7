/*---
title   = "Fast FIR"
idea    = "Two rows below each other share products: with differences of rows of samples, three sums of half the weights stand in for four; and so do two neighbours in a row."
after   = "register_tile"
weights = "fast_fir"
includes = ["wide", "async", "tile"]
# Measured on an H200, of grey and, at size 7, RGBA.  Smaller weights save too little, and those of low rank have better.
quick   = "7 <= KSIZE <= 11 and 2 * RANK >= KSIZE and SAMPLES >= 4096 * 4096"
own_block = "A block has a warp for each eight rows of its tile, which is as wide as a warp."
requires = [
    ["SAMPLE == 'float32'", "Rows of floats are subtracted where they lie, and these samples are {SAMPLE}. Choose another implementation, such as register_tile."],
    ["3 <= KSIZE <= 15 and HALO_X <= 15", "All multiply-adds are unrolled, and at size {KSIZE} of {CHANNELS} channels there are too many, or none to save. Choose another implementation, such as shared."],
]
headroom = "9 * GAIN + 4"
finite_only = true     # infinity less infinity is not what the weights say
strips_differ = true   # the first row of a strip is the upper one of two
chain_length = "KSIZE * (KSIZE + 1) + 4"  # parts of the weights, and rounded: differences, sums of weights, twice
error_factor = 9.0     # as sum |E + O| + 2 sum |E|, of differences twice as large as samples, is 3 sum |w|, twice
lesson = """
Let e and o be even and odd rows of samples, E and O those of the weights. An even row of the answer is E e + O o, an odd one \
E o + O e', with e' the even row below. Both hold G = (E + O) o: the first is G + E (e - o), the second G + O (e' - o). Three \
sums of half the weights stand in for four, and the differences, made once for all that use them, cost an addition a sample. \
In registers there was no room for all of this; it lies in shared memory. Of one channel each of the three is made of three \
again, of even and odd samples of a row and their differences: nine sums of a quarter of the weights for four samples. What is \
subtracted is added again, so that errors are up to three times as large each time, and infinity becomes NaN."""

[[passes]]
block = ["32 * FIR_WARPS", "1"]
covers = ["128", "8 * FIR_WARPS"]
# Rows of the tile, and differences.
shared_bytes = "16 * (up(32 + 2 * HALO_CHUNKS + HALO_CHUNKS % 2, 2) * 3 * (4 * FIR_WARPS + RADIUS) + HALO_CHUNKS % 2)"
loads = { picture = """(BLOCKS_Y * (COVERS_Y + KSIZE - 1) * (up(WIDTH * CHANNELS + HALO_X, 4) + 4 * HALO_CHUNKS * (2 * BLOCKS_X - 1))
    + HAS_ALPHA * up(WIDTH * CHANNELS, 4) * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = """((CHANNELS == 1) * up(WIDTH, 4) * HEIGHT
    + BLOCKS * ((FIR_WARPS * (512 * (3 * RADIUS + 2) ** 2 + 64 * (3 * RADIUS + 11) * (RADIUS + 1))
        if CHANNELS == 1 else 1024 * FIR_WARPS * KSIZE * (3 * RADIUS + 2) * PLANES // CHANNELS)
    + 8 * (16 + HALO_CHUNKS) * (8 * FIR_WARPS + 2 * RADIUS - 1)))"""
---*/

constexpr int ROW = KSIZE + RADIUS;         // a row of weights, and the sums of each even one and the odd one after it
__constant__ float WEIGHTS[KSIZE * ROW];
__constant__ float PAIRED[(RADIUS + 1) * ROW];  // each even row of these and the odd one below

// Taller tiles where their halo is.  As many blocks a multiprocessor as its registers, and shared memory, have room for.
constexpr int WARPS = KSIZE <= 9 ? 4 : 8, BLOCKS = KSIZE <= 9 ? 6 : 3, THREADS = 32 * WARPS;
constexpr int PAIRS = 4, MADE = 2 * PAIRS;              // of rows that a warp makes, each lane a chunk
constexpr int TILE_H = MADE * WARPS, ROWS = TILE_H + 2 * HALO_Y;
constexpr int WINDOW = (1 + 2 * HALO_CHUNKS) * CHUNK;   // samples that a lane reads of a row

__device__ __forceinline__ uint4 difference(const uint4& one, const uint4& two) {
    float a[CHUNK], b[CHUNK];
    unpack(one, a), unpack(two, b);
    for (int s = 0; s < CHUNK; ++s) a[s] -= b[s];
    return pack(a);
}

// Of one channel two neighbours share products as well: their sums are what both have, and the rest of either.
constexpr bool SHARES = CHANNELS == 1;
constexpr int SUMS = SHARES ? CHUNK / 2 * 3 : CHUNK;

// Add rows of samples, every FURTHER-th from `rows` on, to sums of every second row.
// weights: the first of TALL rows, each `apart` behind the one before.
template <int TALL, int FURTHER>
__device__ __forceinline__ void add_rows(
    float (*sums)[SUMS], const uint4* rows, const float* weights, int apart)
{
    #pragma unroll
    for (int j = 0; j < PAIRS + TALL - 1; ++j) {
        float window[WINDOW];
        #pragma unroll
        for (int c = 0; c < WINDOW / CHUNK; ++c) unpack(rows[j * FURTHER * STAGE_STRIDE + c], window + c * CHUNK);
        const float* const even = window + HALO_SPARE;  // and odd ones after them
        float less_after[RADIUS + 1], less_before[RADIUS + 1];  // even samples less the odd ones after, and before them
        #pragma unroll
        for (int i = 0; SHARES && i <= RADIUS; ++i)
            less_after[i] = even[2 * i] - even[2 * i + 1], less_before[i] = even[2 * i + 2] - even[2 * i + 1];
        #pragma unroll
        for (int p = 0; p < PAIRS; ++p) {
            if (j < p || j - p >= TALL) continue;
            const float* const row = weights + (j - p) * apart;
            if constexpr (SHARES) {
                #pragma unroll
                for (int s = 0; s < SUMS; s += 3) {
                    #pragma unroll
                    for (int i = s / 3; i < s / 3 + RADIUS; ++i) {
                        sums[2 * p][s] += row[KSIZE + i - s / 3] * even[2 * i + 1];
                        sums[2 * p][s + 1] += row[2 * (i - s / 3)] * less_after[i];
                        sums[2 * p][s + 2] += row[2 * (i - s / 3) + 1] * less_before[i];
                    }
                    sums[2 * p][s + 1] += row[2 * RADIUS] * even[2 * (s / 3 + RADIUS)];  // the last is for either alone
                    sums[2 * p][s + 2] += row[2 * RADIUS] * even[2 * (s / 3 + RADIUS) + 1];
                }
            } else
                #pragma unroll
                for (int i = 0; i < KSIZE; ++i)
                    #pragma unroll
                    for (int s = 0; s < CHUNK; ++s)
                        if (!is_alpha(s)) sums[2 * p][s] += row[i] * even[s + i * CHANNELS];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);
    uint4* const tile = memory + SHIFT;               // [ROWS][STAGE_STRIDE]
    uint4* const below = tile + ROWS * STAGE_STRIDE;  // [ROWS / 2][STAGE_STRIDE]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x0 = blockIdx.x * TILE_W, y0 = first_row + blockIdx.y * TILE_H;

    // 1. The tile and its halo.
    stage_tile<THREADS, ROWS>(memory, src, x0, y0 - HALO_Y, height, width, pitch);

    // 2. Even rows less the odd ones below, and, in their place, less those above.
    #pragma unroll
    for (int n = threadIdx.x; n < ROWS / 2 * STAGE_CHUNKS; n += THREADS) {
        const int m = n / STAGE_CHUNKS, c = n % STAGE_CHUNKS;
        uint4* const even = tile + 2 * m * STAGE_STRIDE + c;
        const uint4 chunk = *even;
        below[m * STAGE_STRIDE + c] = difference(chunk, even[STAGE_STRIDE]);
        if (m > 0) *even = difference(chunk, even[-STAGE_STRIDE]);
    }
    __syncthreads();

    // 3. What both rows of a pair have, and the rest of either.
    const uint4* const mine = tile + warp * MADE * STAGE_STRIDE + lane;
    float sums[MADE][SUMS];
    #pragma unroll
    for (int i = 0; i < MADE * SUMS; ++i) sums[0][i] = SHARES && i % 3 ? 0.0f : OFFSET;
    add_rows<RADIUS + 1, 2>(sums, mine + STAGE_STRIDE, PAIRED, ROW);
    #pragma unroll
    for (int p = 0; p < MADE; p += 2)
        for (int s = 0; s < SUMS; ++s) sums[p + 1][s] = sums[p][s];
    add_rows<RADIUS + 1, 1>(sums, below + warp * PAIRS * STAGE_STRIDE + lane, WEIGHTS, 2 * ROW);
    add_rows<RADIUS, 2>(sums + 1, mine + 2 * STAGE_STRIDE, WEIGHTS + ROW, 2 * ROW);

    const int x = x0 + lane * CHUNK, y = y0 + warp * MADE;
    if (x >= width * CHANNELS) return;
    #pragma unroll
    for (int row = 0; row < MADE; ++row) {
        if (y + row >= end_row) return;
        float* const of = sums[row];
        if constexpr (SHARES) {
            const float one = of[0], two = of[3];
            of[0] = one + of[1], of[1] = one + of[2], of[2] = two + of[4], of[3] = two + of[5];
        }
        uint4 chunk = pack(of);
        if constexpr (HAS_ALPHA) chunk = keep_alpha(chunk, load_chunk(row_of(src, y + row, pitch), x));
        write_chunk(row_of(dst, y + row, pitch), x, chunk);
    }
}
