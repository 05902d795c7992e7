/*---
title   = "Guided, running sums"
idea    = "Sums run, down columns and along rows, in one launch for a and b and one for their means: the same few operations whatever the size."
filter  = "guided"
weights = "numbers"
after   = "guided_windows"
includes = ["guided"]
strips_differ = true
own_block = "A thread keeps the sums of four columns on its way down, and runs along a part of a row."
lesson  = """
A window's sum is its neighbour's, with what enters added and what leaves taken away. Both directions fit one launch: threads keep \
sums of columns in registers, a row of these goes to shared memory, and lanes run along parts of it. Sums of integers come back to \
what they were; those of floats keep a rounding for as long as they run, so they begin anew with every block and every part of a row."""
# A sum down begins with KSIZE rows and is changed twice a row, as often as a block has rows; one along likewise, 17 times at most.
# As for guided_windows, a quarter of that.
chain_length = "parts(4 * RADIUS + 2 * (64 if KSIZE <= 31 else 128) + 2 * 17 + 8, 4)"

[buffers]
factors = "HEIGHT * PITCH * 8"

[[passes]]
function = "factor"
writes = "factors"
block  = ["256", "1"]
covers = ["GUIDED_ACROSS", "GUIDED_ROWS"]
rows_by = "4"
shared_bytes = "4 * (64 * GUIDED_RUN + 2 * HALO_X) * (8 if SAMPLE == 'uint8' else 16)"
loads  = { picture = "1024 * BLOCKS_X * (segments(4) * 2 * RADIUS + 2 * up(HEIGHT, 4))" }
stores = { factors = "2 * SAMPLES" }
# Sums down, of what enters and what leaves; sums along; a and b.
flops  = """(1024 * BLOCKS_X * (segments(4) * 2 * RADIUS + 2 * up(HEIGHT, 4)) * 3
    + BLOCKS_X * up(HEIGHT, 4) * 64 * (4 * HALO_X + 4 * GUIDED_RUN) + 11 * SAMPLES)"""

[[passes]]
function = "draw"
reads  = "factors"
also_reads = ["picture"]
block  = ["256", "1"]
covers = ["GUIDED_ACROSS", "GUIDED_ROWS"]
rows_by = "4"
shared_bytes = "4 * (64 * GUIDED_RUN + 2 * HALO_X) * 8"
loads  = { factors = "2 * 1024 * BLOCKS_X * (segments(4) * 2 * RADIUS + 2 * up(HEIGHT, 4))", picture = "SAMPLES" }
flops  = """(1024 * BLOCKS_X * (segments(4) * 2 * RADIUS + 2 * up(HEIGHT, 4)) * 2
    + BLOCKS_X * up(HEIGHT, 4) * 64 * (4 * HALO_X + 4 * GUIDED_RUN) + 3 * FILTERED)"""
---*/

constexpr int THREADS = 256, COLUMNS = 4, ROWS = 4;             // columns of a thread; rows of a block at a time
constexpr int ACROSS = COLUMNS * THREADS - 2 * HALO_X;          // samples of a row that a block makes
constexpr int RUN = ((ACROSS + 63) / 64) | 1;                   // of a lane along, 64 a row; odd: lanes meet different banks
constexpr int ROW = 64 * RUN + 2 * HALO_X;                      // the last lanes' runs may end behind the columns

// Goes down a strip, and calls write(x, y, sums) for each of its samples.  lines: [ROWS][ROW] in shared memory.
template <typename T, typename From, typename Write>
__device__ __forceinline__ void box_sums(
    Two<T>* lines, const From* from, int height, int width, int pitch, int first_row, int end_row, Write write)
{
    const int thread = threadIdx.x, left = blockIdx.x * ACROSS, groups = gridDim.y * ROWS;
    const int tall = (end_row - first_row + groups - 1) / groups * ROWS;
    const int top = first_row + blockIdx.y * tall, end = min(top + tall, end_row);
    if (top >= end) return;  // the whole block
    int from_x[COLUMNS];
    Two<T> down[COLUMNS] = {};
    #pragma unroll
    for (int n = 0; n < COLUMNS; ++n) from_x[n] = border_sample(left - HALO_X + thread + n * THREADS, width);
    #pragma unroll 4
    for (int j = top - RADIUS; j < top + RADIUS; ++j)
        #pragma unroll
        for (int n = 0; n < COLUMNS; ++n) down[n] += read_two(from, from_x[n], border_index(j, height), pitch);
    #pragma unroll 1
    for (int y = top; y < end; y += ROWS) {
        // 1. Down: a row enters, the sums are shown, the row that has been in longest leaves.
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int enters = border_index(y + row + RADIUS, height), leaves = border_index(y + row - RADIUS, height);
            #pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
                down[n] += read_two(from, from_x[n], enters, pitch);
                lines[row * ROW + thread + n * THREADS] = down[n];
                down[n] -= read_two(from, from_x[n], leaves, pitch);
            }
        }
        __syncthreads();
        // 2. Along: a run of each lane, whose sums take the place of what they are of once all have been made.
        Two<T>* const run = lines + thread / 64 * ROW + thread % 64 * RUN;
        Two<T> along[RUN], sums[CHANNELS] = {};
        #pragma unroll 8
        for (int i = 0; i < 2 * HALO_X; i += CHANNELS)
            for (int channel = 0; channel < CHANNELS; ++channel) sums[channel] += run[i + channel];
        #pragma unroll
        for (int i = 0; i < RUN; ++i) {
            sums[i % CHANNELS] += run[i + 2 * HALO_X];
            along[i] = sums[i % CHANNELS];
            sums[i % CHANNELS] -= run[i];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < RUN; ++i) run[i] = along[i];
        __syncthreads();
        // 3. Write, neighbours side by side.
        #pragma unroll 1
        for (int row = 0; row < min(ROWS, end - y); ++row)
            for (int at = thread; at < min(ACROSS, width * CHANNELS - left); at += THREADS)
                write(left + at, y + row, lines[row * ROW + at]);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) factor(
    const sample* __restrict__ src, Two<float>* __restrict__ factors,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(Two<total>, lines);
    const auto write = [&](int x, int y, const Two<total>& sums) {
        row_of(factors, y, pitch)[x] = factors_of(sums, count_at(x, y, height, width));
    };
    box_sums(lines, src, height, width, pitch, first_row, end_row, write);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) draw(
    const Two<float>* __restrict__ factors, const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(Two<float>, lines);
    const auto write = [&](int x, int y, const Two<float>& sums) {
        row_of(dst, y, pitch)[x] = drawn(sums, count_at(x, y, height, width), row_of(src, y, pitch)[x], x);
    };
    box_sums(lines, factors, height, width, pitch, first_row, end_row, write);
}
