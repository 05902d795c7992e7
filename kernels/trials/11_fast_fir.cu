/*---
title   = "Fast FIR"
idea    = "Two rows below each other share products: with differences of rows of samples, three sums of half the weights stand in for four."
after   = "register_tile"
weights = "fast_fir"
includes = ["wide", "async", "copies"]
own_block = "A block has as many threads as its tile needs."
requires = [
    ["SAMPLE == 'float32'", "Rows of floats are subtracted where they lie, and these samples are {SAMPLE}. Choose another implementation, such as register_tile."],
    ["3 <= KSIZE <= 15 and HALO_X <= 15", "All multiply-adds are unrolled, too many at size {KSIZE} of {CHANNELS} channels. Choose another implementation, such as shared."],
]
headroom = "3 * GAIN + 2"
finite_only = true     # infinity less infinity is not what the weights say
strips_differ = true   # the first row of a strip is the upper one of two
chain_length = "KSIZE * (KSIZE + 1) + 2"  # two halves of the weights, and rounded: a difference, a sum of weights
error_factor = 3.0     # as sum |E + O| + 2 sum |E|, of differences twice as large as samples, is 3 sum |w|
lesson = """
Let e and o be even and odd rows of samples, E and O those of the weights. An even row of the answer is E e + O o, an odd one \
E o + O e', with e' the even row below. Both hold G = (E + O) o: the first is G + E (e - o), the second G + O (e' - o). Three \
sums of half the weights stand in for four, and the differences, made once for all that use them, cost an addition a sample. \
What is subtracted is added again, so that errors are up to three times as large, and infinity becomes NaN."""

[[passes]]
block = ["32 * FIR_WARPS * FIR_ACROSS", "1"]
covers = ["128 * FIR_ACROSS", "2 * FIR_PAIRS * FIR_WARPS"]
shared_bytes = """16 * (up(32 * FIR_ACROSS + 2 * HALO_CHUNKS + HALO_CHUNKS % 2, 2)
    * ((2 + FIR) * (FIR_PAIRS * FIR_WARPS + RADIUS)) + 1)"""
loads = { picture = "BLOCKS * (128 * FIR_ACROSS + 2 * HALO_CHUNKS * CHUNK) * (COVERS_Y + KSIZE - 1) + ALPHA" }
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
---*/

#ifndef FIR
#define FIR 1          // 0: the weights as they are
#endif
#ifndef FIR_PAIRS
#define FIR_PAIRS 4    // of rows that a thread makes
#define FIR_WARPS 8    // one above the other
#define FIR_ACROSS 1   // and side by side
#define FIR_BLOCKS 3   // of a multiprocessor
#define FIR_BULK 0     // 1: the copy engine brings rows
#endif

__constant__ float WEIGHTS[KSIZE * KSIZE];
__constant__ float PAIRED[(RADIUS + 1) * KSIZE];  // each even row of these and the odd one below

constexpr int WARPS = FIR_WARPS * FIR_ACROSS, THREADS = 32 * WARPS, TILE_CHUNKS = 32 * FIR_ACROSS;
constexpr int MADE = 2 * FIR_PAIRS;                    // rows of a warp
constexpr int TILE_H = MADE * FIR_WARPS, ROWS = TILE_H + 2 * HALO_Y;
constexpr int PAIRS = ROWS / 2;                        // of rows that lie in the tile
constexpr int CHUNKS = TILE_CHUNKS + 2 * HALO_CHUNKS;           // of a row
constexpr int SHIFT = HALO_CHUNKS % 2;                 // a sector of the picture is one here as well
constexpr int STRIDE = (CHUNKS + SHIFT + 1) / 2 * 2;
constexpr int WINDOW = (1 + 2 * HALO_CHUNKS) * CHUNK;  // samples that a thread reads of a row

__device__ __forceinline__ float4 as_floats(const uint4& chunk) {
    return make_float4(chunk_sample(chunk, 0), chunk_sample(chunk, 1), chunk_sample(chunk, 2), chunk_sample(chunk, 3));
}
__device__ __forceinline__ uint4 difference(const uint4& one, const uint4& two) {
    const float4 a = as_floats(one), b = as_floats(two);
    const float values[CHUNK] = {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
    return pack(values);
}

__device__ __forceinline__ void read_window(float (&window)[WINDOW], const uint4* row) {
    #pragma unroll
    for (int c = 0; c <= 2 * HALO_CHUNKS; ++c) unpack(row[c], window + c * CHUNK);
}
__device__ __forceinline__ void add_taps(float (&sums)[CHUNK], const float (&window)[WINDOW], const float* weights) {
    #pragma unroll
    for (int i = 0; i < KSIZE; ++i)
        #pragma unroll
        for (int s = 0; s < CHUNK; ++s)
            if (!is_alpha(s)) sums[s] += weights[i] * window[HALO_SPARE + s + i * CHANNELS];
}

// Add rows of samples, two rows of memory apart or one, to sums of FIR_PAIRS rows, or of all.
// weights: the first of TALL rows, each so many further than the one before.
template <int TALL, int COUNT, int APART>
__device__ __forceinline__ void add_rows(
    float (&sums)[MADE][CHUNK], int first, const uint4* rows, const float* weights, int further)
{
    constexpr int STEP = MADE / COUNT;
    #pragma unroll
    for (int j = 0; j < COUNT + TALL - 1; ++j) {
        float window[WINDOW];
        read_window(window, rows + j * APART * STRIDE);
        #pragma unroll
        for (int p = 0; p < COUNT; ++p)
            if (0 <= j - p && j - p < TALL) add_taps(sums[p * STEP + first], window, weights + (j - p) * further);
    }
}

#ifdef STREAMED  // what is written is the first to leave the L2 cache
__device__ __forceinline__ void write_streamed(sample* row, int x, const uint4& chunk) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
                 ::"l"(row + x), "r"(chunk.x), "r"(chunk.y), "r"(chunk.z), "r"(chunk.w) : "memory");
}
#define write_chunk write_streamed
#endif

