/*---
title   = "One offset at a time"
idea    = "For one offset after another a block squares each difference once, in shared memory, sums squares along rows and those sums down columns, and has the weights of all its pixels."
filter  = "non_local_means"
weights = "numbers"
after   = "patches"
includes = ["means", "patches"]
lesson  = """
Neighbouring patches share most of their pixels, and with one offset between the two that are compared most differences as well: \
of 49 that a pixel needs its neighbour has made 42. Turned inside out, with offsets as the outer loop, that is a box filter of \
squared differences, and a box is separable: one difference and 7 + 7 additions instead of 49 differences. The price are \
two barriers an offset, and the halo of a patch around the block, whose sums are made twice."""
requires = [["BORDER != 'CROP'", "Offsets are compared in all of a patch, and with the border crop fewer pixels count at the edge. Choose another border, or another implementation, such as patches."]]

[[passes]]
halo   = ["REACH * CHANNELS", "REACH"]
covers = ["BLOCK_X * CHANNELS", "BLOCK_Y"]
# The tile; squares of the block and a patch's radius around it; sums along their rows.
shared_bytes = """4 * (PLANES * (BLOCK_X + 2 * REACH) * (BLOCK_Y + 2 * REACH)
    + (BLOCK_X + PATCH - 1 + BLOCK_X) * (BLOCK_Y + PATCH - 1))"""
loads  = { picture = "BLOCKS * PLANES * (BLOCK_X + 2 * REACH) * (BLOCK_Y + 2 * REACH) + ALPHA" }
flops  = """(BLOCKS * KSIZE**2 * (BLOCK_Y + PATCH - 1) * (3 * (BLOCK_X + PATCH - 1) * PLANES + BLOCK_X * PATCH)
    + BLOCKS * BLOCK_X * BLOCK_Y * KSIZE**2 * PATCH + WIDTH * HEIGHT * (KSIZE**2 * (4 + 2 * PLANES) + PLANES))"""
---*/

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * REACH, TILE_H = BLOCK_Y + 2 * REACH, TILE = TILE_W * TILE_H;
constexpr int SQUARES_W = BLOCK_X + 2 * PATCH_RADIUS, SQUARES_H = BLOCK_Y + 2 * PATCH_RADIUS;

extern "C" __global__ void convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, tile);                           // [PLANES][TILE_H][TILE_W]
    float* const squares = tile + PLANES * TILE;           // [SQUARES_H][SQUARES_W]
    float* const along = squares + SQUARES_H * SQUARES_W;  // [SQUARES_H][BLOCK_X]
    const int x0 = blockIdx.x * BLOCK_X, y0 = first_row + blockIdx.y * BLOCK_Y;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, thread = threadIdx.y * BLOCK_X + threadIdx.x;
    #pragma unroll 1
    for (int n = thread; n < PLANES * TILE; n += THREADS)
        tile[n] = read_sample(src, (x0 - REACH + n % TILE_W) * CHANNELS + n / TILE,
                              y0 - REACH + n % TILE / TILE_W, height, width, pitch);
    __syncthreads();

    Mean mean;
    #pragma unroll 1
    for (int offset = 0; offset < KSIZE * KSIZE; ++offset) {
        const int away = (offset / KSIZE - RADIUS) * TILE_W + offset % KSIZE - RADIUS;
        // 1. Squares, of the block's pixels and those around it that are in their patches.
        #pragma unroll 1
        for (int n = thread; n < SQUARES_H * SQUARES_W; n += THREADS) {
            const float* const mine = tile + (RADIUS + n / SQUARES_W) * TILE_W + RADIUS + n % SQUARES_W;
            float square = 0.0f;
            for (int plane = 0; plane < PLANES; ++plane) {
                const float apart = mine[plane * TILE] - mine[plane * TILE + away];
                square += apart * apart;
            }
            squares[n] = square;
        }
        __syncthreads();
        // 2. Their sums along rows.
        #pragma unroll 1
        for (int j = threadIdx.y; j < SQUARES_H; j += BLOCK_Y) {
            float sum = 0.0f;
            #pragma unroll (PATCH <= 15 ? PATCH : 8)
            for (int i = 0; i < PATCH; ++i) sum += squares[j * SQUARES_W + threadIdx.x + i];
            along[j * BLOCK_X + threadIdx.x] = sum;
        }
        __syncthreads();
        // 3. The sums of those down columns, which are those of patches.
        float sum = 0.0f, pixel[PLANES];
        #pragma unroll (PATCH <= 15 ? PATCH : 8)
        for (int j = 0; j < PATCH; ++j) sum += along[(threadIdx.y + j) * BLOCK_X + threadIdx.x];
        if (x >= width || y >= end_row) continue;
        for (int plane = 0; plane < PLANES; ++plane)
            pixel[plane] = tile[plane * TILE + (threadIdx.y + REACH) * TILE_W + threadIdx.x + REACH + away];
        mean.add(weight_of(sum), pixel);
    }
    if (x < width && y < end_row) mean.write(dst, src, x, y, pitch);
}
