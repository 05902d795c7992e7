/*---
title   = "Tensor cores, separable"
idea    = "Rows times one band of weights, and a second band times those sums, which stay in registers: a warp walks down the picture, reading and writing it once."
after   = "tensor_split"
weights = "thin_bands"
includes = ["tensor", "copies"]
requires = [["RANK == 1", "These weights are not separable: they are the sum of {RANK} separable ones."]]
finite_only = true
strips_differ = true
capability = [7, 5]
own_block = "On tensor cores a warp works on 16 rows and 16 or 32 columns at once, and walks down the picture with seven to fifteen others."
chain_length = "2 * KSIZE + 24"  # 24: what two halves lose of samples, sums, weights and their products
error_factor = 2.0               # tensor cores cut sums off, they do not round them

[[passes]]
block  = ["32", "8 if PLANES == 1 else (4 if KSIZE > 31 else 3) * PLANES"]
covers = [
    "CHANNELS * (256 if PLANES == 1 else 64 if KSIZE > 31 else 96)",
    """max(64, -(-HEIGHT // max(1, (2 if KSIZE <= 31 else 1) * MULTIPROCESSORS //
        -(-WIDTH // (256 if PLANES == 1 else 64 if KSIZE > 31 else 96)))))""",
]
rows_by = "16"
# Blocks of weights; 16 rows of halves, and 16 more of those that are copied; peaks.
shared_bytes = """(2048 * BAND_DEPTH +
    256 * (HALVES + (CHANNELS == 1 and SAMPLE == 'float16')) * PLANES * ((256 if PLANES == 1 else 64 if KSIZE > 31 else 96) // 8 + 2 * BAND_DEPTH - 2 | 1) +
    64)"""
# Of halves that are copied nothing is read beside the picture, and no rows after the last; their ends are left out.
loads.picture = """((WIDTH + 16 * (BAND_DEPTH - 1) * (BLOCKS_X - 1)) * (up(HEIGHT, 16) + 16 * (BAND_DEPTH - 1) * segments(16))
    if CHANNELS == 1 and SAMPLE == 'float16' else
    BLOCKS_X * (COVERS_X + 16 * (BAND_DEPTH - 1) * CHANNELS) * (up(HEIGHT, 16) + 16 * BAND_DEPTH * segments(16)) + ALPHA)"""
loads.weights = "512 * BAND_DEPTH * BLOCKS_X * segments(16)"
stores = { picture = "(up(WIDTH, 2) if CHANNELS == 1 else WIDTH * CHANNELS) * HEIGHT" }
# Products of 16×8×16 on the tensor cores, for sixteen columns of a plane in sixteen rows; the first
# with a sample's halves, the second with three pairs of them.
flops = """(2 * 2048 * 2 * BAND_DEPTH * (1 + HALVES + 3) * PLANES * BLOCKS_X * COVERS_X // CHANNELS // 16
    * (parts(HEIGHT, 16) + (BAND_DEPTH - 1) * segments(16)))"""
---*/

__constant__ float UNDO[1];

// Two tiles of sums a warp share what it reads of the bands.  One, where registers do not suffice for more.
constexpr int TILES = PLANES == 1 || KSIZE <= 31 ? 2 : 1;  // of 16 x 16 sums, side by side: a warp's
constexpr int GROUPS = PLANES == 1 ? 8 : 5 - TILES;  // warps, side by side,
constexpr int WARPS = GROUPS * PLANES;                 // for each plane
constexpr int MIN_BLOCKS = CHANNELS == 1 && KSIZE <= 31 ? 2 : 1;
constexpr int THREADS = WARP * WARPS;
constexpr int COLUMNS = 16 * TILES * GROUPS;           // pixels that a block writes of a row
constexpr int STAGED = COLUMNS + 16 * (DEEP - 1);      // and needs for that
constexpr int STRIDE = 8 * (STAGED / 8 | 1);           // halves from row to row: see read_blocks
constexpr int PARTS = FITS_HALF ? 1 : 2;               // halves a sample
constexpr int PLANE = 16 * STRIDE;                     // halves
constexpr int FOURS = 16 * STAGED / 4;                 // in 16 rows
constexpr int SHARE = (FOURS + THREADS - 1) / THREADS; // of them, a thread's
// Samples less than 2^8 give sums along rows less than 2^16 (see thin_bands), which fit a half.
constexpr bool IS_FLOATING = IS_SAME<sample, float16> || IS_SAME<sample, float32>;
// The copy engine brings halves as they are; it has no channels to take apart.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr bool IS_COPIED = false;
#else
constexpr bool IS_COPIED = IS_SAME<sample, float16> && CHANNELS == 1;
#endif
constexpr int TABLE = 2 * DEEP * 2 * WARP;             // a block of ROW, high and low, ..., a block of COLUMN ...

