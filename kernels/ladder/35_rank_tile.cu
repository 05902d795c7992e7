/*---
title   = "Ranks of a tile"
idea    = "A block sorts its tile and halo once. Ranks have no gaps: cut into bins of equally many samples, a few counts tell which bin holds a window's answer, and that bin is looked through."
filter  = "percentiles"
after   = "rank_bits"
includes = ["ranks", "percentile"]
quick   = """(PERCENTILE != 50 and KSIZE >= (5 if SAMPLE_BYTES == 4 else 9 if SAMPLE_BYTES == 2 else 11)
    or PERCENTILE == 50 and SAMPLE != 'uint8' and KSIZE > 19)"""
own_block = "A block makes 64 x 64 samples of a channel, with all threads that have room for what they sort."
lesson  = """
Histograms settle medians of bytes, since these have 256 values; a float has four billion, and most histograms of them would \
be empty in all bins but a few. What helps is to count ranks in place of values. A block sorts the samples that its windows hold, \
digit by digit as cards are sorted, and gives each its number in that order. Wherever the values lie, a bin of 140 numbers holds \
140 samples. How many of a window's samples are in a bin or below is then a sum over a square of zeros and ones: along a row it is \
its neighbour's, with one sample more and one less, and so down a column, for four bins at once in the four bytes of a word. The first \
bin up to which there are more samples than the rank holds the answer. Its samples are looked at in their order, from the last one \
down, two in a word: which of them lie in the window is told by two additions, and the last that is still to be counted is the answer. \
Nothing of this depends on what the samples are."""
requires = [
    ["KSIZE <= 63", "Ranks of a tile take sizes up to 63: a larger halo does not fit into shared memory. Choose another implementation, such as rank_bits."],
    ["not IS_DISK", "Ranks of a tile take squares only; choose another implementation, such as rank_bits."],
    ["BORDER != 'CROP'", "Ranks of a tile need all samples of a window, and the border crop has fewer at the edge. Choose another border, or another implementation, such as rank_bits."],
]

[[passes]]
block  = ["RANK_THREADS", "1"]
covers = ["RANK_TILE", "RANK_TILE"]
grid   = ["CHANNELS * parts(WIDTH, RANK_TILE)", "parts(HEIGHT, RANK_TILE)"]
shared_bytes = "4 * RANK_WORDS"
loads  = { picture = "PLANES * parts(WIDTH, RANK_TILE) * parts(HEIGHT, RANK_TILE) * RANK_SORTED + FILTERED + ALPHA" }
---*/
constexpr int TILE = 64, SIDE = TILE + KSIZE - 1;  // samples a side that a block makes, and that it sorts
constexpr int COUNT = SIDE * SIDE;
constexpr int THREADS = KSIZE <= 33 ? 512 : 1024, WARPS = THREADS / 32;  // of 512, a multiprocessor has two blocks
constexpr int ITEMS = (COUNT + THREADS - 1) / THREADS, PADDED = ITEMS * THREADS;  // that a thread sorts, and a block

constexpr int BIN = (COUNT + 511) / 512 * 8;           // samples a bin: the first has ranks 0 to BIN - 1
constexpr int BINS = (COUNT + BIN - 1) / BIN;          // 64, or a few less
constexpr int BIN_WORDS = SIDE / 2 | 1;                // of a row, with two samples' bins each
constexpr int RUNS = 2, RUN = TILE / RUNS;             // of a row, summed by a thread each, and their samples
constexpr int STRIPS = 4, STRIP = TILE / STRIPS;       // the same of a column
constexpr int GROUPS = THREADS / (TILE * STRIPS);      // of four bins, counted at once
constexpr int ROUNDS = (BINS + 4 * GROUPS - 1) / (4 * GROUPS);
constexpr int STRIDE = TILE + 1;                       // odd: neither rows nor columns meet in a bank
constexpr unsigned NOWHERE = 0x7F7F;                   // a place, y << 8 | x, outside of the tile
constexpr unsigned ONES = 0x01010101u, TOPS = 0x80808080u;
static_assert(SIDE < 128 && BINS * BIN <= PADDED && GROUPS * STRIPS * TILE == THREADS, "room for all");

