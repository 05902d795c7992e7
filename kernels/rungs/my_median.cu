/*---
title  = "My median"
idea   = "Each thread puts the samples of its window in order, and takes the middle one."
filter = "median"
---*/

// A dot of noise is the brightest or the darkest of its window, and so never the middle one: it goes.
// An edge stays sharp, for the middle one is a sample of one side or the other, and no mixture.
extern "C" __global__ void convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch,
    int first_row, int end_row)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;

    const int reach = is_alpha(x) ? 0 : RADIUS;  // alpha stays as it is
    float ordered[KSIZE * KSIZE];  // from the least to the greatest, as many as there are so far
    int count = 0;
    for (int j = -reach; j <= reach; ++j)
        for (int i = -reach; i <= reach; ++i) {
            // A disk has no corners, and with the border crop there is nothing beyond the picture.
            if (IS_DISK && i * i + j * j > RADIUS * RADIUS) continue;
            const int from_x = border_sample(x + i * CHANNELS, width);
            const int from_y = border_index(y + j, height);
            if (BORDER == CROP && (from_x == OUTSIDE || from_y == OUTSIDE)) continue;

            // What is greater than the new one moves up by a place, which is then free for it.
            const float value = read_sample(src, x + i * CHANNELS, y + j, height, width, pitch);
            int at = count++;
            for (; at > 0 && ordered[at - 1] > value; --at) ordered[at] = ordered[at - 1];
            ordered[at] = value;
        }
    // Of an even number, as there may be with crop, it is the mean of the middle two.
    const float low = ordered[(count - 1) / 2], high = ordered[count / 2];
    row_of(dst, y, pitch)[x] = to_sample(count % 2 ? low : low / 2 + high / 2);
}
