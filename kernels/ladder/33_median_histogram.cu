/*---
title   = "Histograms"
idea    = "A thread counts the values of its window and walks down a column: K samples come in and K go out for each median, however many K x K are."
filter  = "median"
quick   = "KSIZE > 17"  # measured on an H200
after   = "median_halves"
own_block = "A warp walks down a strip of a plane by itself; a block is seven of them, one above the other."
lesson  = """
A byte has 256 values, and how often each occurs in a window is all that its median depends on. The window one row \
lower has K new samples and has lost K, so that the counts need 2 K changes, and the median moves by the few values \
that it has to (Huang 1979). Each thread has a histogram to itself in shared memory, counter after counter with those \
of its 31 neighbours beside it: whatever the lanes count, no two ask the same bank. What it costs are instructions. \
The channels are laid out as planes with their border around them first, so that no thread ever asks where an edge \
is: the strips at the picture's ends were twice as slow as all others, and while they ended the rest of the chip had \
nothing to do. Then four samples are looked at at a time: one mask, and a permutation for each, gives the places of \
their counters, one more what is to be added there, and five operations how many are less than the median. The walk to the next median \
passes a word of two counters at a time, and where it is far, as in pictures of black and white, sixteen. Seven warps fit into half of a \
multiprocessor's shared memory, and they are enough to issue an instruction in three of four clocks."""
requires = [
    ["SAMPLE == 'uint8'", "Histograms are of the 256 values of uint8, and these samples are {SAMPLE}; choose another implementation, such as rank_bits."],
    ["not IS_DISK", "Histograms here take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Histograms here need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[buffers]
planes = "CHANNELS * (HEIGHT + 2 * RADIUS) * up(WIDTH + 2 * RADIUS + 40, 128)"

[[passes]]
function = "lay_out"
writes   = "planes"
block    = ["128", "2"]
covers   = ["512", "2"]
halo     = ["HALO_X", "HALO_Y"]
grid     = ["parts(up(WIDTH + 2 * RADIUS + 40, 128), 512)", "parts(HEIGHT + 2 * RADIUS, 2)"]
loads    = { picture = "CHANNELS * (WIDTH * HEIGHT if BORDER == 'ZERO' else (WIDTH + 2 * RADIUS) * (HEIGHT + 2 * RADIUS))" }
stores   = { planes = "CHANNELS * (HEIGHT + 2 * RADIUS) * up(WIDTH + 2 * RADIUS + 40, 128) // 4" }

[[passes]]
reads  = "planes"
block  = ["224", "1"]
covers = ["32", "7"]
# A multiprocessor has room for two blocks; RADIUS: what beginning takes, in rows.
grid   = ["CHANNELS * parts(WIDTH, 32)", "blocks_down(CHANNELS * parts(WIDTH, 32), 2 * MULTIPROCESSORS, parts(HEIGHT, 7), RADIUS)"]
shared_bytes = "7 * 32 * 4 * 128"
# A lane's rows twice, and K - 1 for each warp to begin with.
loads  = { planes = """32 * parts(WIDTH, 32) * (HAS_ALPHA * HEIGHT + PLANES * (parts(KSIZE, 4) + 1)
    * (2 * HEIGHT + (KSIZE - 1) * parts(HEIGHT, parts(parts(HEIGHT, BLOCKS_Y), 7))))""" }
stores = { picture = "SAMPLES" }
---*/

constexpr int WARPS = 7;
constexpr int BINS = 128;                  // words a thread: the counters of 2 b and 2 b + 1 share one
constexpr int MIDDLE = KSIZE * KSIZE / 2;
constexpr int NEAR = 4;                    // words that a walk passes; a median that is further away leaps
constexpr int USED = (KSIZE + 3) / 4;      // words with the K samples of a row
constexpr int WORDS = USED + 1;            // and, as whole words are loaded, one more
constexpr unsigned TOP_BITS = 0x80808080u, LAST_BITS = 0x01010101u;
struct Row { unsigned words[WORDS]; };

// Bytes from a row of a plane to the next.
__device__ __forceinline__ int stride_of(int width) { return (width + 2 * RADIUS + 40 + 127) / 128 * 128; }

