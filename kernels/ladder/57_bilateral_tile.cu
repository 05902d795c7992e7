/*---
title   = "Bilateral, shared-memory tile"
idea    = "A block stages its tile and the halo around it in shared memory once, as floats, and a thread makes four pixels below one another: what it reads serves all of them."
filter  = "bilateral"
after   = "bilateral_exponents"
weights = "numbers"
includes = ["means", "bilateral"]
lesson  = """
Neighbours' disks overlap, so a block of threads reads each pixel from global memory once, works out where the border \
continues it once, and converts it to floats once. From shared memory a thread reads a column of the disk, and the \
four pixels that it makes stand below one another in it: each takes what it reads, and their four exponentials do not \
wait for one another. Lanes of a warp read neighbours, each from a bank of its own."""

[[passes]]
covers = ["BLOCK_X * CHANNELS", "4 * BLOCK_Y"]
shared_bytes = "4 * PLANES * (BLOCK_X + 2 * RADIUS) * (4 * BLOCK_Y + 2 * RADIUS)"
loads = { picture = "BLOCKS * PLANES * (BLOCK_X + 2 * RADIUS) * (4 * BLOCK_Y + 2 * RADIUS) + ALPHA" }
flops = "WIDTH * (up(HEIGHT, 4) * DISK * (4 * PLANES + 8) + HEIGHT * PLANES + parts(HEIGHT, 4) * 2 * KSIZE)"
---*/

constexpr int ROWS = 4;  // that a thread makes
constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * RADIUS;  // pixels
constexpr int TILE = TILE_W * (ROWS * BLOCK_Y + 2 * RADIUS);

__device__ __forceinline__ Colour staged(const float* at) {
    Colour colour;
    #pragma unroll
    for (int i = 0; i < PLANES; ++i) colour.of[i] = at[i * TILE];
    return colour;
}

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, tile);     // [PLANES][TILE]

    // 1. Stage.  tile[0] is the pixel RADIUS left of and above the block's first.
    const int x0 = blockIdx.x * BLOCK_X - RADIUS;
    const int y0 = first_row + blockIdx.y * ROWS * BLOCK_Y - RADIUS;
    #pragma unroll 4
    for (int at = threadIdx.y * BLOCK_X + threadIdx.x; at < TILE; at += THREADS) {
        const Colour colour = read_colour(src, x0 + at % TILE_W, y0 + at / TILE_W, height, width, pitch);
        #pragma unroll
        for (int i = 0; i < PLANES; ++i) tile[at + i * TILE] = colour.of[i];
    }
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Four means, out of shared memory.
    const int x = x0 + RADIUS + threadIdx.x, y = y0 + RADIUS + ROWS * threadIdx.y;
    if (x >= width || y >= end_row) return;
    const float* const first = tile + (RADIUS + ROWS * threadIdx.y) * TILE_W + RADIUS + threadIdx.x;
    Colour own[ROWS];
    Mean means[ROWS];
    #pragma unroll
    for (int row = 0; row < ROWS; ++row) own[row] = staged(first + row * TILE_W);
    #pragma unroll 1
    for (int i = -RADIUS; i <= RADIUS; ++i) {
        const int reach = static_cast<int>(sqrtf(static_cast<float>(RADIUS * RADIUS - i * i)));  // of the disk's column
        const float of_column = NUMBERS[0] * static_cast<float>(i * i);
        const auto add = [&](int j, int low, int high) {  // the pixel j below the first, to rows low to high
            const Colour near = staged(first + j * TILE_W + i);
            #pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                if (row < low || row > high) continue;
                const float down = static_cast<float>(j) - static_cast<float>(row);
                const float c = steep(difference(own[row], near));
                means[row].add(exp2f(of_column + NUMBERS[0] * down * down - c * c), near.of);
            }
        };
        // At a column's ends not all rows have it, and which do is known when this is compiled.
        #pragma unroll
        for (int j = 0; j < ROWS - 1; ++j) add(j - reach, reach == 0 ? j : 0, j);
        #pragma unroll 1
        for (int j = ROWS - 1 - reach; j <= reach; ++j) add(j, 0, ROWS - 1);
        #pragma unroll
        for (int j = 1; j < ROWS; ++j)
            if (reach > 0 || j == ROWS - 1) add(reach + j, j, ROWS - 1);
    }
    #pragma unroll
    for (int row = 0; row < ROWS; ++row)
        if (y + row < end_row) means[row].write(dst, src, x, y + row, pitch);
}
