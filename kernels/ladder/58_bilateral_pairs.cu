/*---
title   = "Bilateral, pairs of pixels"
idea    = "Two pixels weigh as much for each other, so every weight is worked out once and used for both."
filter  = "bilateral"
after   = "bilateral_tile"
weights = "numbers"
includes = ["wide", "async", "means", "bilateral"]
own_block = "A warp walks down a strip of 256 pixels by itself; a block is four of them, one above the other."
headroom = "KSIZE**2 * STEEPNESS"
requires = [
    ["CHANNELS == 1", "Pairs are worked out for one channel only, and this picture has {CHANNELS}. Choose another implementation, such as bilateral_tile."],
    ["3 <= KSIZE <= 15", "A thread keeps the sums of half a disk's rows in registers, and at size {KSIZE} would have too many, or none; it takes sizes 3 to 15. Choose another implementation, such as bilateral_tile."],
]
lesson  = """
Exponentials are what takes the time, 16 a clock, and the weight of q for p is that of p for q. So half of the disk \
will do: a thread walks down eight columns, takes its pixels of a row with those of the disk's lower half, and adds \
w q to the sums of p and w p to those of q, which wait in registers until their row comes. Only where p or q is in a \
neighbour's columns is a weight worked out twice: 29 exponentials a pixel of a disk of diameter 9, not 48. Of large \
disks some are polynomials, since multiply-adds have time left. Rows are copied ahead, and scaled once a pixel."""

[[passes]]
block  = ["128", "1"]
# RADIUS: what beginning takes, in rows.  On an H200 2 blocks of 249 registers took 2,598 µs at size 15,
# and 3 of 168, which spill, 3,054: there the instruction cache is the limit.
covers = ["256", """4 * parts(parts(HEIGHT, 4), blocks_down(parts(WIDTH, 256), MULTIPROCESSORS
    * (8 if KSIZE == 3 else 5 if KSIZE == 5 else 4 if KSIZE <= 11 else 2), parts(HEIGHT, 4), RADIUS))"""]
rows_by = "4"
shared_bytes = "16 * (4 * (72 * (RADIUS + 1) + 3 * (256 // CHUNK + 2 * HALO_CHUNKS)) + 1)"
loads = { picture = """(BLOCKS_X * (256 + 2 * HALO_CHUNKS * CHUNK)
    * (HEIGHT + 2 * RADIUS * parts(HEIGHT, parts(parts(HEIGHT, BLOCKS_Y), 4))))""" }
stores = { picture = "up(WIDTH, 8) * HEIGHT" }
---*/

constexpr int WARPS = 4, BYTES = sizeof(sample);
constexpr int WIDE = 8, AROUND = (RADIUS + 3) / 4 * 4, SPAN = WIDE + 2 * AROUND;  // columns a thread makes and reads
constexpr int CHUNKS = 32 * WIDE / CHUNK + 2 * HALO_CHUNKS;  // of a row that a warp reads
constexpr int SPARE = (HALO_CHUNKS * CHUNK - AROUND) / 4;    // quads, of four samples, that fill up the first
constexpr int HALF = 36, RING_ROW = 2 * HALF;   // quads
constexpr int RING_ROWS = RADIUS + 1, AHEAD = 3;             // rows that are read, and that are on their way
constexpr int BLOCKS = KSIZE == 3 ? 8 : KSIZE == 5 ? 5 : KSIZE <= 11 ? 4 : 2;  // that a multiprocessor is to run
constexpr int BY_PRODUCTS = KSIZE > 9 ? WIDE / 2 : -WIDE;    // the column of p whose weights take no exponential

// Lanes read quads 2 lane + k: first come the even ones, then the odd, and no two lanes meet in a bank.
__device__ __forceinline__ constexpr int place_of(int quad) { return quad % 2 * HALF + quad / 2; }

