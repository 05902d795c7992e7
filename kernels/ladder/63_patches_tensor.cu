/*---
title   = "Patches on tensor cores"
idea    = "A squared difference is p² + q² - 2 p q: sums of p q of all patches with all others are a product of matrices, and tensor cores multiply bytes and sum them up exactly."
filter  = "non_local_means"
weights = "numbers"
after   = "patches_strip"
includes = ["wide", "means", "patches"]
capability = [8, 0]
own_block = "A warp makes 4 x 8 pixels at a time, and a block 32 rows."
lesson  = """
Sums that neighbours share are cheaper than sums that are made anew, but sharing takes order, shuffles and registers. Tensor cores \
do all of it, and do not care. The patches of 16 pixels are the rows of a matrix, those of 8 candidates the columns of another, \
and one instruction does 4,096 products. With the sums of each patch's own squares, made once, that gives 128 distances, as \
integers and without any rounding: fewer instructions than what follows, a power of two and two additions for each weight. \
Of grey nothing follows where no distance that a warp has just made is near enough to count, which integers tell before anything is \
rounded: of noise as a rule, of a photograph seldom. \
Sixteen pixels as a square of 4 x 4, and the square below, have most of their windows in common: of 672 products 441 are wanted. \
Of grey each square leaves out rows that only the other's windows have, and does 576."""
requires = [
    ["SAMPLE == 'uint8'", "Tensor cores multiply bytes here, and these samples are {SAMPLE}. Choose another implementation, such as patches_strip."],
    ["PATCH * parts(PATCH * CHANNELS, 4) <= 64", "Patches of {PATCH}×{PATCH} pixels have more bytes than registers have room for, 256 with each row padded to words. Choose a smaller patch, or another implementation, such as patches_strip."],
    ["BORDER != 'CROP'", "Tensor cores sum all of a patch, and with the border crop fewer pixels count at the edge. Choose another border, or another implementation, such as patches."],
]

[[passes]]
block  = ["32", "4"]
halo   = ["REACH * CHANNELS", "REACH"]
covers = ["16 * CHANNELS", "32"]
# The tile four times, and candidates: of grey two words each, else one.
shared_bytes = """4 * (4 * up(PATCHES_ROW * (30 + KSIZE + PATCH), 32) + 16
    + (2 if PLANES == 1 else 1) * PATCHES_ACROSS * (31 + KSIZE))"""
loads  = { picture = "BLOCKS * PATCHES_ROW * 4 * PLANES // CHANNELS * (30 + KSIZE + PATCH) + ALPHA" }
---*/

constexpr int PATCH_WORDS = (PATCH * CHANNELS + 3) / 4;              // of a row of a patch
constexpr int STEPS = (PATCH * PATCH_WORDS + 7) / 8;                 // products of 32 bytes
// Warps side by side, and squares of 4 x 4 pixels, one below the other, that each makes at a time.
constexpr int WARPS = 4, TALL = 2, THREADS = 32 * WARPS;
constexpr int LIVE = 4 + 2 * RADIUS;                                 // rows that one square's windows have
constexpr int TILES = (KSIZE + 3 + 7) / 8;                           // of 8 candidates, side by side, for a square
constexpr int ACROSS = 4 * WARPS - 4 + 8 * TILES, DOWN = 32 + 2 * RADIUS;  // a block's candidates
constexpr int WORDS = ((ACROSS + PATCH - 1) * CHANNELS + 11) / 4;    // of a row with their patches
constexpr int ROWS = DOWN + PATCH - 1, COPY = (WORDS * ROWS + 31) / 32 * 32 + 4;  // copies begin four banks apart
// A distance is kept as how much it is above the first that leaves no weight.  Integers below 2^23 become floats by their bits: as
// those of 2^23 more, or of half of that below 2^23.  The bit COUNTS is set if it leaves a weight, and else not.
constexpr int MOST = PATCH * PATCH * PLANES * 65025;
constexpr bool BY_BITS = MOST < 1 << 23;
constexpr int CUT = BY_BITS ? TWO_23_BITS : 0, FAR = static_cast<int>(1u << 31);
constexpr unsigned COUNTS = BY_BITS ? 0x80800000u : 0x80000000u;
// A candidate is the sum of its patch's squares and, of grey, its pixel as a float.  Of grey, candidates of several columns
// are loaded at once as well, and a square meets only rows that its windows have; colours want the registers.
constexpr bool GREY = PLANES == 1;
constexpr int KEPT = GREY ? 2 : 1, TOGETHER = GREY && TILES <= 4 ? TILES : 1;