// Where in shared memory, in words, things begin: while samples are sorted,
constexpr int DIGITS = 256;
constexpr int FIRST = WARPS * DIGITS < TILE * TILE ? TILE * TILE : WARPS * DIGITS;  // behind counters [WARPS][DIGITS],
constexpr int TOTALS = FIRST + DIGITS;      // [DIGITS] samples with lesser digits of the same 32, and [8] with any of 32
constexpr int WORDS = TOTALS + 8;           // [PADDED] two digits above a place
constexpr int KEYS = WORDS + PADDED;        // [COUNT], of 32 bits
// and then; counters become [TILE][TILE]: of each sample that is made the bin, and how far down in it.
constexpr int IN_ORDER = WORDS;             // [PADDED] places in 16 bits, eight together as `slot_of` has them
constexpr int BINS_OF = WORDS + PADDED / 2; // [SIDE][BIN_WORDS], eight times the bin of each sample
constexpr int SUMS = BINS_OF + SIDE * BIN_WORDS;  // [GROUPS][SIDE][STRIDE], see `sum_run`

// An unsigned number in the order of samples.
template <typename T>
__device__ __forceinline__ unsigned order_of(T value) {
    if constexpr (IS_SAME<T, float32>) return turned(__float_as_int(value)) ^ 0x80000000u;
    else if constexpr (IS_SAME<T, float16>) return key_of(value) + 0x8000;
    else return value;
}
struct Plane {  // a channel
    const sample* src;
    int height, width, pitch;
    __device__ __forceinline__ sample at(int x, int y) const {  // wherever that may be
        const int from_y = border_index(y, height), from_x = border_index(x, width);
        if (from_y == OUTSIDE || from_x == OUTSIDE) return {};
        return row_of(src, from_y, pitch)[from_x * CHANNELS];
    }
};

// Lanes of the warp in whose numbers this bit is as in the lane's own.
__device__ __forceinline__ unsigned lanes_like(unsigned number, unsigned bit) {
#ifdef CUDA_ON_CPU
    return __ballot_sync(~0u, number & bit) ^ (number & bit ? 0 : ~0u);
#else  // for which the compiler takes twice as many instructions
    unsigned lanes;
    asm volatile("{.reg .pred is_one; and.b32 %0, %1, %2; setp.ne.u32 is_one, %0, 0;"
                 "vote.sync.ballot.b32 %0, is_one, 0xffffffff; @!is_one not.b32 %0, %0;}"
                 : "=r"(lanes) : "r"(number), "r"(bit));
    return lanes;
#endif
}
// Where the place of rank n is kept: see `inside`.
__device__ __forceinline__ int slot_of(int n) { return (n & ~7) | (3 - (n & 3)) << 1 | (n >> 2 & 1); }

// Puts the samples from (x0, y0) on in order, by one digit after the other, the last ones first: equals stay in order.
__device__ __forceinline__ void sort_tile(unsigned* memory, const Plane& plane, int x0, int y0) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, begin = warp * 32 * ITEMS + lane;
    unsigned* const counts = memory + warp * DIGITS;
    sample samples[ITEMS];
    if (x0 >= 0 && x0 + SIDE <= plane.width && y0 >= 0 && y0 + SIDE <= plane.height) {
        const sample* const corner = row_of(plane.src, y0, plane.pitch) + x0 * CHANNELS;
        #pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int n = min(begin + 32 * i, COUNT - 1);
            samples[i] = row_of(corner, n / SIDE, plane.pitch)[n % SIDE * CHANNELS];
        }
    } else {
        #pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int n = min(begin + 32 * i, COUNT - 1);
            samples[i] = plane.at(x0 + n % SIDE, y0 + n / SIDE);
        }
    }
    unsigned items[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int n = begin + 32 * i;
        const unsigned key = order_of(samples[i]);
        if (sizeof(sample) == 4 && n < COUNT) memory[KEYS + n] = key;
        items[i] = n < COUNT ? key << 16 | n / SIDE << 8 | n % SIDE : 0xFFFF0000u | NOWHERE;  // or last in every digit
    }
    #pragma unroll 1
    for (int pass = 0; pass < static_cast<int>(sizeof(sample)); ++pass) {
        const int byte = 2 + pass % 2;
        for (int digit = lane; digit < DIGITS; digit += 32) counts[digit] = 0;
        __syncwarp();
        if (pass > 0) {
            #pragma unroll
            for (int i = 0; i < ITEMS; ++i) items[i] = memory[WORDS + begin + 32 * i];
        }
        if (pass == 2) {
            #pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const unsigned place = items[i] & 0xFFFF;
                const unsigned key = place == NOWHERE ? ~0u : memory[KEYS + (place >> 8) * SIDE + (place & 0xFF)];
                items[i] = (key & 0xFFFF0000u) | place;
            }
        }
        #pragma unroll
        for (int i = 0; i < ITEMS; ++i) atomicAdd(counts + (items[i] >> 8 * byte & 0xFF), 1);
        __syncthreads();
        if (threadIdx.x < DIGITS) {
            unsigned total = 0;
            #pragma unroll
            for (int w = 0; w < WARPS; ++w) {
                unsigned& count = memory[w * DIGITS + threadIdx.x];
                const unsigned here = count;
                count = total, total += here;
            }
            unsigned sum = total;
            for (int step = 1; step < 32; step *= 2) {
                const unsigned other = __shfl_up_sync(~0u, sum, step);
                if (lane >= step) sum += other;
            }
            memory[FIRST + threadIdx.x] = sum - total;
            if (lane == 31) memory[TOTALS + warp] = sum;
        }
        __syncthreads();
        unsigned before = 0;
        #pragma unroll
        for (int i = 0; i < DIGITS / 32; ++i) {
            counts[i * 32 + lane] += memory[FIRST + i * 32 + lane] + before;
            before += memory[TOTALS + i];
        }
        __syncwarp();
        #pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            // Said in another way, or the compiler keeps all digits from above, and has no registers left.
            const unsigned digit = __byte_perm(items[i], 0, 0x4440 | byte), place = items[i] & 0xFFFF;
            unsigned equal = ~0u;  // lanes whose samples have the same digit
            #pragma unroll
            for (int bit = 0; bit < 8; ++bit) equal &= lanes_like(digit, 1u << bit);
            const unsigned lower = equal & ((1u << lane) - 1), next = counts[digit];
            const int n = next + __popc(lower);
            __syncwarp();
            if (lower == 0) counts[digit] = next + __popc(equal);
            __syncwarp();
            if (pass + 1 < static_cast<int>(sizeof(sample))) {
                memory[WORDS + n] = items[i];
                continue;
            }
            reinterpret_cast<unsigned short*>(memory + IN_ORDER)[slot_of(n)] = place;
            if (place == NOWHERE) continue;
            reinterpret_cast<unsigned short*>(memory + BINS_OF + (place >> 8) * BIN_WORDS)[place & 0xFF] = n / BIN * 8;
        }
        __syncthreads();
    }
}

