// The words of rungs that multiply on the tensor cores: matrices of half precision whose products
// are summed in float32.  A warp holds a matrix together: lane 4 g + t has, of each 8 x 8 block, the
// two halves in row g and columns 2 t, 2 t + 1, as one word ("pair").
//
// A filter becomes a product of matrices when its weights are written as a band: row k, column n of
// the band is weight k - n, so samples times band are 8 filtered samples at once.  Blocks along a
// diagonal of the band are equal, so a lane's words of it are the pairs of weights
// 8 d + 2 t - g for d = 0, 1, 2, ...: see `bands` in operands.py.  KSIZE and the PAD columns in front
// of the first weight make every block begin where the picture's columns are a multiple of 8.

constexpr int WARP = 32;
constexpr int PLANES = CHANNELS - HAS_ALPHA;       // channels that are filtered, each a plane of its own
constexpr int PAD = (8 - RADIUS % 8) % 8;          // columns staged left of the halo: blocks begin at x % 8 == 0
constexpr int REACH = RADIUS + PAD;
constexpr int DEEP = (PAD + KSIZE + 30) / 16;      // blocks of 16 under 16 neighbouring bands
constexpr int WORDS = 16 * DEEP + 16;              // in a table of weights; the first that
constexpr int FIRST_WORD = 15;                     // row 0 of block 0 needs

// Samples that fit into a half: the others are kept as a high and a low half, 22 bits together.
constexpr bool FITS_HALF = IS_SAME<sample, uint8> || IS_SAME<sample, float16>;
// Only float32 exceeds a half's range by far: it is scaled by powers of two.
constexpr bool IS_SCALED = IS_SAME<sample, float32>;

// ---- Tensor cores. -----------------------------------------------------------------------------

__device__ __forceinline__ float half_of(unsigned pair, int i) {
    return half_to_float(static_cast<unsigned short>(pair >> 16 * i));
}

// sum (16 x 8) += left (16 x 8) times right (8 x 8).  Of sum a lane has row g, columns 2 t and 2 t + 1,
// then the same of row g + 8; of left the pair in row g, then that in row g + 8; of right, which is
// held by columns, rows 2 t and 2 t + 1 of column g.
__device__ __forceinline__ void multiply_add(float (&sum)[4], unsigned left, unsigned left_below, unsigned right) {
#ifndef CUDA_ON_CPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left), "r"(left_below), "r"(right));
#else
    const auto upper = cuda_cpu::all_lanes(left, __LINE__), lower = cuda_cpu::all_lanes(left_below, __LINE__);
    const auto columns = cuda_cpu::all_lanes(right, __LINE__);
    const int lane = threadIdx.x % WARP, row = lane / 4 * 4, column = lane % 4 * 8;
    for (int i = 0; i < 4; ++i) cuda_cpu::add_products(sum[i], i < 2 ? upper : lower, row, columns, column + i % 2 * 4);
#endif
}

// The same 16 deep: left (16 x 16) as upper left, lower left, upper right, lower right block, right
// (16 x 8) as upper and lower block.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&left)[4], uint2 right) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right.x), "r"(right.y));
#else
    multiply_add(sum, left[0], left[1], right.x);
    multiply_add(sum, left[2], left[3], right.y);
#endif
}

// Four 8 x 8 blocks from shared memory: two down, two across.  DOWN_FIRST: in the order of `left`
// above; else in that of two `right`s, each held by columns.  corner and stride: in halves, multiples
// of 8; an odd multiple of 8 as stride keeps the eight rows of a block in different banks.
template <bool DOWN_FIRST>
__device__ __forceinline__ void read_blocks(unsigned (&blocks)[4], const unsigned short* corner, int stride) {
    const int lane = threadIdx.x % WARP;
#ifndef CUDA_ON_CPU
    const int block = lane / 8;  // each lane names one row of one block
    const int down = DOWN_FIRST ? block % 2 : block / 2, across = DOWN_FIRST ? block / 2 : block % 2;
    const unsigned short* row = corner + (8 * down + lane % 8) * stride + 8 * across;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(blocks[0]), "=r"(blocks[1]), "=r"(blocks[2]), "=r"(blocks[3])
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))) : "memory");
#else
    for (int block = 0; block < 4; ++block) {
        const int down = DOWN_FIRST ? block % 2 : block / 2, across = DOWN_FIRST ? block / 2 : block % 2;
        const unsigned short* row = corner + (8 * down + lane / 4) * stride + 8 * across;
        blocks[block] = *reinterpret_cast<const unsigned*>(row + 2 * (lane % 4));
    }
