/*---
title  = "My dilation"
idea   = "Each thread looks at the samples of its window, and keeps the greatest."
filter = "maximum"
---*/

// What is bright grows by RADIUS to each side, and dark gaps in it are closed.
extern "C" __global__ void convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch,
    int first_row, int end_row)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    float greatest = row_of(src, y, pitch)[x];
    const int reach = is_alpha(x) ? 0 : RADIUS;  // alpha stays as it is
    for (int j = -reach; j <= reach; ++j)
        for (int i = -reach; i <= reach; ++i) {
            // A disk has no corners, and with the border crop there is nothing beyond the picture.
            if (IS_DISK && i * i + j * j > RADIUS * RADIUS) continue;
            const int from_x = border_sample(x + i * CHANNELS, width);
            const int from_y = border_index(y + j, height);
            if (BORDER == CROP && (from_x == OUTSIDE || from_y == OUTSIDE)) continue;

            const float value = read_sample(src, x + i * CHANNELS, y + j, height, width, pitch);
            greatest = fmaxf(greatest, value);
        }
    row_of(dst, y, pitch)[x] = to_sample(greatest);
}