// Byte i is 1 if a sample is in bin i of a group or below.  `bits`: eight times its bin, 0 for all below.
__device__ __forceinline__ unsigned counted_from(unsigned bits) { return __funnelshift_lc(0, ONES, bits); }

// Sums along a run of a row: the four bytes count samples in bins up to `bin`, bin + 1, bin + 2 and bin + 3.
__device__ __forceinline__ void sum_run(unsigned* sums, const unsigned* pairs, int bin) {
    const unsigned none = bin * 8 * 0x00010001u;
    const auto first_of = [](unsigned pair) { return counted_from(pair & 0xFFFF); };
    const auto second_of = [](unsigned pair) { return counted_from(pair >> 16); };
    unsigned sum = 0;
    #pragma unroll 5
    for (int i = 0; i < RADIUS; ++i) {
        const unsigned pair = __vmaxu2(pairs[i], none) - none;
        sum += first_of(pair) + second_of(pair);
    }
    #pragma unroll 4
    for (int i = 0; i < RUN / 2; ++i) {
        const unsigned coming = __vmaxu2(pairs[i + RADIUS], none) - none, going = __vmaxu2(pairs[i], none) - none;
        sum += first_of(coming);
        sums[2 * i] = sum;
        sum += second_of(coming) - first_of(going);
        sums[2 * i + 1] = sum;
        sum -= second_of(going);
    }
}

// Sums these down a strip of a column.  Of windows whose answer is in one of the four bins, or below: which bin, and as
// what sample of it, counted from the last down.  `settled`: a bit for each window that was so before.
__device__ __forceinline__ void sum_strip(unsigned* found, const unsigned* sums, int bin, unsigned rank, unsigned& settled) {
    constexpr unsigned BYTES = 0x00FF00FFu;
    const auto odd_of = [](unsigned word) { return __byte_perm(word, 0, 0x4341); };
    unsigned even = 0, odd = 0, bytes = 0;  // two counts each, of bins 0 and 2, and of bins 1 and 3; all of up to four rows
    #pragma unroll
    for (int j = 0; j < KSIZE; ++j) {
        bytes += sums[j * STRIDE];
        if (j % 4 == 3 || j == KSIZE - 1) even += bytes & BYTES, odd += odd_of(bytes), bytes = 0;
    }
    #pragma unroll
    for (int j = 0; j < STRIP; ++j) {
        if (odd > (rank << 16 | 0xFFFF) && !(settled & 1u << j)) {
            unsigned i = 3, count = odd >> 16;
            if (even >> 16 > rank) i = 2, count = even >> 16;
            if ((odd & 0xFFFF) > rank) i = 1, count = odd & 0xFFFF;
            if ((even & 0xFFFF) > rank) i = 0, count = even & 0xFFFF;
            atomicMin(found + j * TILE, (bin + i) << 16 | (count - rank));  // another group may have one below
            settled |= 1u << j;
        }
        if (j + 1 < STRIP) {
            const unsigned coming = sums[(j + KSIZE) * STRIDE], going = sums[j * STRIDE];
            even += (coming & BYTES) - (going & BYTES), odd += odd_of(coming) - odd_of(going);
        }
    }
}

