/*---
title   = "Bilateral, colours of bytes"
idea    = "A colour waits in shared memory as three floats and as one word of its three bytes: one instruction takes two such words, and gives the sum of their differences."
filter  = "bilateral"
after   = "bilateral_tile"
weights = "numbers"
includes = ["wide", "means", "bilateral"]
own_block = "A thread makes eight pixels of a row, and a block is 8 x 32 threads."
requires = [
    ["SAMPLE == 'uint8' and CHANNELS == 3", "Words of three bytes are for colours of bytes, and this picture's pixels are {CHANNELS} {SAMPLE}; choose another implementation, such as bilateral_tile."],
    ["KSIZE <= 15", "A disk of diameter {KSIZE} would take more instructions than a multiprocessor's cache holds; here it is up to 15. Choose another implementation, such as bilateral_tile."],
    ["BORDER != 'CROP'", "No colour of three bytes is so unlike all others that its weight is none, as the border crop needs it. Choose another border, or another implementation, such as bilateral_tile."],
]
lesson  = """
With three channels the sums are most of the work: of a neighbour five additions give how unlike it is, and four \
multiply-adds take its weight. Bytes are easier: one instruction adds up the differences of the four bytes of two words, \
and what it adds them to may be the bits of the float 2^23, so that no conversion is needed. That makes eight \
instructions for a neighbour, while the exponential takes its unit eight clocks. A thread makes eight pixels side by \
side and uses what it reads for all of them; equally long rows of the disk share their instructions, which a cache holds."""

[[passes]]
block  = ["256", "1"]
covers = ["192", "32"]
shared_bytes = "16 * 8 * (up(8 + parts(2 * up(RADIUS, 4), 8), 2) + 1) * (32 + 2 * RADIUS)"
loads = { picture = "BLOCKS * (64 + 2 * up(RADIUS, 4)) * (32 + 2 * RADIUS) * 3" }
stores = { picture = "up(WIDTH * 3, 4) * HEIGHT" }
---*/

constexpr int WIDE = 8, ACROSS = 8, DOWN = 32;     // pixels that a thread makes; threads
constexpr int THREADS = ACROSS * DOWN, TILE_H = DOWN + 2 * RADIUS;
constexpr int AROUND = (RADIUS + 3) / 4 * 4;       // staged on either side
constexpr int QUADS = (ACROSS * WIDE + 2 * AROUND) / 4;  // of a staged row, four pixels each
constexpr int PART = (ACROSS + (2 * AROUND + WIDE - 1) / WIDE + 1) / 2 * 2 + 1, ROW = WIDE * PART;
// Of pixel c of a staged row: lanes side by side read in a row.  PART is odd.
__device__ __forceinline__ constexpr int place_of(int c) { return c % WIDE * PART + c / WIDE; }

struct Four { unsigned pixels[4]; };  // a word each, its last byte 0
__device__ __forceinline__ Four read_four(const unsigned* w) {
    return {{w[0] & 0xFFFFFF, (w[0] >> 24 | w[1] << 8) & 0xFFFFFF, (w[1] >> 16 | w[2] << 16) & 0xFFFFFF, w[2] >> 8}};
}
__device__ __noinline__ Four read_edge(const sample* src, int x, int y, int height, int width, int pitch) {
    Four four;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const Colour colour = read_colour(src, x + i, y, height, width, pitch);
        four.pixels[i] = static_cast<unsigned>(colour.of[0] + 256.0f * colour.of[1] + 65536.0f * colour.of[2]);
    }
    return four;
}

// 2^23 and the sum of the differences of two words' bytes, by the bits of that float.
__device__ __forceinline__ float shifted_difference(unsigned a, unsigned b) {
#ifdef CUDA_ON_CPU
    return __uint_as_float(TWO_23_BITS + __vsadu4(a, b));
#else
    unsigned bits;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(bits) : "r"(a), "r"(b), "r"(TWO_23_BITS));
    return __uint_as_float(bits);
