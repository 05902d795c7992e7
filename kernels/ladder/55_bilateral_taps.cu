/*---
title   = "Bilateral, tap by tap"
idea    = "One thread per pixel looks at each pixel of the disk, and works out two exponentials: of how far away it is, and of how unlike it is."
filter  = "bilateral"
weights = "numbers"
includes = ["means", "bilateral"]
lesson  = """
A blur that keeps edges: a pixel counts the less the further away it is and the less its colour is like that of the \
pixel in the middle (Tomasi and Manduchi 1998). So weights differ from pixel to pixel; nothing can be added along rows \
first. What takes the time is no sum but the exponentials, two for each of a disk's pixels: the units that work them \
out do 16 a clock on a multiprocessor, where 128 multiply-adds are done."""

[[passes]]
covers = ["BLOCK_X * CHANNELS", "BLOCK_Y"]
loads = { picture = "SAMPLES + FILTERED * DISK" }
flops = "WIDTH * HEIGHT * (DISK * (4 * PLANES + 8) + PLANES)"
---*/

constexpr float LN_2 = 0.693147180559945309f;

extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;  // of a pixel
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= end_row) return;

    const Colour own = read_colour(src, x, y, height, width, pitch);
    Mean mean;
    #pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j) {
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            if (!in_disk(i, j)) continue;
            const Colour near = read_colour(src, x + i, y + j, height, width, pitch);
            const float c = steep(difference(own, near));
            mean.add(expf(LN_2 * NUMBERS[0] * static_cast<float>(i * i + j * j)) * expf(-LN_2 * c * c), near.of);
        }
    }
    mean.write(dst, src, x, y, pitch);
}
