/*---
title   = "Windows over a tile"
idea    = "A thread makes a long run of samples out of a shared tile: each that it reads serves many sums at once, and each weight as many samples as the run is long."
after   = "ring"
weights = "constant"
includes = ["wide", "async"]
requires = [
    ["THREADS <= 512", "A thread of this rung needs up to 128 registers, so that a block has at most 512 threads, not {THREADS}."],
]

[[passes]]
covers = ["BLOCK_X * (32 if KSIZE <= 47 else 16)", "BLOCK_Y"]
shared_bytes = "(BLOCK_Y + 2 * HALO_Y) * ((BLOCK_X * (32 if KSIZE <= 47 else 16) + 2 * -(-HALO_X * SAMPLE_BYTES // 16) * 16 // SAMPLE_BYTES) // 4 * (9 if KSIZE <= 47 else 10) // 8 + 1) * 16"
loads = { picture = """(BLOCKS * (COVERS_X + 2 * HALO_CHUNKS * CHUNK) * (COVERS_Y + 2 * HALO_Y)
    + HAS_ALPHA * up(WIDTH * CHANNELS, CHUNK) * HEIGHT)""" }
stores = { picture = "up(WIDTH * CHANNELS, CHUNK) * HEIGHT" }
flops = "2 * BLOCKS * COVERS_X * COVERS_Y * KSIZE**2 * PLANES // CHANNELS"
anatomy = "windows.window_tile"
---*/

__constant__ float WEIGHTS[KSIZE * KSIZE];

constexpr int THREADS = BLOCK_X * BLOCK_Y;
// Samples of a row that a thread makes; with more weights the compiler would leave a loop in add_row.
constexpr int RUN = KSIZE <= 47 ? 32 : 16;

// The tile in shared memory: float32, whatever a sample is, in quads of four samples.
constexpr int LEFT = HALO_CHUNKS * CHUNK;  // samples that it begins left of the first that is made
constexpr int TILE_W = BLOCK_X * RUN + 2 * LEFT;
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;

// Quad n of a row lies here.  Behind every run's there is a gap, so that neighbouring lanes, which
// read a run apart, are an odd number of quads apart: no two of eight meet in one bank.
__device__ __forceinline__ constexpr unsigned place_of(unsigned n) { return n + n / (RUN / 4); }
constexpr int TILE_PITCH = TILE_W / 4 * (RUN / 4 + 1) / (RUN / 4) + 1;  // quads from row to row

// Copies the tile whose first sample is x0 of row y0, chunk by chunk.  INSIDE the picture nothing needs
// to be looked at, and a float32 goes straight from global to shared memory.
template <bool INSIDE>
__device__ __forceinline__ void stage(
    float4* tile, const sample* __restrict__ src, int x0, int y0, int height, int width, int pitch)
{
    constexpr int CHUNKS = TILE_W / CHUNK, LOADS = (CHUNKS * TILE_H + THREADS - 1) / THREADS;
    #pragma unroll (INSIDE && LOADS <= 16 ? LOADS : 1)
    for (int load = 0; load < LOADS; ++load) {
        const unsigned at = load * THREADS + threadIdx.y * BLOCK_X + threadIdx.x;
        if (at >= CHUNKS * TILE_H) break;
        const int x = x0 + static_cast<int>(at % CHUNKS * CHUNK);
        const int y = y0 + static_cast<int>(at / CHUNKS);
        float4* const row = tile + at / CHUNKS * TILE_PITCH;
        const unsigned first = at % CHUNKS * (CHUNK / 4);  // quad of the row
        if constexpr (INSIDE && IS_SAME<sample, float32>) {
            copy_async(reinterpret_cast<uint4*>(row + place_of(first)), row_of(src, y, pitch) + x);
        } else {
            float values[CHUNK];
            unpack(INSIDE ? load_chunk(row_of(src, y, pitch), x)
                          : read_chunk(src, x, y, height, width, pitch), values);
            #pragma unroll
            for (int i = 0; i < CHUNK; i += 4)
                row[place_of(first + i / 4)]
                    = make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
        }
    }
    end_group();
    wait_for_groups<0>();
}

// One row of weights on one row of the tile.  A sample is added to all sums that it counts for, those
// of its channel, so that no window of samples has to be kept; how far it is from a sum's first tap
// says by which weight.
__device__ __forceinline__ void add_row(float (&sums)[RUN], const float4* quads, const float* weights)
{
    #pragma unroll
    for (int q = HALO_SPARE / 4; q <= (HALO_SPARE + RUN + 2 * HALO_X - 1) / 4; ++q) {
        const float4 quad = quads[place_of(q)];
        const float samples[4] = {quad.x, quad.y, quad.z, quad.w};
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = q * 4 + i - HALO_SPARE;  // in samples, from the first tap of sums[0]
            #pragma unroll
            for (int k = 0; k < (RUN + CHANNELS - 1) / CHANNELS; ++k) {
                const int s = (at + CHUNK * CHANNELS) % CHANNELS + k * CHANNELS;
                if (s < RUN && s <= at && at <= s + 2 * HALO_X && !is_alpha(s))
                    sums[s] += weights[(at - s) / CHANNELS] * samples[i];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float4, tile);  // TILE_H rows of TILE_PITCH quads
    const int x0 = blockIdx.x * BLOCK_X * RUN - LEFT;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - RADIUS;

    // 1. Stage.
    if (x0 >= 0 && x0 + TILE_W <= width * CHANNELS && y0 >= 0 && y0 + TILE_H <= height)
        stage<true>(tile, src, x0, y0, height, width, pitch);
    else
        stage<false>(tile, src, x0, y0, height, width, pitch);
    __syncthreads();

    // 2. Convolve.
    float4* const mine = tile + threadIdx.y * TILE_PITCH + place_of(threadIdx.x * (RUN / 4));
    float sums[RUN];
    begin_with_offset<RUN>(sums);
    #pragma unroll 1
    for (int j = 0; j < KSIZE; ++j)
        add_row(sums, mine + j * TILE_PITCH, WEIGHTS + j * KSIZE);
    __syncthreads();  // nobody reads the tile any more: it takes the sums

    // 3. Write, in another order: were each thread to write its own run, a warp's sixteen bytes each
    // would lie scattered over as many lines.
    #pragma unroll
    for (int i = 0; i < RUN; i += 4)
        mine[i / 4] = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    __syncthreads();
    const int y = y0 + RADIUS + threadIdx.y;
    if (y >= end_row) return;
    #pragma unroll
    for (int k = 0; k < RUN / CHUNK; ++k) {
        const unsigned c = k * BLOCK_X + threadIdx.x;  // chunk of the block's row
        const int x = x0 + LEFT + static_cast<int>(c * CHUNK);
        if (x >= width * CHANNELS) return;
        float values[CHUNK];
        #pragma unroll
        for (int i = 0; i < CHUNK; i += 4) {
            const float4 quad = tile[threadIdx.y * TILE_PITCH + place_of((c * CHUNK + i) / 4)];
            values[i] = quad.x, values[i + 1] = quad.y, values[i + 2] = quad.z, values[i + 3] = quad.w;
        }
        uint4 chunk = pack(values);
        if constexpr (HAS_ALPHA) chunk = keep_alpha(chunk, load_chunk(row_of(src, y, pitch), x));
        write_chunk(row_of(dst, y, pitch), x, chunk);
    }
}
