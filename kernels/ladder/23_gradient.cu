/*---
title   = "Gradient, three launches"
idea    = "Weights, then Sobel's derivatives, then the length of the two: each a kernel of its own, with whole pictures of floats in between."
after   = "constant"
weights = "constant"
filter = "gradient"
includes = ["gradient"]

[buffers]
weighted = "HEIGHT * PITCH * 4"
slopes = "HEIGHT * PITCH * 8"

[[passes]]
function = "weigh"
writes = "weighted"
loads = { picture = "SAMPLES * KSIZE**2 + ALPHA" }
flops = "2 * SAMPLES * KSIZE**2"

[[passes]]
function = "differentiate"
halo = ["CHANNELS", "1"]
reads = "weighted"
writes = "slopes"
loads = { weighted = "12 * SAMPLES + ALPHA" }
stores = { slopes = "2 * SAMPLES" }
flops = "12 * SAMPLES + 2 * FILTERED"

[[passes]]
function = "measure"
halo = ["0", "0"]
reads = "slopes"
loads = { slopes = "2 * SAMPLES" }
flops = "4 * SAMPLES"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

// As the rung it comes after, but what is written is not rounded.
extern "C" __global__ void weigh(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ weighted,    // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of `weighted` that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    float sum = 0.0f;
    #pragma unroll 1  // or the compiler unrolls until 1024 threads want more registers than there are
    for (int j = 0; j < KSIZE; ++j) {
        const int from = border_index(y + j - RADIUS, height);
        if (from == OUTSIDE) continue;
        const sample* row = row_of(src, from, pitch);
        #pragma unroll 4
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i] * read_along(row, x + (i - RADIUS) * CHANNELS, width);
    }
    // A float holds what any pixel type does, so alpha can pass through all three kernels.
    if (is_alpha(x)) sum = static_cast<float>(row_of(src, y, pitch)[x]);
    row_of(weighted, y, pitch)[x] = sum;
}

// Beyond the edges the weighted picture is continued, which is not the same as weighting a picture
// that was continued further.
extern "C" __global__ void differentiate(
    const float* __restrict__ weighted,  // (height, width, CHANNELS)
    float2* __restrict__ slopes,         // the same, along x and along y
    int height, int width, int pitch,
    int first_row, int end_row)          // the rows of `slopes` that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    auto at = [&](int pixels_right, int rows_down) {
        return read_sample(weighted, x + pixels_right * CHANNELS, y + rows_down, height, width, pitch);
    };
    const float left = at(-1, -1) + 2.0f * at(-1, 0) + at(-1, 1);
    const float right = at(1, -1) + 2.0f * at(1, 0) + at(1, 1);
    const float above = at(-1, -1) + 2.0f * at(0, -1) + at(1, -1);
    const float below = at(-1, 1) + 2.0f * at(0, 1) + at(1, 1);
    row_of(slopes, y, pitch)[x] =
        is_alpha(x) ? make_float2(at(0, 0), 0.0f) : make_float2(right - left, below - above);
}

extern "C" __global__ void measure(
    const float2* __restrict__ slopes,  // (height, width, CHANNELS), along x and along y
    sample* __restrict__ dst,           // the filtered picture
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    const float2 slope = row_of(slopes, y, pitch)[x];
    float length[1];
    lengths_of<1>(length, {slope.x}, {slope.y});
    row_of(dst, y, pitch)[x] = to_sample(is_alpha(x) ? slope.x : length[0]);
}