__device__ __forceinline__ void read_row(float (&values)[SPAN], const float4* row) {
    #pragma unroll
    for (int k = 0; k < SPAN / 4; ++k) {
        const float4 quad = row[threadIdx.x % 32 + place_of(SPARE + k)];
        values[4 * k] = quad.x, values[4 * k + 1] = quad.y, values[4 * k + 2] = quad.z, values[4 * k + 3] = quad.w;
    }
}

// Sums of a thread's pixels in row y and the RADIUS below.
struct Sums { float of[RADIUS + 1][WIDE], weights[RADIUS + 1][WIDE]; };

// 2^x of what is not above 0, within 3 units in the last place, by others than the exponential's units.
__device__ __forceinline__ float exp2_by_products(float x) {
    x = fmaxf(x, -127.0f);                      // which gives 0
    const float shifted = x + 12582912.0f;      // 1.5 x 2^23: the bits behind the point are rounded away
    const float part = x - (shifted - 12582912.0f);
    const float power = 1.0f + part * (0.6931470036506653f + part * (0.24022242426872253f
        + part * (0.05550733581185341f + part * (0.009671512991189957f + part * 0.001326472731307149f))));
    return __uint_as_float(__float_as_uint(power) + (__float_as_uint(shifted) << 23));
}

// The pairs of pixels p of row y and q of row y + DY.
template <int DY>
__device__ __forceinline__ void add_pairs(Sums& sums, const float (&p)[SPAN], const float (&q)[SPAN], float by_space) {
    #pragma unroll
    for (int dx = DY == 0 ? 1 : -RADIUS; dx <= RADIUS; ++dx) {
        if (!in_disk(dx, DY)) continue;
        const float of_space = by_space * (dx * dx + DY * DY);
        #pragma unroll
        for (int c = -RADIUS; c < WIDE + RADIUS; ++c) {  // p's column
            const int d = c + dx;  // q's
            const bool has_p = 0 <= c && c < WIDE, has_q = 0 <= d && d < WIDE;
            if (!has_p && !has_q) continue;
            const float a = p[AROUND + c], b = q[AROUND + d], apart = a - b;
            const float exponent = of_space - apart * apart;
            const float weight = c == BY_PRODUCTS ? exp2_by_products(exponent) : exp2f(exponent);
            if (has_p) sums.of[0][c & 7] += weight * b, sums.weights[0][c & 7] += weight;
            if (has_q) sums.of[DY][d & 7] += weight * a, sums.weights[DY][d & 7] += weight;
        }
    }
}
template <int DY = 1>
__device__ __forceinline__ void add_rows_below(
    Sums& sums, const float (&p)[SPAN], const float4* ring, int ring_row, float by_space)
{
    float q[SPAN];
    const int at = ring_row + DY;
    read_row(q, ring + (at < RING_ROWS ? at : at - RING_ROWS) * RING_ROW);
    if constexpr (DY == RADIUS) {  // the first that these pixels are of a pair: they weigh 1 for themselves
        #pragma unroll
        for (int c = 0; c < WIDE; ++c) sums.of[DY][c] = q[AROUND + c], sums.weights[DY][c] = 1.0f;
    }
    add_pairs<DY>(sums, p, q, by_space);
    if constexpr (DY < RADIUS) add_rows_below<DY + 1>(sums, p, ring, ring_row, by_space);
}
struct __align__(BYTES == 1 ? 8 : 16) Made { unsigned words[WIDE * BYTES / 4]; };  // of a thread

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float4, memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int strip_x = blockIdx.x * 32 * WIDE, x = strip_x + lane * WIDE;
    const int tall = ((end_row - first_row + gridDim.y - 1) / gridDim.y + WARPS - 1) / WARPS;
    const int y0 = first_row + (blockIdx.y * WARPS + warp) * tall, y1 = min(y0 + tall, end_row);
    if (y0 >= y1) return;  // the whole warp; there is no barrier of the block

    float4* const ring = memory + warp * RING_ROWS * RING_ROW;
    // Two chunks that are one sector of 32 bytes in the picture are one here as well, or it would come twice.
    float4* const landings = memory + WARPS * RING_ROWS * RING_ROW + HALO_CHUNKS % 2;
    uint4* const landing = reinterpret_cast<uint4*>(landings) + warp * AHEAD * CHUNKS;

    // Rows on their way to the ring.  Each lane has chunks of its own, 32 apart, that nobody else looks at before.
    const auto begin_row = [&](int y, uint4* to) {
        const int from_y = border_index(y, height);
        const sample* const row = row_of(src, from_y, pitch);
        #pragma unroll
        for (int c = lane; c < CHUNKS; c += 32) {
            const int from = strip_x + (c - HALO_CHUNKS) * CHUNK;
            if (from_y == OUTSIDE) to[c] = outside_chunk();
            else if (0 <= from && from + CHUNK <= width) copy_async(to + c, row + from);
            else to[c] = edge_chunk(row, from, width);
        }
    };
    const auto finish_row = [&](int y, const uint4* from, float4* to) {  // scaled
        #pragma unroll
        for (int c = lane; c < CHUNKS; c += 32) {
            float values[CHUNK];
            unpack(from[c], values);
            #pragma unroll
            for (int i = 0; i < CHUNK; ++i) {
                const int at = strip_x + (c - HALO_CHUNKS) * CHUNK + i;
                const bool is_none = BORDER == CROP && !(0 <= y && y < height && 0 <= at && at < width);
                values[i] = is_none ? FAR : steep(values[i]);
            }
            #pragma unroll
            for (int i = 0; i < CHUNK; i += 4)
                to[place_of((c * CHUNK + i) / 4)] = make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
        }
    };
    const float back = 1.0f / NUMBERS[1];
    Sums sums = {};
    int ring_row = 0, slot = 0;  // of row y, and of the oldest row that was begun
    #pragma unroll 1
    for (int y = y0 - 2 * RADIUS - AHEAD; y < y1; ++y) {  // the first turns only begin rows, the next fill the ring
        wait_for_groups<AHEAD - 1>();
        __syncwarp();  // all are done with row y - 1: row y + RADIUS takes its place
        uint4* const oldest = landing + slot * CHUNKS;
        if (y >= y0 - 2 * RADIUS)
            finish_row(y + RADIUS, oldest, ring + (ring_row > 0 ? ring_row - 1 : RADIUS) * RING_ROW);
        __syncwarp();
        if (y + AHEAD < y1) begin_row(y + RADIUS + AHEAD, oldest);
        end_group();
        slot = slot + 1 < AHEAD ? slot + 1 : 0;
        if (y >= y0 - RADIUS) {
            float by_space = NUMBERS[0];
#ifndef CUDA_ON_CPU
            asm volatile("" : "+f"(by_space));  // or its products would be worked out before, and take registers
#endif
            float p[SPAN];
            read_row(p, ring + ring_row * RING_ROW);
            add_pairs<0>(sums, p, p, by_space);
            add_rows_below(sums, p, ring, ring_row, by_space);
            if (y >= y0 && x < width) {
                float means[WIDE];
                #pragma unroll
                for (int c = 0; c < WIDE; ++c) means[c] = __fdividef(sums.of[0][c] * back, sums.weights[0][c]);
                Made made;
                #pragma unroll
                for (int w = 0; w < WIDE * BYTES / 4; ++w) made.words[w] = pack_word(means + w * 4 / BYTES);
                *reinterpret_cast<Made*>(row_of(dst, y, pitch) + x) = made;
            }
            #pragma unroll
            for (int r = 0; r < RADIUS; ++r)
                #pragma unroll
                for (int c = 0; c < WIDE; ++c)
                    sums.of[r][c] = sums.of[r + 1][c], sums.weights[r][c] = sums.weights[r + 1][c];
        }
        ring_row = ring_row < RADIUS ? ring_row + 1 : 0;
    }
}
