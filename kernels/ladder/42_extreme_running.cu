/*---
title   = "Running minimum"
idea    = "Lines are cut into parts of K: a window is the end of one part and the beginning of the next, and minima of both are running minima."
after   = "extreme_separable"
filter  = "extremes"
includes = ["extremes"]
own_block = "A thread takes a column down, or a part of K samples of a row."
requires = [["IS_DISK == 0", "Only a square is rows times columns, and this window is a disk. Choose extreme_disk."]]
lesson  = """
A sum can run along a line: what leaves is taken away. A minimum cannot, for who tells what is left when the least \
leaves? But of parts that are as long as the window, any window covers the end of one part and the beginning of the \
next. Minima of all beginnings are made from left to right, one comparison each, minima of all ends from right to \
left, and a third comparison joins the two: three for a sample, whatever K is (van Herk, and Gil and Werman, 1992 \
and 1993). The price is order: a thread has to walk along a whole part, and keeps K values while it does."""

[buffers]
columns = "HEIGHT * PITCH * 4"

[[passes]]
function = "down_columns"
writes = "columns"
halo = ["0", "HALO_Y"]
block = ["128", "1"]
covers = ["128", "KSIZE * parts(128, KSIZE)"]
shared_bytes = "128 * KSIZE * 4"
loads = { picture = "WIDTH * CHANNELS * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + ALPHA" }

[[passes]]
function = "along_rows"
reads = "columns"
halo = ["HALO_X", "0"]
block = ["256", "1"]
covers = ["256 // CHANNELS * CHANNELS", "16"]
# ROWS * STRIDE floats, twice
shared_bytes = "2 * 4 * 16 * (parts(256 // CHANNELS + KSIZE - 1, KSIZE) * KSIZE * CHANNELS | 1)"
loads = { columns = "HEIGHT * (WIDTH * CHANNELS + BLOCKS_X * 2 * HALO_X) + ALPHA" }
---*/

constexpr int COLUMNS = 128;                                // threads of down_columns
constexpr int PARTS_DOWN = (128 + KSIZE - 1) / KSIZE;       // of a column, that a thread writes
constexpr int THREADS = 256;                                // of along_rows
constexpr int ROWS = 16;
constexpr int PIXELS = 256 / CHANNELS;                      // of a row, that a block writes
constexpr int PARTS = (PIXELS + KSIZE - 1 + KSIZE - 1) / KSIZE;
constexpr int SPAN = PARTS * KSIZE * CHANNELS;              // samples of a row in shared memory
constexpr int STRIDE = SPAN | 1;                            // odd: rows begin in different banks

extern "C" __global__ void down_columns(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    float* __restrict__ columns,     // the same; of alpha what it is
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of columns that this launch writes
{
    DYNAMIC_SHARED(float, all_ends);                // [KSIZE][COLUMNS]
    float* const ends = all_ends + threadIdx.x;     // of the part before: from each of its rows to its end
    const int x = blockIdx.x * COLUMNS + threadIdx.x;
    const int y0 = first_row + blockIdx.y * PARTS_DOWN * KSIZE;
    if (x >= width * CHANNELS) return;  // each thread has a memory of its own: there is no barrier

    #pragma unroll 1
    for (int part = 0; part <= PARTS_DOWN; ++part) {
        float beginning;
        #pragma unroll 1
        for (int i = 0; i < KSIZE; ++i) {
            const int from_y = y0 - RADIUS + part * KSIZE + i;  // the last row of the window of row y
            const int y = from_y - RADIUS;
            if (y >= min(y0 + PARTS_DOWN * KSIZE, end_row)) return;
            const float value = read_or_outside(src, x, from_y, height, width, pitch);
            beginning = i == 0 ? value : best(beginning, value);
            if (y >= y0) {
                const float found = i + 1 < KSIZE ? best(beginning, ends[(i + 1) * COLUMNS]) : beginning;
                row_of(columns, y, pitch)[x] = is_alpha(x) ? static_cast<float>(row_of(src, y, pitch)[x]) : found;
            }
            ends[i * COLUMNS] = value;
        }
        float end = ends[(KSIZE - 1) * COLUMNS];
        #pragma unroll 4
        for (int i = KSIZE - 2; i >= 0; --i) ends[i * COLUMNS] = end = best(end, ends[i * COLUMNS]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) along_rows(
    const float* __restrict__ columns,  // (height, width, CHANNELS), of down_columns
    sample* __restrict__ dst,           // the same
    int height, int width, int pitch,
    int first_row, int end_row)         // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, beginnings);                 // [ROWS][STRIDE], at first what they are of
    float* const ends = beginnings + ROWS * STRIDE;
    const int x0 = blockIdx.x * PIXELS * CHANNELS, y0 = first_row + blockIdx.y * ROWS;
    const int rows = min(ROWS, end_row - y0), thread = threadIdx.x;

    #pragma unroll 1
    for (int row = 0; row < rows; ++row)
        #pragma unroll 4
        for (int i = thread; i < SPAN; i += THREADS)  // behind what is needed anything may stand
            if (i < min(PIXELS * CHANNELS, width * CHANNELS - x0) + 2 * HALO_X)
                beginnings[row * STRIDE + i] =
                    read_or_outside(columns, x0 - HALO_X + i, y0 + row, height, width, pitch);
    __syncthreads();

    #pragma unroll 1
    for (int n = thread; n < ROWS * PARTS * CHANNELS; n += THREADS) {
        const int line = n / ROWS, part = line / CHANNELS, channel = line % CHANNELS;
        const int at = n % ROWS * STRIDE + part * KSIZE * CHANNELS + channel, last = (KSIZE - 1) * CHANNELS;
        if (n % ROWS >= rows) continue;
        float end = ends[at + last] = beginnings[at + last], beginning = beginnings[at];
        #pragma unroll 4
        for (int i = last - CHANNELS; i >= 0; i -= CHANNELS) ends[at + i] = end = best(end, beginnings[at + i]);
        #pragma unroll 4
        for (int i = CHANNELS; i <= last; i += CHANNELS)
            beginnings[at + i] = beginning = best(beginning, beginnings[at + i]);
    }
    __syncthreads();

    if (thread >= PIXELS * CHANNELS || x0 + thread >= width * CHANNELS) return;
    #pragma unroll 1
    for (int row = 0; row < rows; ++row) {
        const int at = row * STRIDE + thread;
        const float found = is_alpha(thread) ? row_of(columns, y0 + row, pitch)[x0 + thread]
            : best(ends[at], beginnings[at + (KSIZE - 1) * CHANNELS]);
        row_of(dst, y0 + row, pitch)[x0 + thread] = to_sample(found);
    }
}