// sum (16 x 8) = from + left (16 x 32 bytes) times right (32 x 8 bytes).  Lane 4 g + t has of left four bytes of row g from column
// 4 t on, those of row g + 8, and both 16 columns further; of right, held by columns, rows 4 t on of column g, and 16
// further; of sum row g, columns 2 t and 2 t + 1, and the same of row g + 8.
__device__ __forceinline__ void multiply_add_bytes(
    int (&sum)[4], const unsigned (&left)[4], const unsigned (&right)[2], const int (&from)[4])
{
#ifdef CUDA_ON_CPU
    for (int i = 0; i < 4; ++i) sum[i] = from[i];
    for (int part = 0; part < 4; ++part) {
        const auto rows = cuda_cpu::all_lanes(left[part], __LINE__), columns = cuda_cpu::all_lanes(right[part / 2], __LINE__);
        const int row = threadIdx.x / 4 * 4, column = threadIdx.x % 4 * 8;
        for (int n = 0; n < 8; ++n) {
            int& one = sum[part % 2 * 2 + n / 4];
            one = __dp4a(unsigned(rows[row + n % 4]), unsigned(columns[column + n]), unsigned(one));
        }
    }
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]),
          "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
#endif
}

// The compiler works out what it has no register for again, for each column.
__device__ __forceinline__ void keep(int& number) {
#ifndef CUDA_ON_CPU
    asm volatile("" : "+r"(number));
#endif
}

// Which bits of word i of a patch's row are its own: the last word's may be a neighbour's.
__device__ __forceinline__ unsigned own_bits(int i) {
    return i + 1 < PATCH_WORDS ? ~0u : ~0u >> 8 * (4 * PATCH_WORDS - PATCH * CHANNELS);
}

