/*---
title   = "Histograms"
idea    = "A thread counts the values of its window and walks down a column: K samples come in and K go out for each median, however many K x K are."
filter  = "median"
quick   = "KSIZE > 19"  # measured on an H200
after   = "median_halves"
own_block = "A warp walks down a strip of the picture by itself; a block is seven of them, one above the other."
lesson  = """
A byte has 256 values, and how often each occurs in a window is all that its median depends on. The window one row \
lower has K new samples and has lost K, so that the counts need 2 K changes, and the median moves by the few values \
that it has to (Huang 1979). Each thread has a histogram to itself in shared memory, counter after counter with those \
of its 31 neighbours beside it: whatever the lanes count, no two ask the same bank. So few warps fit - seven with \
counters of four bytes, fourteen with two - that hardly anything else of the chip is busy, and still, since its cost \
grows with K and not with K x K, nothing else is as quick from size 21 on."""
requires = [
    ["SAMPLE == 'uint8'", "Histograms are of the 256 values of uint8, and these samples are {SAMPLE}; choose another implementation, such as median_halves."],
    ["not IS_DISK", "Histograms here take squares only; choose another implementation, such as median_sort."],
    ["BORDER != 'CROP'", "Histograms here need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as median_sort."],
]

[[passes]]
block  = ["224", "1"]
# A multiprocessor has room for two blocks, or for one; RADIUS: what beginning takes, in rows.
covers = ["32", """7 * parts(parts(HEIGHT, 7), blocks_down(
    parts(WIDTH * CHANNELS, 32), MULTIPROCESSORS * (2 if KSIZE <= 47 else 1), parts(HEIGHT, 7), RADIUS))"""]
rows_by = "7"
shared_bytes = "7 * 32 * 4 * (128 if KSIZE <= 47 else 256)"
---*/

constexpr int WARPS = 7;
constexpr bool HALVES = KSIZE <= 47;           // counters b and b + 128 share a word; above that registers are too few
constexpr int BINS = HALVES ? 128 : 256;       // words a thread
constexpr int MIDDLE = KSIZE * KSIZE / 2;
constexpr int USED = (KSIZE + 3) / 4;          // words with the K samples of a row
constexpr int WORDS = USED + (CHANNELS == 1);  // and, as whole words are loaded, one more
struct Row { unsigned words[WORDS]; };

// Four samples, a pixel apart, wherever the border has them.  Not inlined: few need it.
__device__ __noinline__ unsigned edge_word(const sample* row, int x, int width) {
    unsigned word = 0;
    #pragma unroll 1
    for (int i = 0; i < 4; ++i) {
        const int from = border_sample(x + i * CHANNELS, width);
        if (from != OUTSIDE) word |= static_cast<unsigned>(row[from]) << 8 * i;
    }
    return word;
}
// The K samples of row y around sample x.  Inside the picture, and of one channel, these begin within the first word.
__device__ __forceinline__ void read(
    Row& made, const sample* __restrict__ src, int x, int y, int height, int width, int pitch, bool inside)
{
    const int from_y = border_index(y, height);
    const sample* const row = row_of(src, from_y == OUTSIDE ? 0 : from_y, pitch);
    if (CHANNELS == 1 && inside) {
        const unsigned* const from = reinterpret_cast<const unsigned*>(row + ((x - RADIUS) & ~3));
        #pragma unroll
        for (int j = 0; j < WORDS; ++j) made.words[j] = from[j];
    } else {
        int pixel = x / CHANNELS;
        const int channel = x - pixel * CHANNELS;
#ifndef CUDA_ON_CPU
        asm volatile("" : "+r"(pixel));  // or all places at the edge are worked out once, and fill the registers
#endif
        #pragma unroll
        for (int j = 0; j < WORDS; ++j) {
            made.words[j] = 0;
            if (j >= USED) continue;
            if (BORDER != CLAMP && !inside) {
                made.words[j] = edge_word(row, x + (4 * j - RADIUS) * CHANNELS, width);
                continue;
            }
            #pragma unroll
            for (int i = 4 * j; i < 4 * j + 4; ++i) {
                if (i >= KSIZE) continue;
                const int at = inside ? x + (i - RADIUS) * CHANNELS
                                      : min(max(pixel + i - RADIUS, 0), width - 1) * CHANNELS + channel;
                made.words[j] |= static_cast<unsigned>(row[at]) << i % 4 * 8;
            }
        }
    }
    if (BORDER == ZERO && from_y == OUTSIDE) made = {};
}
// Counts them in, or out; `below`: how many are less than the median.
template <int SIGN>
__device__ __forceinline__ void count(const Row& row, unsigned* histogram, int shift, int median, int& below) {
    #pragma unroll
    for (int j = 0; j < USED; ++j) {
        const unsigned next = row.words[j + 1 < WORDS ? j + 1 : j];
        const unsigned word = CHANNELS == 1 ? __funnelshift_r(row.words[j], next, shift) : row.words[j];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (4 * j + i >= KSIZE) continue;
            const int value = __byte_perm(word, 0, 0x4440 + i);
            const unsigned one = static_cast<unsigned>(SIGN) << (HALVES ? (value >> 7) * 16 : 0);
            atomicAdd(histogram + (HALVES ? value & 127 : value) * 32, one);  // of an address that no other thread has:
            if (value < median) below += SIGN;                                // without an answer, nobody waits for it
        }
    }
}
__device__ __forceinline__ int counter(const unsigned* histogram, int value) {
    if (HALVES) return histogram[(value & 127) * 32] >> (value >> 7) * 16 & 0xFFFF;
    return histogram[value * 32];
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, HALVES ? 2 : 1) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(unsigned, histograms);  // [WARPS][BINS][32]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int tall = ((end_row - first_row + gridDim.y - 1) / gridDim.y + WARPS - 1) / WARPS;
    const int y0 = first_row + (blockIdx.y * WARPS + warp) * tall, rows = min(tall, end_row - y0);
    const int x0 = blockIdx.x * 32, x = min(x0 + lane, width * CHANNELS - 1);
    if (rows <= 0) return;  // the whole warp; there is no barrier of the block
    if (is_alpha(x)) {
        #pragma unroll 1
        for (int y = y0; y < y0 + rows; ++y) row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    unsigned* const histogram = histograms + warp * BINS * 32 + lane;
    #pragma unroll 8
    for (int b = 0; b < BINS; ++b) histogram[b * 32] = 0;

    // A few samples more than needed, since whole words are loaded.
    const bool inside = x0 - HALO_X >= 0 && x0 + 32 + HALO_X + 4 <= width * CHANNELS;
    const int shift = CHANNELS == 1 && inside ? ((x - RADIUS) & 3) * 8 : 0;
    int median = 128, below = 0;
    Row coming = {}, going = {};  // asked for a row before they are counted
    #pragma unroll 1
    for (int y = y0 - KSIZE; y < y0 + rows; ++y) {
        const Row in = coming, out = going;
        read(coming, src, x, y + 1 + RADIUS, height, width, pitch, inside);
        if (y >= y0) read(going, src, x, y - RADIUS, height, width, pitch, inside);
        if (y > y0 - KSIZE) count<1>(in, histogram, shift, median, below);
        if (y > y0) count<-1>(out, histogram, shift, median, below);
        if (y < y0) continue;

        while (below > MIDDLE) below -= counter(histogram, --median);
        while (true) {
            const int here = counter(histogram, median);
            if (below + here > MIDDLE) break;
            below += here, ++median;
        }
        if (x0 + lane < width * CHANNELS) row_of(dst, y, pitch)[x] = static_cast<sample>(median);
    }
}
