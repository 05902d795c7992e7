/*---
title   = "Patch by patch"
idea    = "One thread per pixel compares the patch around it with that around every pixel of its window, difference by difference."
filter  = "non_local_means"
weights = "numbers"
includes = ["means", "patches"]
lesson  = """
Non-local means looks for what is alike and not for what is near: a pixel counts for another as much as the patches \
around the two agree. Done as it is defined it is the dearest filter here: for a window of 21 x 21 and patches of 7 x 7 a \
pixel takes 441 x 49 = 21,609 squared differences, of two samples each and with the borders' arithmetic for both."""

[[passes]]
halo   = ["REACH * CHANNELS", "REACH"]
covers = ["BLOCK_X * CHANNELS", "BLOCK_Y"]
loads  = { picture = "FILTERED * KSIZE**2 * (2 * PATCH**2 + 1) + ALPHA" }
flops  = "WIDTH * HEIGHT * (KSIZE**2 * (3 * PATCH**2 * PLANES + 4 + 2 * PLANES) + PLANES)"
---*/

extern "C" __global__ void convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;  // a pixel's
    const int y = first_row + blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= end_row) return;

    const auto counts = [&](int px, int py) {
        return BORDER != CROP || (0 <= px && px < width && 0 <= py && py < height);
    };
    const auto read = [&](int px, int py, int plane) {
        return read_sample(src, px * CHANNELS + plane, py, height, width, pitch);
    };
    Mean mean;
    #pragma unroll 1
    for (int n = 0; n < KSIZE * KSIZE; ++n) {
        const int dx = n % KSIZE - RADIUS, dy = n / KSIZE - RADIUS;
        if (!counts(x + dx, y + dy)) continue;
        float squares = 0.0f;
        int pairs = 0;
        #pragma unroll 1
        for (int m = 0; m < PATCH * PATCH; ++m) {
            const int px = x + m % PATCH - PATCH_RADIUS, py = y + m / PATCH - PATCH_RADIUS;
            if (!counts(px, py) || !counts(px + dx, py + dy)) continue;
            for (int plane = 0; plane < PLANES; ++plane) {
                const float apart = read(px, py, plane) - read(px + dx, py + dy, plane);
                squares += apart * apart;
            }
            ++pairs;
        }
        if (BORDER == CROP) squares *= static_cast<float>(PATCH * PATCH) / pairs;
        float pixel[PLANES];
        for (int plane = 0; plane < PLANES; ++plane) pixel[plane] = read(x + dx, y + dy, plane);
        mean.add(weight_of(squares), pixel);
    }
    mean.write(dst, src, x, y, pitch);
}