// Planes with RADIUS samples of border on every side; what is behind that in a row is nothing.
extern "C" __global__ void __launch_bounds__(256) lay_out(
    const sample* __restrict__ src, unsigned* __restrict__ planes,
    int height, int width, int pitch, int, int)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    const int stride = stride_of(width) / 4, rows = height + 2 * RADIUS;
    if (at >= stride || row >= rows) return;
    const int from_y = border_index(row - RADIUS, height);
    unsigned words[CHANNELS] = {};
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int x = 4 * at + i - RADIUS, from_x = border_index(x, width);
        if (from_y == OUTSIDE || from_x == OUTSIDE || x >= width + RADIUS) continue;
        #pragma unroll
        for (int c = 0; c < CHANNELS; ++c)
            words[c] |= static_cast<unsigned>(row_of(src, from_y, pitch)[from_x * CHANNELS + c]) << 8 * i;
    }
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
        planes[(static_cast<long long>(c) * rows + row) * stride + at] = words[c];
}

// Byte i of a word, and for the selectors 8 + i its top bit eight times.
template <unsigned SELECTORS>
__device__ __forceinline__ unsigned permute(unsigned low, unsigned high) {
#ifdef CUDA_ON_CPU
    unsigned made = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned selector = SELECTORS >> 4 * i & 15, from = selector & 7;
        const unsigned byte = (from < 4 ? low >> 8 * from : high >> 8 * (from - 4)) & 255;
        made |= (selector < 8 ? byte : byte >> 7 ? 255u : 0u) << 8 * i;
    }
    return made;
#else
    unsigned made;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(made) : "r"(low), "r"(high), "n"(SELECTORS));
    return made;