#endif
}

// COUNT matrices of eight blocks of 16 bytes, from lanes' words to 128 bytes each, one behind another: lane 4 g + t has
// bytes 2 g and 2 g + 1 of blocks 2 t and then 2 t + 1.
template <int COUNT>
__device__ __forceinline__ void write_blocks(void* to, const unsigned* words) {
    const int lane = threadIdx.x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to)) + 16 * (COUNT == 4 ? lane : lane % (8 * COUNT));
    if constexpr (COUNT == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};"
                     ::"r"(at), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    else if constexpr (COUNT == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};"
                     ::"r"(at), "r"(words[0]), "r"(words[1]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at), "r"(words[0]) : "memory");
#else
    unsigned short* const pairs = reinterpret_cast<unsigned short*>(to) + lane % 4 * 16 + lane / 4;
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        pairs[64 * i] = static_cast<unsigned short>(words[i]);
        pairs[64 * i + 8] = static_cast<unsigned short>(words[i] >> 16);
    }
#endif
}

// ---- Halves. -----------------------------------------------------------------------------------

// Two floats as halves, the first in the low bits.
__device__ __forceinline__ unsigned to_pair(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
#else
    return float_to_half(first) | static_cast<unsigned>(float_to_half(second)) << 16;
#endif
}

// What is lost in `pair`, as halves of its own.
__device__ __forceinline__ unsigned rest_of(unsigned pair, float first, float second) {
    return to_pair(first - half_of(pair, 0), second - half_of(pair, 1));
}

// 2 to the `exponent`, -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

// The exponent of the power of two that brings samples of size `peak` to less than 2^room.
// Samples below 2^-92 need not become so large: a half is as fine there as anybody can tell.  Nor may
// `undo` divided by that power, which sums are multiplied by, be below 2^-126: it would become 0.
__device__ __forceinline__ int exponent_for(float peak, int room, float undo) {
    const int wanted = room - (static_cast<int>(__float_as_uint(peak) >> 23) - 126);
    const int most = min(100, static_cast<int>(__float_as_uint(undo) >> 23) - 1);
    return wanted < most ? wanted : most;
}
constexpr int FIXED_EXPONENT = IS_SAME<sample, uint16> ? -8 : 0;  // less than 2^8, where samples are split