// A block of a band: what a lane holds of it.
struct Block {
    unsigned high[4], low[4];
    __device__ __forceinline__ explicit Block(const uint4* words) {
        const uint4 a = words[0], b = words[WARP];
        high[0] = a.x, high[1] = a.y, high[2] = a.z, high[3] = a.w;
        low[0] = b.x, low[1] = b.y, low[2] = b.z, low[3] = b.w;
    }
};

// The same number, but the compiler does not know that: what follows from it is worked out where it
// is needed, and no register holds it through the loop.
__device__ __forceinline__ int anew(int value) {
    asm volatile("" : "+r"(value));
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) convolve(
    const sample* __restrict__ src,     // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,           // the same
    const uint2* __restrict__ weights,  // (2, 2, WORDS), high halves and low ones of ROW and of COLUMN
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, table);
    unsigned short* const tile = reinterpret_cast<unsigned short*>(table + TABLE);  // 16 rows, of each plane and part
    float* const peaks = reinterpret_cast<float*>(tile + PLANES * (PARTS + IS_COPIED) * PLANE);   // one a warp
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    const int plane = threadIdx.y / GROUPS, group = threadIdx.y % GROUPS;
    int thread = threadIdx.y * WARP + threadIdx.x;

    // A block's rows begin at a multiple of 16, so that sums are the same in whatever strips.
    const int first = first_row / 16 * 16;
    const int rows = ((end_row - first + gridDim.y - 1) / gridDim.y + 15) / 16 * 16;
    const int x0 = blockIdx.x * COLUMNS, y0 = first + blockIdx.y * rows;
    const int y_end = y0 + rows < end_row ? y0 + rows : end_row;
    if (y0 >= y_end) return;

    // The blocks of 16 x 16 that both bands consist of, each as a lane's four words.  They stay in
    // shared memory: no thread has registers for all of them.
    for (int i = thread; i < TABLE / 2; i += THREADS) {
        const int block = i / WARP % DEEP, of_column = i / WARP / DEEP;
        const uint2* words = weights + of_column * WORDS + FIRST_WORD + 2 * t - g + 16 * block;
        #pragma unroll
        for (int part = 0; part < 2; ++part, words += 2 * WORDS)
            table[(i / WARP * 2 + part) * WARP + lane] = make_uint4(words[0].x, words[-8].x, words[0].y, words[0].x);
    }
    const uint4* across = table + lane;
    const uint4* down = across + TABLE / 2;

    // Rows are copied 16 at a time while those before are multiplied, each by one warp.  What lies beyond their ends
    // it puts there when they have come.
    __shared__ barrier bars[2];
    const int left = x0 - REACH, from = max(left, 0), to = max(from, min(left + STAGED, width / 8 * 8));  // whole chunks
    const int warp = IS_COPIED ? __shfl_sync(0xFFFFFFFFu, threadIdx.y, 0) : 0;  // the same in all lanes, as the compiler sees
    const auto bring_rows = [&](int y, int stage) {
        #pragma unroll
        for (int r = 0; r < 16; r += WARPS) {
            const int from_y = border_index(y + warp + r, height), bytes = from_y == OUTSIDE ? 0 : (to - from) * sizeof(sample);
            unsigned short* const row = tile + stage * PLANE + (warp + r) * STRIDE;
            if (lane == 0) expect(bars + stage, bytes);
            if (lane == 0 && bytes > 0) bring(row + from - left, row_of(src, from_y, pitch) + from, bytes, bars + stage);
            if (from_y != OUTSIDE) continue;
            for (int i = lane; i < STAGED; i += WARP) row[i] = 0;
            see_stores();
        }
    };
    const auto put_ends = [&](int y, int stage) {
        const int before = from - left, ends = before + left + STAGED - to;
        #pragma unroll 1
        for (int r = warp; r < 16 && ends > 0; r += WARPS) {
            const int from_y = border_index(y + r, height);
            unsigned short* const row = tile + stage * PLANE + r * STRIDE - left;
            #pragma unroll 1
            for (int i = lane; i < ends && from_y != OUTSIDE; i += WARP) {
                const int x = i < before ? left + i : to + i - before;
                const int from_x = x < width + REACH ? border_sample(x, width) : OUTSIDE;  // beyond, it matters to none
                row[x] = from_x == OUTSIDE ? 0 : from <= from_x && from_x < to ? row[from_x]
                    : reinterpret_cast<const unsigned short*>(row_of(src, from_y, pitch))[from_x];
            }
        }
    };

    // Others each thread loads: its share of 16 rows into registers while those before are multiplied.
    Pixels next[SHARE];
    const bool inside = 0 <= x0 - REACH && x0 - REACH + STAGED <= width;
    const int top = y0 - REACH, bottom = y_end + 16 * (DEEP - 1) - REACH;  // of the rows to be read
    auto load = [&](int y) {
        const bool near_no_border = inside && 0 <= y && y + 16 <= height;
        #pragma unroll
        for (int i = 0; i < SHARE; ++i) {
            const int at = i * THREADS + thread;
            const int from_x = x0 - REACH + at % (STAGED / 4) * 4, from_y = y + at / (STAGED / 4);
            if (at >= FOURS) break;
            next[i] = near_no_border ? read_pixels<true>(src, from_x, from_y, height, width, pitch)
                                     : read_pixels<false>(src, from_x, from_y, height, width, pitch);
        }
    };
    if constexpr (IS_COPIED) {
        if (thread < 2) begin_barrier(bars + thread, 16);
        __syncthreads();
        bring_rows(top, 0);
    } else {
        load(top);
    }

    // sums[s]: 16 rows of the answer that have seen s + 1 times 16 rows, in tiles of 16 x 8.
    float sums[DEEP][TILES][2][4] = {};
    float peak = 0.0f;
    int exponent = FIXED_EXPONENT;
    #pragma unroll 1
    for (int y = top; y < bottom; y += 16) {
        thread = anew(thread);

        const auto rescale = [&](int room) {
            const int before = exponent;
            exponent = exponent_for(peak, room, UNDO[0]);
            if (exponent != before) {
                const float factor = power_of_two(exponent - before > -126 ? exponent - before : -126);
                #pragma unroll
                for (int s = 0; s < DEEP * TILES * 8; ++s) (&sums[0][0][0][0])[s] *= factor;
            }
        };
        const int stage = IS_COPIED ? (y - top) / 16 % 2 : 0;
        if constexpr (IS_COPIED) {
            wait_for(bars + stage, (y - top) / 32 % 2);
            put_ends(y, stage);
            __syncthreads();  // so are those of the other warps, which have read the rows before
            if (y + 16 < bottom) bring_rows(y + 16, stage ^ 1);
        } else {
            // 1. All samples so far have one power of two in common; seldom does a larger one come.
            if constexpr (IS_FLOATING) {
                #pragma unroll
                for (int i = 0; i < SHARE; ++i)
                    if (i * THREADS + thread < FOURS)
                        #pragma unroll
                        for (int k = 0; k < 4 * CHANNELS; ++k)
                            peak = fmaxf(peak, fabsf(next[i].value(k / CHANNELS, k % CHANNELS)));
                peak = largest_of_warp(peak);
                if (lane == 0) peaks[threadIdx.y] = peak;
            }
            __syncthreads();  // the tile before has been read
            if constexpr (IS_FLOATING) {
                #pragma unroll
                for (int other = 0; other < WARPS; ++other) peak = fmaxf(peak, peaks[other]);
                rescale(8);
            }

            // 2. These 16 rows become halves, and the next begin to arrive.
            #pragma unroll
            for (int i = 0; i < SHARE; ++i) {
                const int at = i * THREADS + thread;
                unsigned short* to = tile + at / (STAGED / 4) * STRIDE + at % (STAGED / 4) * 4;
                if (at < FOURS)
                    #pragma unroll
                    for (int p = 0; p < PLANES; ++p)
                        write_halves<PARTS>(to + p * PARTS * PLANE, PLANE, next[i], p, power_of_two(exponent));
            }
            __syncthreads();  // the tile is complete, and before the first the table, too
            load(y + 16);
        }

        // 3. Filter along rows, transposed: 16 columns of sums from as many columns of samples as matter.
        const unsigned short* corner = tile + (plane * PARTS + stage) * PLANE + 16 * TILES * group;
        float filtered[TILES][2][4] = {};  // 16 columns x 8 rows, twice
        #pragma unroll
        for (int s = 0; s < DEEP + TILES - 1; ++s) {
            unsigned high[4], low[4];
            read_blocks<false>(high, corner + 16 * s, STRIDE);
            if constexpr (PARTS == 2) read_blocks<false>(low, corner + PLANE + 16 * s, STRIDE);
            #pragma unroll
            for (int m = 0; m < TILES; ++m) {
                if (s < m || s - m >= DEEP) continue;
                const Block band(across + (s - m) * 2 * WARP);
                #pragma unroll
                for (int h = 0; h < 2; ++h) multiply_add(filtered[m][h], band.high, make_uint2(high[2 * h], high[2 * h + 1]));
                #pragma unroll
                for (int h = 0; h < 2; ++h) multiply_add(filtered[m][h], band.low, make_uint2(high[2 * h], high[2 * h + 1]));
                if constexpr (PARTS == 2)
                    #pragma unroll
                    for (int h = 0; h < 2; ++h) multiply_add(filtered[m][h], band.high, make_uint2(low[2 * h], low[2 * h + 1]));
            }
        }

        // 4. What a lane holds of those sums is what it has to hold of them as the right matrix of
        //    the next product, 16 rows x 8 columns, twice.  So they need not go through shared memory.
        if constexpr (IS_COPIED) {  // a warp's have a power of two of their own
            #pragma unroll
            for (int i = 0; i < TILES * 8; ++i) peak = fmaxf(peak, fabsf((&filtered[0][0][0])[i]));
            peak = largest_of_warp(peak);
            rescale(15);
        }
        uint2 high[TILES][2], low[TILES][2];
        #pragma unroll
        for (int m = 0; m < TILES; ++m)
            #pragma unroll
            for (int n = 0; n < 2; ++n) {
                float values[4];  // of the first 8 rows and the last
                #pragma unroll
                for (int i = 0; i < 4; ++i) values[i] = filtered[m][i / 2][2 * n + i % 2] * (IS_COPIED ? power_of_two(exponent) : 1.0f);
                const uint2 pairs = make_uint2(to_pair(values[0], values[1]), to_pair(values[2], values[3]));
                high[m][n] = pairs;
                low[m][n] = make_uint2(rest_of(pairs.x, values[0], values[1]), rest_of(pairs.y, values[2], values[3]));
            }

        // 5. Filter along columns: these 16 rows matter to DEEP times 16 rows of the answer.
        #pragma unroll
        for (int s = DEEP - 1; s >= 0; --s) {
            const Block band(down + s * 2 * WARP);
            #pragma unroll
            for (int i = 0; i < TILES * 8; ++i) {
                float* sum = &sums[s][0][0][0] + i;
                *sum = s > 0 ? *(sum - TILES * 8) : 0.0f;
            }
            #pragma unroll
            for (int i = 0; i < TILES * 2; ++i)
                multiply_add(sums[s][i / 2][i % 2], band.high, high[i / 2][i % 2]);
            #pragma unroll
            for (int i = 0; i < TILES * 2; ++i)
                multiply_add(sums[s][i / 2][i % 2], band.low, high[i / 2][i % 2]);
            #pragma unroll
            for (int i = 0; i < TILES * 2; ++i)
                multiply_add(sums[s][i / 2][i % 2], band.high, low[i / 2][i % 2]);
        }

        // 6. The oldest are done.
        const int y_done = y + REACH - 16 * (DEEP - 1);
        if (y_done < y0) continue;
        const float unscale = UNDO[0] * power_of_two(-exponent);
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int to_y = y_done + 8 * i + g;
            if (to_y < first_row || to_y >= y_end) continue;
            #pragma unroll
            for (int n = 0; n < TILES * 2; ++n) {
                const int x = x0 + 16 * TILES * group + 8 * n + 2 * t;
                const float* two = &sums[DEEP - 1][n / 2][n % 2][2 * i];
                if (x < width)
                    write_two(row_of(dst, to_y, pitch), x, plane, with_offset(two[0] * unscale),
                              with_offset(two[1] * unscale), width);
            }
        }
    }
    if constexpr (HAS_ALPHA) copy_alpha(src, dst, x0, y0 > first_row ? y0 : first_row, COLUMNS, rows, THREADS, width, pitch, y_end);
}