#endif
}
// The number that counts sample I of a word in or out: 1 for an even value, 2^16 for an odd one, or their negatives.
template <int SIGN, int I>
__device__ __forceinline__ unsigned one(unsigned even, unsigned odd) {
    if constexpr (SIGN > 0) return permute<(8 + I) << 12 | (4 + I) << 8 | (8 + I) << 4 | I>(even, odd);
    else return permute<4 << 12 | 4 << 8 | (8 + I) << 4 | (8 + I)>(even << 7, ~0u);
}
template <int SIGN, int I>
__device__ __forceinline__ void count_one(unsigned word, unsigned even, unsigned odd, unsigned* histogram) {
    const unsigned place = permute<0x4440 + I>(word & ~LAST_BITS, 0);
    // Of an address that no other thread has: without an answer, nobody waits for it.
    atomicAdd(histogram + place * 16, one<SIGN, I>(even, odd));
}
// Counts a row's samples; `below`: how many are less than the values of the median's word.
template <int SIGN>
__device__ __forceinline__ void count(const Row& row, unsigned* histogram, int shift, int median_word, int& below) {
    const unsigned all = 2 * median_word * LAST_BITS;
    unsigned less = 0;
    #pragma unroll
    for (int j = 0; j < USED; ++j) {
        unsigned word = __funnelshift_r(row.words[j], row.words[j + 1], shift);
        const unsigned odd = word & LAST_BITS, even = odd ^ LAST_BITS;
        if (4 * j < KSIZE) count_one<SIGN, 0>(word, even, odd, histogram);
        if (4 * j + 1 < KSIZE) count_one<SIGN, 1>(word, even, odd, histogram);
        if (4 * j + 2 < KSIZE) count_one<SIGN, 2>(word, even, odd, histogram);
        if (4 * j + 3 < KSIZE) count_one<SIGN, 3>(word, even, odd, histogram);
        if (j == USED - 1) word |= ~0u << 8 * (KSIZE - 4 * j);  // what is not counted is never less
        // A top bit stays where the lower seven bits are not less; the tops themselves decide first.
        const unsigned rest = (word | TOP_BITS) - (all & ~TOP_BITS);
        less = __dp4a(((~word & all) | (~(word ^ all) & ~rest)) & TOP_BITS, LAST_BITS, less);
    }
    below += SIGN * static_cast<int>(less >> 7);
}
// Passes N words of counters at a time, at most MOST times, as long as the median lies behind them.  `both`: those of
// even and of odd values where it stops; what comes back is how many samples are passed with these.
template <int N, int MOST>
__device__ __forceinline__ int pass(const unsigned* histogram, int step, int& word, int& passed, unsigned& both) {
    #pragma unroll 1
    for (int times = 0;; ++times, word += N * step) {
        both = 0;
        #pragma unroll
        for (int i = 0; i < N; ++i) both += histogram[((word & -N) + i) * 32];
        const int sum = __dp2a_lo(both, 0x0101u, static_cast<unsigned>(passed));
        if (sum > MIDDLE || times == MOST) return sum;
        passed = sum;
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) convolve(
    const unsigned* __restrict__ planes,  // [CHANNELS][height + 2 RADIUS][stride_of(width)] bytes
    sample* __restrict__ dst,             // (height, width, CHANNELS), interleaved
    int height, int width, int pitch,
    int first_row, int end_row)           // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(unsigned, histograms);  // [WARPS][BINS][32]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, strips = (width + 31) / 32;
    const int tall = ((end_row - first_row + gridDim.y - 1) / gridDim.y + WARPS - 1) / WARPS;
    const int y0 = first_row + (blockIdx.y * WARPS + warp) * tall, rows = min(tall, end_row - y0);
    if (rows <= 0) return;  // the whole warp; there is no barrier of the block
    const int channel = blockIdx.x / strips, x = blockIdx.x % strips * 32 + lane;
    const int stride = stride_of(width) / 4;
    const unsigned* from = planes + (static_cast<long long>(channel) * (height + 2 * RADIUS) + y0) * stride + x / 4;
    sample* to = row_of(dst, y0, pitch) + x * CHANNELS + channel;
    if (is_alpha(channel)) {
        #pragma unroll 1
        for (int y = 0; y < rows; ++y, to += pitch) {
            const unsigned word = from[static_cast<long long>(y + RADIUS) * stride + (x % 4 + RADIUS) / 4];
            if (x < width) *to = static_cast<sample>(word >> (x + RADIUS) % 4 * 8);
        }
        return;
    }
    unsigned* const histogram = histograms + warp * BINS * 32 + lane;
    #pragma unroll 8
    for (int b = 0; b < BINS; ++b) histogram[b * 32] = 0;

    const auto read = [&](Row& made, int row) {
        #pragma unroll
        for (int j = 0; j < WORDS; ++j) made.words[j] = from[static_cast<long long>(row) * stride + j];
    };
    const int shift = x % 4 * 8;
    int word = BINS / 2, below = 0;  // the median's counters, and how many samples have lower ones
    Row coming, going = {};  // asked for when their predecessors are counted
    read(coming, 0);
    #pragma unroll 1
    for (int row = 0; row < rows + KSIZE - 1; ++row) {
        count<1>(coming, histogram, shift, word, below);
        if (row + 1 < rows + KSIZE - 1) read(coming, row + 1);
        if (row >= KSIZE) count<-1>(going, histogram, shift, word, below);
        if (row < KSIZE - 1) continue;
        read(going, row - (KSIZE - 1));

        // Down is up seen from the other end: of an odd number of samples as many lie behind the median as before it.
        int step = 1, passed = below;
        if (below > MIDDLE) step = -1, passed = KSIZE * KSIZE - below, --word;
        unsigned both;
        int sum = pass<1, NEAR>(histogram, step, word, passed, both);
        if (sum <= MIDDLE) {
            // Samples that are 0 and 255 make medians leap from end to end, each lane's in another row, and the warp
            // waits for any: so begin anew at the end that it went towards, many words at a time.
            step = -step, passed = 0, word = step > 0 ? 0 : BINS - 1;
            pass<16, BINS>(histogram, step, word, passed, both);
            pass<4, BINS>(histogram, step, word, passed, both);
            sum = pass<1, BINS>(histogram, step, word, passed, both);
        }
        below = step > 0 ? passed : KSIZE * KSIZE - sum;
        const bool is_odd = below + static_cast<int>(both & 0xFFFF) <= MIDDLE;
        if (x < width) *to = static_cast<sample>(2 * word + is_odd);
        to += pitch;
    }
}
