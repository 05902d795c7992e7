/*---
title   = "Ring of rows"
idea    = "A warp walks down the picture: asynchronous copies keep rows coming through a ring in shared memory, and each is read once, for the sums of all rows that it counts for."
after   = "register_tile"
weights = "constant"
includes = ["wide", "async"]
own_block = "A warp walks down a strip of the picture by itself; a block is four of them, side by side."
requires = [
    ["KSIZE * 16 // SAMPLE_BYTES <= 120", "A thread of the ring keeps {KSIZE} rows of {16 // SAMPLE_BYTES} sums in registers, {KSIZE * 16 // SAMPLE_BYTES} in all, and there is room for 120. Choose a smaller size, or another implementation, such as shared."],
]

[[passes]]
block = ["32", "4"]
covers = ["4 * 32 * 16 // SAMPLE_BYTES", "32"]
rows_by = "1"
shared_bytes = "4 * 8 * (32 + 2 * -(-HALO_X * SAMPLE_BYTES // 16)) * 16"
# Strips of 32 chunks.
loads = { picture = """(parts(WIDTH * CHANNELS, 32 * CHUNK) * (32 + 2 * HALO_CHUNKS) * CHUNK
    * (HEIGHT + BLOCKS_Y * (KSIZE - 1)) + HAS_ALPHA * up(WIDTH * CHANNELS, CHUNK) * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
flops = "2 * up(WIDTH * CHANNELS, 32 * CHUNK) * HEIGHT * KSIZE**2 * PLANES // CHANNELS"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

constexpr int WARPS = 4;   // a block
constexpr int STAGES = 8;  // rows a warp has in its ring, all but one of them on their way
constexpr int WARP_WIDTH = 32 * CHUNK;            // samples of a row that a warp makes
constexpr int ROW_CHUNKS = 32 + 2 * HALO_CHUNKS;  // what it reads for that
constexpr int WINDOW = (1 + 2 * HALO_CHUNKS) * CHUNK;  // samples a thread reads of a row

// Begin to copy row y of src, of which the warp makes the samples from x on; `inside`, if all that it
// needs of a row lies in the picture.
__device__ __forceinline__ void begin_row(
    uint4* row, const sample* __restrict__ src, int x, bool inside, int y,
    int height, int width, int pitch)
{
    const int lane = threadIdx.x, left = x - HALO_CHUNKS * CHUNK;
    if (inside && 0 <= y && y < height) {
        const sample* from = row_of(src, y, pitch) + left + lane * CHUNK;
        copy_async(row + lane, from);
        if (lane < 2 * HALO_CHUNKS) copy_async(row + 32 + lane, from + WARP_WIDTH);
    } else {
        #pragma unroll 1
        for (int c = lane; c < ROW_CHUNKS; c += 32)
            row[c] = read_chunk(src, left + c * CHUNK, y, height, width, pitch);
    }
}

// Add one row of src to the sums of rows of dst from `oldest` up to `newest`.  sums[i] belongs to the
// row RADIUS - i above that of src, and moves up by one: it begins as what sums[i + 1] was.
__device__ __forceinline__ void add_row(
    float (&sums)[KSIZE][CHUNK], const float (&window)[WINDOW], int oldest, int newest)
{
    #pragma unroll
    for (int i = 0; i < KSIZE; ++i) {
        if (i < oldest || i > newest) continue;
        #pragma unroll
        for (int s = 0; s < CHUNK; ++s) {
            if (is_alpha(s)) continue;
            sums[i][s] = i + 1 < KSIZE ? sums[i + 1 < KSIZE ? i + 1 : i][s] : OFFSET;
        }
        #pragma unroll
        for (int k = 0; k < KSIZE; ++k)
            #pragma unroll
            for (int s = 0; s < CHUNK; ++s)
                if (!is_alpha(s))
                    sums[i][s] += WEIGHTS[(KSIZE - 1 - i) * KSIZE + k]
                                * window[HALO_SPARE + s + k * CHANNELS];
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, rings);  // [WARPS][STAGES][ROW_CHUNKS]
    uint4* const ring = rings + threadIdx.y * STAGES * ROW_CHUNKS;

    const int strip_x = (blockIdx.x * WARPS + threadIdx.y) * WARP_WIDTH;
    if (strip_x >= width * CHANNELS) return;  // the whole warp; there is no barrier of the block
    const bool inside = strip_x >= HALO_CHUNKS * CHUNK
                     && strip_x + WARP_WIDTH + HALO_CHUNKS * CHUNK <= width * CHANNELS;
    const int x = strip_x + threadIdx.x * CHUNK;
    const int tall = (end_row - first_row + gridDim.y - 1) / gridDim.y;
    const int y0 = first_row + blockIdx.y * tall;
    const int rows = min(tall, end_row - y0);  // of dst; of src there are KSIZE - 1 more

    float sums[KSIZE][CHUNK] = {};
    // The first turns only begin rows, so that begin_row, which is long, is compiled in one place.
    #pragma unroll 1
    for (int j = 1 - STAGES; j < rows + KSIZE - 1; ++j) {
        wait_for_groups<STAGES - 2>();  // this lane's part of row j is here,
        __syncwarp();  // that of all lanes, and all are done with row j - 1: the next takes its place
        const int next = j + STAGES - 1;
        if (next < rows + KSIZE - 1)
            begin_row(ring + next % STAGES * ROW_CHUNKS, src, strip_x, inside, y0 - RADIUS + next,
                      height, width, pitch);
        end_group();
        if (j < 0) continue;

        float window[WINDOW];
        #pragma unroll
        for (int c = 0; c <= 2 * HALO_CHUNKS; ++c)
            unpack(ring[j % STAGES * ROW_CHUNKS + threadIdx.x + c], window + c * CHUNK);

        // The first rows and the last count for fewer rows of dst.  A second call, for those between,
        // would be no quicker.
        add_row(sums, window, KSIZE - 1 - j, KSIZE - 1 - (j - rows + 1));

        const int y = y0 + j - (KSIZE - 1);
        if (y < y0 || x >= width * CHANNELS) continue;
        uint4 chunk = pack(sums[0]);
        if constexpr (HAS_ALPHA) chunk = keep_alpha(chunk, load_chunk(row_of(src, y, pitch), x));
        write_chunk(row_of(dst, y, pitch), x, chunk);
    }
}
