/*---
title   = "Separable ring"
idea    = "A block walks down a strip of the picture: rows arrive by asynchronous copies, their sums along x go round a ring in shared memory, and the sums down the ring are the answer. A row is read once, and summed once."
after   = "tile_separable"
weights = "separable"
includes = ["wide", "async", "separable"]
own_block = "A block has as many threads as the strip that it walks down needs."
requires = [["RANK == 1", "These weights are not separable: they have rank {RANK}, and only those of rank 1 are one column times one row. Choose another implementation, such as shared."]]
chain_length = "2 * KSIZE"
error_factor = 2.0  # as for separable

[[passes]]
block = ["256 if KSIZE <= 15 and SAMPLE_BYTES == 4 else 128", "1"]
# So many blocks a multiprocessor, and as tall as that allows: the halo of each is read and summed as well.
covers = ["256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128", """max(64, 32 * -(-HEIGHT // (32 * max(1, MULTIPROCESSORS
    * (20 if KSIZE <= 15 else 8 if KSIZE <= 31 else 3 if KSIZE <= 63 else 2)
    // -(-WIDTH * CHANNELS // (256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128))))))"""]
rows_by = "16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32"
shared_bytes = """16 * (
    (16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32) * ((256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) * SAMPLE_BYTES // 16 + 2 * -(-HALO_X * SAMPLE_BYTES // 16) + (4 if SAMPLE_BYTES == 4 and HALO_X <= 4 else 1))
    + ((16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32)
        + ((KSIZE + 2) // 4 * 4 if KSIZE <= 15 and SAMPLE_BYTES == 4 else (KSIZE + 6) // 8 * 8)) * ((256 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 128) // 4 + 1))"""
# A block takes in 16 or 32 rows at a time, those that only lead in as well.
loads = { picture = "(HEIGHT + (KSIZE - 1) * segments(16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32)) * STAGED" }
stores = { picture = "up(WIDTH * CHANNELS, 4) * HEIGHT" }
flops = """2 * KSIZE * (BLOCKS_X * COVERS_X * (up(HEIGHT, 16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32)
        + up(KSIZE - 1, 16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32)
        * segments(16 if KSIZE <= 15 and SAMPLE_BYTES < 4 else 32))
    + up(WIDTH * CHANNELS, 4) * up(HEIGHT, 4 if KSIZE <= 15 and SAMPLE_BYTES == 4 else 8)) * PLANES // CHANNELS"""
anatomy = "bands.ring_separable"
---*/

__constant__ float COLUMN[KSIZE];
__constant__ float ROW[KSIZE];

constexpr bool SMALL = KSIZE <= 15;
constexpr int THREADS = SMALL && sizeof(sample) == 4 ? 256 : 128;
constexpr int STRIP = SMALL && sizeof(sample) < 4 ? 256 : 128;  // samples of a row that a block makes
constexpr int GROUP = THREADS / (STRIP / QUAD) * BAND;          // rows that it takes in at a time
constexpr int BANDS = LEAD + GROUP / BAND;                      // of sums along x in the ring
constexpr int STRIDE = SUMS_STRIDE<STRIP>;

// Which band of the ring band n is; n below twice BANDS.
__device__ __forceinline__ int around(int n) { return n < BANDS ? n : n - BANDS; }

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(uint4, stage);  // [GROUP][STAGE_STRIDE<STRIP>]
    float4* const ring = reinterpret_cast<float4*>(stage + GROUP * STAGE_STRIDE<STRIP>);  // [BANDS * BAND][STRIDE]

    const int groups = (end_row - first_row + gridDim.y * GROUP - 1) / (gridDim.y * GROUP);  // a block
    const int x0 = blockIdx.x * STRIP;
    const int y0 = first_row + blockIdx.y * groups * GROUP;
    const int rows = min(groups * GROUP, end_row - y0);  // of dst; of src there are KSIZE - 1 more
    if (rows <= 0) return;

    // Rows of src are counted from SPARE above the first that is needed, so that the answer's row i ends
    // with row LEAD * BAND + i.
    const int top = y0 - RADIUS - SPARE, end = LEAD * BAND + rows;
    const auto begin_group = [&](int at) {
        begin_rows<GROUP, STRIP, THREADS>(stage, src, x0, top + at, max(min(SPARE - at, GROUP), 0),
                                          max(min(end - at, GROUP), 0), height, width, pitch);
        end_group();
    };
    // The first groups only lead in: the answer begins with the one that row LEAD * BAND begins.
    int at = LEAD * BAND - (LEAD * BAND + GROUP - 1) / GROUP * GROUP;
    begin_group(at);
    const int quad = threadIdx.x % (STRIP / QUAD), nth = threadIdx.x / (STRIP / QUAD);
    const int x = x0 + quad * QUAD;
    #pragma unroll 1
    for (int band = 0; at < end; at += GROUP, band = around(band + GROUP / BAND)) {
        wait_for_groups<0>();
        __syncthreads();  // the stage is filled, and what is oldest in the ring has been read

        // 1. Along x, from the stage to the ring, a thread a part of a row.
        #pragma unroll 1
        for (int n = threadIdx.x; n < GROUP * (STRIP / PART); n += THREADS) {
            const int i = n % GROUP, part = n / GROUP;
            sum_along(ring + (around(band + i / BAND) * BAND + i % BAND) * STRIDE + part * (PART / QUAD),
                      stage + SHIFT + i * STAGE_STRIDE<STRIP> + part * (PART / CHUNK), ROW);
        }
        __syncthreads();  // the ring is filled, and the stage free for the next rows
        begin_group(at + GROUP);

        // 2. Down the ring, a thread for four columns of a band.
        const int i = at - LEAD * BAND + nth * BAND;
        if (i < 0 || i >= rows || x >= width * CHANNELS) continue;
        const int uppermost = band + nth >= LEAD ? around(band + nth - LEAD) : band + nth - LEAD + BANDS;
        const auto band_of = [&](int n) { return ring + around(uppermost + n) * BAND * STRIDE + quad; };
        float sums[BAND][QUAD];
        begin_down<STRIDE>(sums, band_of);
        add_down<STRIDE>(sums, band_of, COLUMN);
        write_band(dst, x, y0 + i, rows - i, pitch, sums);
    }
}