extern "C" __global__ void __launch_bounds__(THREADS, FIR_BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, memory);  // a barrier of the copy engine, [ROWS][STRIDE], [PAIRS][STRIDE]
    uint4* const stage = memory + 1 + SHIFT;
    const int x0 = blockIdx.x * TILE_CHUNKS * CHUNK, y0 = first_row + blockIdx.y * TILE_H;
    const int column = threadIdx.x % TILE_CHUNKS, line = threadIdx.x / TILE_CHUNKS;

    // 1. The tile and its halo.
    const int left = x0 - HALO_CHUNKS * CHUNK, top = y0 - HALO_Y;
    if (left >= 0 && left + CHUNKS * CHUNK <= width * CHANNELS && top >= 0 && top + ROWS <= height) {
        const sample* const from = row_of(src, top, pitch) + left;
#if FIR_BULK
        barrier* const bar = reinterpret_cast<barrier*>(memory);
        if (threadIdx.x == 0) begin_barrier(bar), expect(bar, ROWS * CHUNKS * 16);
        __syncthreads();
        for (int r = threadIdx.x; r < ROWS; r += THREADS) bring(stage + r * STRIDE, row_of(from, r, pitch), CHUNKS * 16, bar);
        wait_for(bar, 0);
#else
        #pragma unroll
        for (int r = line; r < ROWS; r += FIR_WARPS)
            copy_async(stage + r * STRIDE + column, row_of(from, r, pitch) + column * CHUNK);
        #pragma unroll
        for (int n = threadIdx.x; n < ROWS * 2 * HALO_CHUNKS; n += THREADS) {
            const int r = n / (2 * HALO_CHUNKS), c = TILE_CHUNKS + n % (2 * HALO_CHUNKS);
            copy_async(stage + r * STRIDE + c, row_of(from, r, pitch) + c * CHUNK);
        }
#endif
    } else {
        #pragma unroll 2
        for (int n = threadIdx.x; n < ROWS * CHUNKS; n += THREADS) {
            const int r = n / CHUNKS, c = n % CHUNKS, x = left + c * CHUNK;
            if (x < width * CHANNELS + HALO_X)
                stage[r * STRIDE + c] = read_chunk(src, x, top + r, height, width, pitch);
        }
    }
    end_group();
    wait_for_groups<0>();
    __syncthreads();

    const uint4* const mine = stage + line * MADE * STRIDE + column;
    float sums[MADE][CHUNK];
    begin_with_offset<MADE * CHUNK>(sums[0]);
    if constexpr (!FIR) add_rows<KSIZE, MADE, 1>(sums, 0, mine, WEIGHTS, KSIZE);
    else {
        // 2. Even rows less the odd ones below, and, in their place, less those above.
        uint4* const below = stage + ROWS * STRIDE;
        #pragma unroll
        for (int n = threadIdx.x; n < PAIRS * CHUNKS; n += THREADS) {
            const int m = n / CHUNKS, c = n % CHUNKS;
            uint4* const even = stage + 2 * m * STRIDE + c;
            const uint4 chunk = *even;
            below[m * STRIDE + c] = difference(chunk, even[STRIDE]);
            if (m > 0) *even = difference(chunk, even[-STRIDE]);
        }
        __syncthreads();

        // 3. What both rows of a pair have, and the rest of either.
        add_rows<RADIUS + 1, FIR_PAIRS, 2>(sums, 0, mine + STRIDE, PAIRED, KSIZE);
        #pragma unroll
        for (int p = 0; p < MADE; p += 2)
            #pragma unroll
            for (int s = 0; s < CHUNK; ++s) sums[p + 1][s] = sums[p][s];
        add_rows<RADIUS + 1, FIR_PAIRS, 1>(sums, 0, below + line * FIR_PAIRS * STRIDE + column, WEIGHTS, 2 * KSIZE);
        add_rows<RADIUS, FIR_PAIRS, 2>(sums, 1, mine + 2 * STRIDE, WEIGHTS + KSIZE, 2 * KSIZE);
    }
    const int x = x0 + column * CHUNK, y = y0 + line * MADE;
    if (x >= width * CHANNELS) return;
    #pragma unroll
    for (int row = 0; row < MADE; ++row) {
        if (y + row >= end_row) return;
        uint4 chunk = pack(sums[row]);
        if constexpr (HAS_ALPHA) chunk = keep_alpha(chunk, load_chunk(row_of(src, y + row, pitch), x));
        write_chunk(row_of(dst, y + row, pitch), x, chunk);
    }
}
