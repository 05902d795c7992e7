/*---
title   = "Running sums"
idea    = "A box's sum is its neighbour's, with what enters added and what leaves taken away: two operations down and two along, whatever the size."
after   = "separable"
weights = "uniform"
finite_only = true
strips_differ = true
headroom = "KSIZE * KSIZE"
own_block   = "A thread takes four samples of a row down, and a warp a row along."
requires = [["UNIFORM", "Running sums need weights that are all the same number, as the box filter's are; choose another implementation, such as shared."]]
# A sum down begins with KSIZE rows and is changed twice a row, as often as a block has rows; one along
# likewise, 33 times at most.
chain_length = "4 * RADIUS + 2 * (64 if KSIZE <= 31 else 128) + 2 * 33 + 2"

[[passes]]
block  = ["256", "1"]
# Rows: so few that a small picture, too, has two blocks for each multiprocessor; at most 64 or 128, since
# with all blocks at work from the top to the bottom at once an H200 took longer.  A multiple of ROWS.
covers = [
    "1024 - 2 * ((HALO_X + 3) // 4 * 4)",
    "min(-(-HEIGHT * -(-WIDTH * CHANNELS // (1024 - 2 * ((HALO_X + 3) // 4 * 4))) // (16 * MULTIPROCESSORS)) * 8, 64 if KSIZE <= 31 else 128)",
]
rows_by = "8"
# ROWS * ROW numbers of four bytes
shared_bytes = "8 * 4 * (32 * (32 - (HALO_X + 3) // 4 // 4 | 1) + 2 * ((HALO_X + 3) // 4 * 4))"
# A block reads 1024 samples of a row, or up to the halo of the picture's end: those where its sums
# begin, and all others twice, as they enter and as they leave.
loads = { picture = """((BLOCKS_Y * up(2 * RADIUS, 8) + 2 * up(HEIGHT, 8))
    * min(1024 * BLOCKS_X, WIDTH * CHANNELS + HALO_X + (2 * BLOCKS_X - 1) * (1024 - COVERS_X) // 2)
    + HAS_ALPHA * up(WIDTH * CHANNELS, 4) * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
# Additions but for the last line; of integers these are operations on integers.
flops = """(1024 * BLOCKS * 2 * RADIUS
    + BLOCKS_X * up(HEIGHT, 8) * (2 * 1024 + 32 * ((KSIZE - 1) * CHANNELS + 2 * (parts(COVERS_X, 32) | 1)))
    + up(WIDTH * CHANNELS, 4) * HEIGHT * PLANES // CHANNELS)"""
---*/

// A block walks down a strip of the picture, ROWS rows at a time.
//   Down: each thread keeps the sums of KSIZE rows over four samples that lie side by side.  A new row
//   enters, the sums go to shared memory, the row that has been in longest leaves.
//   Along: each warp takes one of those rows, each lane RUN samples of it.  A sum of KSIZE along
//   enters and leaves samples in the same way.
// Rounding errors stay in a running sum for as long as it runs: so it begins anew with every block,
// and with every RUN.  Integers are added up as integers, and lose nothing.

constexpr int THREADS = 256, ROWS = THREADS / 32;
constexpr int SPAN = 4 * THREADS;                 // samples it reads of a row
constexpr int HALO_PAD = (HALO_X + 3) / 4 * 4;    // so that what it writes is aligned as well
constexpr int OUTPUT = SPAN - 2 * HALO_PAD;       // samples it writes of a row
constexpr int RUN = ((OUTPUT + 31) / 32) | 1;     // odd: the lanes of a warp meet different banks
constexpr int ROW = 32 * RUN + 2 * HALO_PAD;      // the last lanes' runs may end behind SPAN

template <bool INTEGER> struct accumulator { using type = float; };
template <> struct accumulator<true> { using type = unsigned; };  // 127 * 127 * 65535 < 2^32
using total = accumulator<IS_SAME<sample, uint8> || IS_SAME<sample, uint16>>::type;

__constant__ float WEIGHT;

// Four that lie side by side in a row, at a multiple of four: loaded and stored as one.
struct __align__(4 * sizeof(sample)) four_samples { sample at[4]; };
struct __align__(16) four_totals { total at[4]; };

// Where a thread's four samples are in every row: at x to x + 3, or where the border has them.
struct columns {
    int x;
    bool inside;
    int from[4];
};

