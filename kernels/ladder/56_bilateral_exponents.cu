/*---
title   = "Bilateral, one exponential"
idea    = "The product of two exponentials is one of the sum of their exponents, and one instruction raises two to a power."
filter  = "bilateral"
after   = "bilateral_taps"
weights = "numbers"
includes = ["means", "bilateral"]
lesson  = """
A GPU has an instruction for powers of two alone. If both exponents are given for base two, a multiply-add for each \
makes their sum, and one such instruction the weight. The units that do it give 16 a clock on a multiprocessor, \
which is the limit of every filter of this kind: 48 pixels of a disk of diameter 9 take three clocks a pixel. A table \
of all weights of bytes would ask banks of shared memory instead, and 32 lanes look up 32 different places."""

[[passes]]
covers = ["BLOCK_X * CHANNELS", "BLOCK_Y"]
loads = { picture = "SAMPLES + FILTERED * DISK" }
flops = "WIDTH * HEIGHT * (DISK * (4 * PLANES + 6) + KSIZE + PLANES)"
---*/

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
        const float of_row = NUMBERS[0] * static_cast<float>(j * j);
        #pragma unroll (KSIZE <= 15 ? KSIZE : 4)
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            if (!in_disk(i, j)) continue;
            const Colour near = read_colour(src, x + i, y + j, height, width, pitch);
            const float c = steep(difference(own, near));
            mean.add(exp2f(of_row + NUMBERS[0] * static_cast<float>(i * i) - c * c), near.of);
        }
    }
    mean.write(dst, src, x, y, pitch);
}
