/*---
title = "My kernel"
idea  = "What is different about it, in one sentence."
---*/

// The weights, row by row: KSIZE * KSIZE of them, the same for every thread.  WEIGHTS[0] belongs to
// the neighbour RADIUS rows above and RADIUS pixels left.
__constant__ float WEIGHTS[KSIZE * KSIZE];

// The program calls this once for every thread, in blocks of BLOCK_X * BLOCK_Y threads.
extern "C" __global__ void convolve(
    const sample* __restrict__ src,  // the picture: rows of samples, those of a pixel side by side
    sample* __restrict__ dst,        // the answer, laid out in the same way
    int height,                      // rows
    int width,                       // pixels in a row, and so width * CHANNELS samples
    int pitch,                       // samples from the start of one row to that of the next
    int first_row, int end_row)      // the rows of dst to write: from first_row, before end_row
{
    // Which sample is this thread's?  x counts samples: red, green, blue, red, green, blue ...
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;

    // The last blocks of a row, and the lowest, stand out over the picture: they have nothing to do.
    if (x >= width * CHANNELS || y >= end_row) return;

    // Alpha, where there is one, stays as it is.
    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }

    // Each neighbour times its weight: the next pixel of a row is CHANNELS samples further on.
    // read_sample knows what lies beyond the edges, and to_sample rounds as the pixel type wants it.
    float sum = OFFSET;
    for (int j = 0; j < KSIZE; ++j)
        for (int i = 0; i < KSIZE; ++i)
            sum += WEIGHTS[j * KSIZE + i] * read_sample(src, x + (i - RADIUS) * CHANNELS,
                                                        y + j - RADIUS, height, width, pitch);
    row_of(dst, y, pitch)[x] = to_sample(sum);
}