__device__ __forceinline__ columns columns_at(int x, int width) {
    columns these{x, 0 <= x && x + 4 <= width * CHANNELS, {OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE}};
    #pragma unroll
    for (int i = 0; i < 4; ++i)  // what is further out than the halo nobody asks for
        if (x + i < width * CHANNELS + HALO_X) these.from[i] = border_sample(x + i, width);
    return these;
}

// Those of rows y to y + ROWS - 1, wherever they lie.  First where, then all at once: loads wait for
// one another if there are decisions between them.
__device__ __forceinline__ void read_rows(
    four_samples (&rows)[ROWS], const sample* src, const columns& these, int y, int height, int pitch)
{
    int from[ROWS];
    const bool inside = 0 <= y && y + ROWS <= height;
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) from[r] = y + r;
    if (!inside) {
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) from[r] = border_index(y + r, height);
    }
    if (these.inside) {
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            rows[r] = {};
            if (from[r] != OUTSIDE)
                rows[r] = *reinterpret_cast<const four_samples*>(row_of(src, from[r], pitch) + these.x);
        }
    } else {
        #pragma unroll
        for (int r = 0; r < ROWS; ++r)
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                rows[r].at[i] = {};
                if (from[r] != OUTSIDE && these.from[i] != OUTSIDE)
                    rows[r].at[i] = row_of(src, from[r], pitch)[these.from[i]];
            }
    }
}

// The sums along a run of samples: out[i] = row[i] + row[i + CHANNELS] + ..., KSIZE of them.
__device__ __forceinline__ void run_along(const total* row, total (&out)[RUN]) {
    constexpr int LAST = (KSIZE - 1) * CHANNELS;
    total sums[CHANNELS] = {};
    #pragma unroll 8
    for (int i = 0; i < LAST; i += CHANNELS)
        #pragma unroll
        for (int channel = 0; channel < CHANNELS; ++channel) sums[channel] += row[i + channel];
    #pragma unroll
    for (int i = 0; i < RUN; ++i) {
        total& sum = sums[i % CHANNELS];
        sum += row[i + LAST];
        out[i] = sum;
        sum -= row[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(total, sums_down);      // ROWS * ROW
    const int left = blockIdx.x * OUTPUT;  // of what it writes
    const columns mine = columns_at(left - HALO_PAD + 4 * static_cast<int>(threadIdx.x), width);
    const int blocks = gridDim.y * ROWS;
    const int segment = (end_row - first_row + blocks - 1) / blocks * ROWS;  // rows a block writes
    const int top = first_row + blockIdx.y * segment;
    const int end = min(top + segment, end_row);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    four_totals down{};
    four_samples enters[ROWS], leaves[ROWS];
    for (int j = -RADIUS; j < RADIUS; j += ROWS) {
        read_rows(enters, src, mine, top + j, height, pitch);
        #pragma unroll
        for (int r = 0; r < ROWS; ++r)
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                if (j + r < RADIUS) down.at[i] += static_cast<total>(enters[r].at[i]);
    }
    for (int y = top; y < end; y += ROWS) {
        read_rows(enters, src, mine, y + RADIUS, height, pitch);
        read_rows(leaves, src, mine, y - RADIUS, height, pitch);
        __syncthreads();  // the rows before have been read
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) down.at[i] += static_cast<total>(enters[r].at[i]);
            reinterpret_cast<four_totals*>(sums_down + r * ROW)[threadIdx.x] = down;
            #pragma unroll
            for (int i = 0; i < 4; ++i) down.at[i] -= static_cast<total>(leaves[r].at[i]);
        }
        __syncthreads();
        total along[RUN];
        total* row = sums_down + warp * ROW;
        run_along(row + HALO_PAD - HALO_X + lane * RUN, along);
        __syncwarp();  // the row has been read: its place is free for the answer
        #pragma unroll
        for (int i = 0; i < RUN; ++i) row[lane * RUN + i] = along[i];
        __syncwarp();
        if (y + warp >= end) continue;  // the whole warp
        #pragma unroll
        for (int begin = 0; begin < OUTPUT; begin += 4 * 32) {
            const int at = begin + 4 * lane;
            if (at >= OUTPUT || left + at >= width * CHANNELS) break;
            const four_totals sums = *reinterpret_cast<const four_totals*>(row + at);
            const long long place = static_cast<long long>(y + warp) * pitch + left + at;
            four_samples four;
            if (HAS_ALPHA) four = *reinterpret_cast<const four_samples*>(src + place);
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                if (!is_alpha(i)) four.at[i] = to_sample(with_offset(WEIGHT * static_cast<float>(sums.at[i])));
            *reinterpret_cast<four_samples*>(dst + place) = four;
        }
    }
}
