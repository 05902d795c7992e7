/*---
title   = "Down a strip"
idea    = "A warp goes down a strip of pixels in registers, once for each offset: sums of columns are made from parts that windows share, and lanes hand them to their neighbours."
filter  = "non_local_means"
weights = "numbers"
strips_differ = true  # parts begin where the rows do
after   = "patches_offsets"
includes = ["means", "patches"]
own_block = "A lane makes two pixels of each of sixteen rows, and a block is four warps, one above the other."
lesson  = """
A thread keeps the squares of its two columns in registers, and never waits. A window down a column could run, the new square in \
and the oldest out, but a bright square would leave its rounding behind. So columns are cut into parts as long as a patch: \
a window is the end of one part and the beginning of the next. Beginnings are summed downwards, ends upwards, and a third \
addition joins them, whatever the size. Along rows lanes ask their neighbours by shuffles. Even and odd columns \
lie apart in shared memory, so that lanes with two columns each never meet in a bank."""
requires = [
    ["PATCH <= 15", "A strip keeps the squares of a patch's rows in registers, {PATCH} for each of two columns, and has room for 15. Choose a smaller patch, or another implementation, such as patches_offsets."],
    ["BORDER != 'CROP'", "A strip sums all squares of a patch, and with the border crop fewer count at the edge. Choose another border, or another implementation, such as patches_offsets."],
]

[[passes]]
block  = ["32", "4"]
halo   = ["REACH * CHANNELS", "REACH"]
covers = ["(65 - PATCH) * CHANNELS", "64"]
shared_bytes = "4 * PLANES * 2 * (32 + RADIUS) * (64 + 2 * REACH)"
loads  = { picture = "BLOCKS * PLANES * 2 * (32 + RADIUS) * (64 + 2 * REACH) + ALPHA" }
# Of each pair of columns and each offset: squares, sums down, and sums along with all that comes of them.
flops  = """(BLOCKS * 128 * KSIZE**2 * 2 * (
        (15 + PATCH) * (3 * PLANES + 1) - parts(15 + PATCH, PATCH) + 16 + (15 + PATCH) // PATCH * (PATCH - 2)
        + 8 * (PATCH // 2 + 3 if PATCH > 1 else 0) + 16 * (4 + 2 * PLANES))
    + WIDTH * HEIGHT * PLANES)"""
---*/

constexpr int WARPS = 4, ROWS = 16;              // rows that a warp writes
constexpr int MADE = 64 - 2 * PATCH_RADIUS;      // pixels of a row that it writes: the last lanes only help
constexpr int READ = ROWS + PATCH - 1;           // rows that it reads
constexpr int HALF = 32 + RADIUS;                // even columns of the tile, or odd ones
constexpr int ROW = 2 * HALF, TILE = (WARPS * ROWS + 2 * REACH) * ROW;

// Where column `x` of the tile plus two for each lane is.
__device__ __forceinline__ int column_at(int x, int lane) { return (x & 1) * HALF + (x >> 1) + lane; }

// The sum of PATCH columns from a lane's first, and from its second.
__device__ __forceinline__ void sum_along(const float (&down)[2], float (&sums)[2]) {
    sums[0] = down[0], sums[1] = down[1];
    if constexpr (PATCH_RADIUS > 0) {
        const float both = down[0] + down[1];
        float shared = __shfl_down_sync(~0u, down[0], PATCH_RADIUS);
        #pragma unroll
        for (int k = 1; k < PATCH_RADIUS; ++k) shared += __shfl_down_sync(~0u, both, k);
        sums[0] = both + shared;
        sums[1] += shared + __shfl_down_sync(~0u, down[1], PATCH_RADIUS);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, tile);  // [PLANES][rows][2][HALF]: even columns, then odd ones
    const int lane = threadIdx.x, x0 = blockIdx.x * MADE, y0 = first_row + blockIdx.y * WARPS * ROWS;

    // 1. Stage.
    #pragma unroll 1
    for (int n = threadIdx.y * 32 + lane; n < PLANES * TILE; n += 32 * WARPS) {
        const int plane = n / TILE, column = n % ROW, x = x0 - REACH + column % HALF * 2 + column / HALF;
        tile[n] = read_sample(src, x * CHANNELS + plane, y0 - REACH + n % TILE / ROW, height, width, pitch);
    }
    __syncthreads();

    // 2. One offset after the other.  A lane's first column is the first of its first pixel's patch.
    Mean means[ROWS][2];
    const float* const mine = tile + (threadIdx.y * ROWS + RADIUS) * ROW;  // a patch's first row
    float kept[PLANES == 1 ? READ : 1][2];  // the strip itself, as far as registers go
    #pragma unroll
    for (int n = 0; n < (PLANES == 1 ? 2 * READ : 0); ++n)
        kept[n / 2][n % 2] = mine[n / 2 * ROW + column_at(RADIUS + n % 2, lane)];
    #pragma unroll 1
    for (int offset = 0; offset < KSIZE * KSIZE; ++offset) {
        const int dy = offset / KSIZE - RADIUS, dx = offset % KSIZE - RADIUS;
        float part[PATCH][2], beginning[2];  // of the part before: from each of its rows to its end
        #pragma unroll
        for (int j = 0; j < READ; ++j) {
            const int in_part = j % PATCH;
            float down[2];
            for (int i = 0; i < 2; ++i) {
                float square = 0.0f;
                for (int plane = 0; plane < PLANES; ++plane) {
                    const float* const row = mine + plane * TILE + j * ROW;
                    const float apart = row[dy * ROW + column_at(RADIUS + dx + i, lane)]
                        - (PLANES == 1 ? kept[j][i] : row[column_at(RADIUS + i, lane)]);
                    square += apart * apart;
                }
                beginning[i] = in_part == 0 ? square : beginning[i] + square;
                down[i] = beginning[i];
                if (j >= PATCH && in_part + 1 < PATCH) down[i] += part[in_part + 1][i];
                part[in_part][i] = square;
                for (int above = PATCH - 2; above >= 0; --above)
                    if (in_part + 1 == PATCH) part[above][i] += part[above + 1][i];
            }
            if (j < PATCH - 1) continue;
            float sums[2], pixel[PLANES];
            sum_along(down, sums);
            for (int i = 0; i < 2; ++i) {
                const int at = (j - PATCH_RADIUS + dy) * ROW + column_at(REACH + dx + i, lane);
                for (int plane = 0; plane < PLANES; ++plane) pixel[plane] = mine[plane * TILE + at];
                means[j - PATCH + 1][i].add(weight_of(sums[i]), pixel);
            }
        }
    }

    // 3. Write.
    #pragma unroll
    for (int n = 0; n < 2 * ROWS; ++n) {
        const int at = 2 * lane + n % 2, y = y0 + threadIdx.y * ROWS + n / 2;
        if (at < MADE && x0 + at < width && y < end_row) means[n / 2][n % 2].write(dst, src, x0 + at, y, pitch);
    }
}