// Which of eight places lie in a window, in order of significance: bits 4 to 7 and 20 to 23.
// Where a place's x, or y, with `from` added has its top bit set, it is not before the window; with `beyond`, behind it.
__device__ __forceinline__ unsigned inside(const uint4& places, unsigned from, unsigned beyond) {
    const unsigned words[4] = {places.x, places.y, places.z, places.w};
    unsigned all = 0;
    #pragma unroll
    for (int j = 0; j < 4; ++j) all |= ((words[j] + from) & ~(words[j] + beyond) & TOPS) >> j;
    return all & all >> 8 & 0x00F000F0u;  // both x and y
}

extern "C" __global__ void __launch_bounds__(THREADS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(unsigned, memory);
    const int tiles = (width + TILE - 1) / TILE, channel = blockIdx.x / tiles;
    const int x0 = blockIdx.x % tiles * TILE, y0 = first_row + blockIdx.y * TILE;
    if (y0 >= end_row) return;  // the grid is the whole picture's
    if (is_alpha(channel)) {
        for (int n = threadIdx.x; n < TILE * TILE; n += THREADS) {
            const int x = x0 + n % TILE, y = y0 + n / TILE, at = x * CHANNELS + channel;
            if (x < width && y < end_row) row_of(dst, y, pitch)[at] = row_of(src, y, pitch)[at];
        }
        return;
    }
    const Plane plane = {src + channel, height, width, pitch};
    sort_tile(memory, plane, x0 - RADIUS, y0 - RADIUS);

    unsigned* const found = memory;
    for (int n = threadIdx.x; n < TILE * TILE; n += THREADS) found[n] = ~0u;
    const int rank = ranks_of(KSIZE * KSIZE).low;
    const int column = threadIdx.x % TILE, strip = threadIdx.x / TILE % STRIPS, own = threadIdx.x / (TILE * STRIPS);
    unsigned settled = 0;
    #pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        for (int n = threadIdx.x; n < GROUPS * RUNS * SIDE; n += THREADS) {
            const int row = n % SIDE, run = n / SIDE % RUNS, group = n / SIDE / RUNS;
            sum_run(memory + SUMS + (group * SIDE + row) * STRIDE + run * RUN,
                    memory + BINS_OF + row * BIN_WORDS + run * RUN / 2, (round * GROUPS + group) * 4);
        }
        __syncthreads();
        sum_strip(found + strip * STRIP * TILE + column, memory + SUMS + (own * SIDE + strip * STRIP) * STRIDE + column,
                  (round * GROUPS + own) * 4, rank, settled);
        // If the round's last bins are above all answers, so are all others.
        if (__syncthreads_and(own < GROUPS - 1 || settled == (1u << STRIP) - 1)) break;
    }

    #pragma unroll 1
    for (int n = threadIdx.x; n < TILE * TILE; n += THREADS) {
        const int x = n % TILE, y = n / TILE;
        if (x0 + x >= width || y0 + y >= end_row) continue;
        const unsigned from = TOPS - (y << 8 | x) * 0x00010001u, beyond = from - KSIZE * ONES;
        const uint4* eight = reinterpret_cast<const uint4*>(memory + IN_ORDER) + ((found[n] >> 16) + 1) * (BIN / 8);
        int left = found[n] & 0xFFFF;
        unsigned mask = inside(*--eight, from, beyond);
        for (int here = __popc(mask); here < left; here = __popc(mask)) {
            left -= here;
            mask = inside(*--eight, from, beyond);
        }
        #pragma unroll 1
        while (--left > 0) mask ^= 0x80000000u >> __clz(mask);
        const int bit = 31 - __clz(mask);
        const int place = reinterpret_cast<const unsigned short*>(eight)[2 * (7 - bit % 16) + bit / 16];
        row_of(dst, y0 + y, pitch)[(x0 + x) * CHANNELS + channel]
            = plane.at(x0 - RADIUS + place % 256, y0 - RADIUS + place / 256);
    }
}