// The largest of all lanes, none of them negative.
__device__ __forceinline__ float largest_of_warp(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __uint_as_float(__reduce_max_sync(0xffffffffu, __float_as_uint(value)));
#else
    #pragma unroll
    for (int step = WARP / 2; step; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
#endif
}

// ---- Pictures. ---------------------------------------------------------------------------------

// Four samples as the words they lie in.  Not as samples: small ones would have to be taken apart as
// soon as they are loaded, and whoever loads ahead would wait for them at once.
struct alignas(4 * sizeof(sample)) Four {
    unsigned words[sizeof(sample)];
};

__device__ __forceinline__ unsigned bits_of(uint8 value) { return value; }
__device__ __forceinline__ unsigned bits_of(uint16 value) { return value; }
__device__ __forceinline__ unsigned bits_of(float16 value) { return value.bits; }
__device__ __forceinline__ unsigned bits_of(float32 value) { return __float_as_uint(value); }

// Four neighbouring pixels as they lie in memory.
struct Pixels {
    Four fours[CHANNELS];
    static constexpr int BITS = 8 * sizeof(sample), OF_WORD = 4 / sizeof(sample);
    __device__ __forceinline__ float value(int pixel, int channel) const {
        const int at = pixel * CHANNELS + channel;
        const unsigned word = fours[at / 4].words[at % 4 / OF_WORD];
        if constexpr (IS_SAME<sample, float32>) return __uint_as_float(word);
        else if constexpr (IS_SAME<sample, float16>) return half_of(word, at % 2);
        else return static_cast<float>(word >> BITS * (at % OF_WORD) & 0xffffffffu >> (32 - BITS));
    }
};

// Pixels x to x + 3 of row y, x a multiple of 4: all of them in the picture if INSIDE.
template <bool INSIDE>
__device__ __forceinline__ Pixels read_pixels(const sample* src, int x, int y, int height, int width, int pitch) {
    Pixels pixels;
    const int from_y = INSIDE ? y : border_index(y, height);
    const sample* row = row_of(src, from_y == OUTSIDE ? 0 : from_y, pitch);
    if (INSIDE || (from_y != OUTSIDE && 0 <= x && x + 4 <= width)) {
        #pragma unroll
        for (int i = 0; i < CHANNELS; ++i)
            pixels.fours[i] = reinterpret_cast<const Four*>(row + x * CHANNELS)[i];
        return pixels;
    }
    #pragma unroll
    for (int i = 0; i < 4 * CHANNELS; ++i) {
        const int from_x = border_sample(x * CHANNELS + i, width);
        const sample value = from_x == OUTSIDE || from_y == OUTSIDE ? sample{} : row[from_x];
        const unsigned bits = bits_of(value);
        unsigned& word = pixels.fours[i / 4].words[i % 4 / Pixels::OF_WORD];
        word = i % Pixels::OF_WORD ? word | bits << Pixels::BITS * (i % Pixels::OF_WORD) : bits;
    }
    return pixels;
}

// Four samples of one plane as high halves, and `behind` halves further as low ones if PARTS is 2.
template <int PARTS>
__device__ __forceinline__ void write_halves(
    unsigned short* to, int behind, const Pixels& pixels, int plane, float scale)
{
    float values[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = pixels.value(i, plane) * scale;
    const uint2 high = make_uint2(to_pair(values[0], values[1]), to_pair(values[2], values[3]));
    *reinterpret_cast<uint2*>(to) = high;
    if constexpr (PARTS == 2)
        *reinterpret_cast<uint2*>(to + behind) = make_uint2(
            rest_of(high.x, values[0], values[1]), rest_of(high.y, values[2], values[3]));
}

// Four sums as bytes, first those of column 2 t: rounded half to even and saturated.  Two conversions and
// their packing are one instruction.
__device__ __forceinline__ unsigned round_bytes(const float (&sums)[4]) {
#ifndef CUDA_ON_CPU
    int whole[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) asm("cvt.rni.s32.f32 %0, %1;" : "=r"(whole[i]) : "f"(sums[i]));
    unsigned bytes;
    asm("{.reg .b32 upper;\n"
        "cvt.pack.sat.u8.s32.b32 upper, %4, %3, 0;\n"
        "cvt.pack.sat.u8.s32.b32 %0, %2, %1, upper;}"
        : "=r"(bytes) : "r"(whole[0]), "r"(whole[2]), "r"(whole[1]), "r"(whole[3]));
    return bytes;
#else
    unsigned bytes = 0;
    for (int i = 0; i < 4; ++i) bytes |= unsigned(rounded_to<uint8>(sums[i % 2 * 2 + i / 2])) << 8 * i;
    return bytes;
#endif
}

struct alignas(2 * sizeof(sample)) Two {
    sample of[2];
};

// Pixels x and x + 1 of one plane, x even; x < width.
__device__ __forceinline__ void write_two(sample* row, int x, int plane, float first, float second, int width) {
    if constexpr (CHANNELS == 1) {  // behind the last there is padding
        *reinterpret_cast<Two*>(row + x) = Two{{to_sample(first), to_sample(second)}};
    } else {
        row[x * CHANNELS + plane] = to_sample(first);
        if (x + 1 < width) row[(x + 1) * CHANNELS + plane] = to_sample(second);
    }
}

// The last channel of rows x columns pixels, by a block of so many threads.
__device__ __forceinline__ void copy_alpha(
    const sample* src, sample* dst, int x0, int y0, int columns, int rows, int threads,
    int width, int pitch, int end_row)
{
    for (int i = threadIdx.y * WARP + threadIdx.x; i < columns * rows; i += threads) {
        const int x = x0 + i % columns, y = y0 + i / columns;
        const int at = x * CHANNELS + CHANNELS - 1;
        if (x < width && y < end_row) row_of(dst, y, pitch)[at] = row_of(src, y, pitch)[at];
    }
}