extern "C" __global__ void __launch_bounds__(THREADS, STEPS <= 2 ? 5 : STEPS <= 7 ? 3 : 2) convolve(
    const sample* __restrict__ src, sample* __restrict__ dst,
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(unsigned, words);  // [4][COPY], of ROWS rows of WORDS: each copy is shifted by a byte more
    int* const candidates = reinterpret_cast<int*>(words + 4 * COPY);  // [DOWN][ACROSS][KEPT]
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4, warp = threadIdx.y, thread = warp * 32 + lane;
    const int x0 = blockIdx.x * 4 * WARPS, y0 = first_row + blockIdx.y * 32;
    // The word that the patch around candidate (x, y) begins with: any four bytes are a word of one copy.
    const auto patch_at = [&](int x, int y) {
        return words + (x * CHANNELS & 3) * COPY + y * WORDS + (x * CHANNELS >> 2);
    };

    // The pixel in the middle of that patch.
    const auto pixel_at = [&](int x, int y) {
        return reinterpret_cast<const sample*>(words + (y + PATCH_RADIUS) * WORDS) + (x + PATCH_RADIUS) * CHANNELS;
    };

    // 1. Stage, all alpha as 0; copy; and sum each patch's own squares.
    const int left_x = (x0 - REACH) * CHANNELS, top_y = y0 - REACH;
    const bool is_inside = left_x >= 0 && left_x + 4 * WORDS + 4 <= width * CHANNELS && top_y >= 0 && top_y + ROWS <= height;
    #pragma unroll 2
    for (int n = thread; n < WORDS * ROWS; n += THREADS) {
        const int x = left_x + n % WORDS * 4, y = border_index(top_y + n / WORDS, height);
        if (!HAS_ALPHA && is_inside) {
            const unsigned* const from = reinterpret_cast<const unsigned*>(row_of(src, y, pitch)) + x / 4;
            words[n] = __funnelshift_r(from[0], from[1], x % 4 * 8);
            continue;
        }
        words[n] = 0;
        for (int i = 0; i < 4; ++i)
            if (y != OUTSIDE && !is_alpha(n % WORDS * 4 + i)) words[n] |= edge_bits(row_of(src, y, pitch), x + i, width) << 8 * i;
    }
    __syncthreads();
    #pragma unroll 1
    for (int n = thread; n < WORDS * ROWS - 1; n += THREADS)
        for (int shift = 1; shift < 4; ++shift)
            words[shift * COPY + n] = __funnelshift_r(words[n], words[n + 1], 8 * shift);
    __syncthreads();
    // A thread goes down a piece of a column: integers are as they were once a square is taken off again.
    const auto squares_of = [&](const unsigned* row) {
        unsigned sum = 0;
        for (int i = 0; i < PATCH_WORDS; ++i) sum = __dp4a(row[i] & own_bits(i), row[i] & own_bits(i), sum);
        return sum;
    };
    constexpr int AT_ONCE = THREADS / ACROSS > 0 ? THREADS / ACROSS : 1, PIECE = (DOWN + AT_ONCE - 1) / AT_ONCE;
    #pragma unroll 1
    for (int n = thread; n < (DOWN + PIECE - 1) / PIECE * ACROSS; n += THREADS) {
        const int x = n % ACROSS, y = n / ACROSS * PIECE, end = min(y + PIECE, DOWN) * ACROSS;
        const unsigned* patch = patch_at(x, y);
        const sample* pixel = pixel_at(x, y);
        unsigned sum = CUT;
        #pragma unroll
        for (int j = 0; j + 1 < PATCH; ++j) sum += squares_of(patch + j * WORDS);
        #pragma unroll 2
        for (int at = y * ACROSS + x; at < end; at += ACROSS, patch += WORDS, pixel += 4 * WORDS) {
            sum += squares_of(patch + (PATCH - 1) * WORDS);
            candidates[KEPT * at] = sum;
            if (GREY) candidates[KEPT * at + 1] = __float_as_int(byte_to_float(*pixel, 0));
            sum -= squares_of(patch);
        }
    }
    __syncthreads();

    // 2. Where a lane's words of a patch are, and their own bits: of padding none.
    int at[STEPS][2];
    unsigned bits[STEPS][2];
    #pragma unroll
    for (int n = 0; n < 2 * STEPS; ++n) {
        const int word = 4 * n + t;
        const bool is_padding = word >= PATCH * PATCH_WORDS;
        at[n / 2][n % 2] = is_padding ? 0 : word / PATCH_WORDS * WORDS + word % PATCH_WORDS;
        bits[n / 2][n % 2] = is_padding ? 0 : own_bits(word % PATCH_WORDS);
    }
    // Beyond a scale of 16 only equal patches count, by how much is of no account.  All weights may be off by a factor, so that
    // rounding does not matter but of `first`, the first distance that leaves none.
    const float scale = fmaxf(exponent_of(1.0f), -16.0f);
    const int first = 1 + static_cast<int>(fminf(LOG2_CUT / scale, MOST));
    const float slope = BY_BITS ? 2 * scale : scale, bias = (BY_BITS ? first - 2 * TWO_23 : first) * scale;
    #pragma unroll 1
    for (int top = 0; top < 32; top += 4 * TALL) {
        // A lane is for two pixels of a square: in column g % 4, rows g / 4 and g / 4 + 2.
        const int x = 4 * warp + g % 4;
        unsigned left[TALL][STEPS][4];
        int start[TALL][4], own[TALL][2];  // half of a pixel's squares, taken off its products, and CUT less what halving lost
        Mean means[TALL][2];
        #pragma unroll
        for (int n = 0; n < 2 * TALL; ++n) {
            const int y = top + 4 * (n / 2) + g / 4 + 2 * (n % 2);
            const int squares = candidates[KEPT * ((y + RADIUS) * ACROSS + x + RADIUS)] - CUT - first;
            int half = -(squares >> 1);
            keep(half);
            start[n / 2][n % 2 * 2] = start[n / 2][n % 2 * 2 + 1] = half;
            own[n / 2][n % 2] = CUT - (squares & 1);
            #pragma unroll
            for (int m = 0; m < 2 * STEPS; ++m)
                left[n / 2][m / 2][m % 2 * 2 + n % 2] =
                    patch_at(x + RADIUS, y + RADIUS)[at[m / 2][m % 2]] & bits[m / 2][m % 2];
        }
        // The first of a lane's candidates: the one whose bytes it has, and those whose weights.
        const unsigned* patch = patch_at(4 * warp + g, top);
        const int* others = candidates + KEPT * (top * ACROSS + 4 * warp + 2 * t);
        const sample* pixels = pixel_at(4 * warp + 2 * t, top);
        #pragma unroll 1
        for (int row = 0; row < 4 * TALL + 2 * RADIUS;
             ++row, patch += WORDS, others += KEPT * ACROSS, pixels += 4 * WORDS) {
            int mine[TALL][2];  // below it a distance leaves a weight
            #pragma unroll
            for (int n = 0; n < 2 * TALL; ++n) {
                int& one = mine[n / 2][n % 2];
                one = static_cast<unsigned>(row - 4 * (n / 2) - g / 4 - 2 * (n % 2)) < KSIZE ? own[n / 2][n % 2] : FAR;
                keep(one);
            }
            #pragma unroll (TILES <= 4 ? TILES : 1)
            for (int column = 0; column < 8 * TILES; column += 8 * TOGETHER) {
                unsigned right[TOGETHER][STEPS][2];
                int theirs[TOGETHER][2];
                float pixel[TOGETHER][2][PLANES], biases[TOGETHER][2];
                #pragma unroll
                for (int k = 0; k < TOGETHER; ++k) {
                    const int from = column + 8 * k;
                    #pragma unroll
                    for (int n = 0; n < 2 * STEPS; ++n)
                        right[k][n / 2][n % 2] = patch[at[n / 2][n % 2] + from * CHANNELS / 4];
                    if constexpr (GREY) {
                        const int4 both = *reinterpret_cast<const int4*>(others + KEPT * from);
                        theirs[k][0] = both.x, pixel[k][0][0] = __int_as_float(both.y);
                        theirs[k][1] = both.z, pixel[k][1][0] = __int_as_float(both.w);
                    }
                    for (int c = 0; c < 2; ++c) {  // beyond the window the exponent is minus infinity
                        biases[k][c] = (TOGETHER > 1 && 3 <= from && from + 7 < KSIZE)  // for all lanes
                            || static_cast<unsigned>(from + 2 * t + c - g % 4) < KSIZE ? bias : __int_as_float(0xFF800000);
                        if (GREY) continue;
                        theirs[k][c] = others[from + c];
                        for (int plane = 0; plane < PLANES; ++plane)
                            pixel[k][c][plane] = byte_to_float(pixels[(from + c) * CHANNELS + plane], 0);
                    }
                }
                #pragma unroll
                for (int square = 0; square < TALL; ++square) {
                    if (GREY && static_cast<unsigned>(row - 4 * square) >= LIVE) continue;
                    int apart[TOGETHER][4];
                    unsigned found = 0;
                    #pragma unroll
                    for (int k = 0; k < TOGETHER; ++k) {
                        int sums[4];
                        multiply_add_bytes(sums, left[square][0], right[k][0], start[square]);
                        for (int step = 1; step < STEPS; ++step)
                            multiply_add_bytes(sums, left[square][step], right[k][step], sums);
                        for (int i = 0; i < 4; ++i) found |= apart[k][i] = theirs[k][i % 2] - 2 * sums[i];
                    }
                    if (GREY && !__any_sync(~0u, (found & COUNTS) != 0)) continue;  // colours have few products to pass over
                    #pragma unroll
                    for (int n = 0; n < 4 * TOGETHER; ++n) {
                        const int one = apart[n / 4][n % 4];
                        const float distance = BY_BITS ? __int_as_float(one) : static_cast<float>(one);
                        const float exponent = fmaf(distance, slope, biases[n / 4][n % 2]);
                        if (one < mine[square][n / 2 % 2]) means[square][n / 2 % 2].add(exp2f(exponent), pixel[n / 4][n % 2]);
                    }
                }
            }
        }
        // 3. Four lanes have the sums of a pixel together.
        #pragma unroll
        for (int n = 0; n < 2 * TALL; ++n) {
            Mean& mean = means[n / 2][n % 2];
            for (int by = 1; by < 4; by *= 2) {
                mean.weights += __shfl_xor_sync(~0u, mean.weights, by);
                for (int plane = 0; plane < PLANES; ++plane)
                    mean.weighted[plane] += __shfl_xor_sync(~0u, mean.weighted[plane], by);
            }
            const int y = y0 + top + 4 * (n / 2) + g / 4 + 2 * (n % 2);
            if (t == 0 && x0 + x < width && y < end_row) mean.write(dst, src, x0 + x, y, pitch);
        }
    }
}