#endif
}

// A row of the disk, E to either side; from: its pixel above, below or at the thread's first, AROUND columns before.
template <int E>
__device__ __forceinline__ void add_row(
    Mean (&means)[WIDE], const unsigned (&own)[WIDE], const float4* from, float of_row)
{
    const float none = -TWO_23 * NUMBERS[1];
    #pragma unroll
    for (int i = -E; i < WIDE + E; ++i) {
        const float4 near = from[place_of(AROUND + i)];
        const Colour colour = {near.x, near.y, near.z};
        #pragma unroll
        for (int c = 0; c < WIDE; ++c) {
            const int dx = i - c;
            if (dx < -E || dx > E) continue;
            // Rounded once, so that what is shifted leaves no trace.
            const float unlike = __fmaf_rn(shifted_difference(own[c], __float_as_uint(near.w)), NUMBERS[1], none);
            means[c].add(exp2f(of_row + NUMBERS[0] * (dx * dx) - unlike * unlike), colour.of);
        }
    }
}
// The same, for whichever E row dy has.
template <int E = RADIUS>
__device__ __forceinline__ void add_row_of(Mean (&means)[WIDE], const unsigned (&own)[WIDE], const float4* from, int dy) {
    if constexpr (E >= 0) {
        if (in_disk(E, dy)) add_row<E>(means, own, from, NUMBERS[0] * static_cast<float>(dy * dy));
        else add_row_of<E - 1>(means, own, from, dy);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float4, tile);    // [TILE_H][ROW]: a pixel's colours, and the bits of its word
    const int x0 = blockIdx.x * ACROSS * WIDE, y0 = first_row + blockIdx.y * DOWN;

    // 1. Stage, four pixels at a time.
    #pragma unroll 2
    for (int at = threadIdx.x; at < TILE_H * QUADS; at += THREADS) {
        const int row = at / QUADS, column = at % QUADS * 4, x = x0 - AROUND + column, y = y0 - RADIUS + row;
        const Four four = 0 <= y && y < height && 0 <= x && x + 4 <= width
            ? read_four(reinterpret_cast<const unsigned*>(row_of(src, y, pitch) + x * 3))
            : read_edge(src, x, y, height, width, pitch);
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const unsigned word = four.pixels[i];
            tile[row * ROW + place_of(column) + i * PART] = make_float4(
                byte_to_float(word, 0), byte_to_float(word, 1), byte_to_float(word, 2), __uint_as_float(word));
        }
    }
    __syncthreads();  // every thread gets here: nobody has returned yet

    // 2. Eight means, row after row of the disk.
    const int x = x0 + threadIdx.x % ACROSS * WIDE, y = y0 + threadIdx.x / ACROSS;
    if (x >= width || y >= end_row) return;
    const float4* const first = tile + (threadIdx.x / ACROSS + RADIUS) * ROW + threadIdx.x % ACROSS;
    unsigned own[WIDE];
    #pragma unroll
    for (int c = 0; c < WIDE; ++c) own[c] = __float_as_uint(first[place_of(AROUND + c)].w);
    Mean means[WIDE];
    #pragma unroll 1
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) add_row_of(means, own, first + dy * ROW, dy);

    #pragma unroll
    for (int c = 0; c < WIDE; c += 4) {
        if (x + c >= width) return;
        unsigned* const to = reinterpret_cast<unsigned*>(row_of(dst, y, pitch) + (x + c) * 3);
        float made[12];
        #pragma unroll
        for (int i = 0; i < 12; ++i) made[i] = __fdividef(means[c + i / 3].weighted[i % 3], means[c + i / 3].weights);
        #pragma unroll
        for (int i = 0; i < 3; ++i)
            if ((x + c) * 3 + 4 * i < width * 3) to[i] = pack_word(made + 4 * i);  // or it might be the next row's
    }
}
