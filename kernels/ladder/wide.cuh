// The words of rungs that move sixteen bytes at a time.  A row begins at a multiple of 128 bytes and
// is padded up to one, so a chunk that holds the end of a row may be stored whole.

// A thread's widest load or store: 4 float32 samples, 8 float16 or uint16, 16 uint8.
constexpr int CHUNK = 16 / sizeof(sample);

// So many chunks hold the halo on either side of a chunk ...
constexpr int HALO_CHUNKS = (HALO_X + CHUNK - 1) / CHUNK;
// ... and so many samples of the first lie beyond it.
constexpr int HALO_SPARE = HALO_CHUNKS * CHUNK - HALO_X;

// An integer below 2^23 put into the low bits of 2^23 is a float; subtracting leaves the integer.  One
// PRMT and one FADD, which many more lanes can do than I2F.
constexpr float TWO_23 = 8388608.0f;
constexpr unsigned TWO_23_BITS = 0x4B000000u;
__device__ __forceinline__ float byte_to_float(unsigned word, int i) {
    return __uint_as_float(__byte_perm(word, TWO_23_BITS, 0x7440 + i)) - TWO_23;
}
__device__ __forceinline__ float half_word_to_float(unsigned word, int i) {
    return __uint_as_float(__byte_perm(word, TWO_23_BITS, i == 0 ? 0x7410 : 0x7432)) - TWO_23;
}

// One of a chunk's samples, by a constant index, as a float.
__device__ __forceinline__ float chunk_sample(const uint4& chunk, int i) {
    const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
    if constexpr (IS_SAME<sample, float32>) return __uint_as_float(words[i]);
    else if constexpr (IS_SAME<sample, uint8>) return byte_to_float(words[i / 4], i % 4);
    else if constexpr (IS_SAME<sample, uint16>) return half_word_to_float(words[i / 2], i % 2);
    else return half_to_float(static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16)));
}

// values[0 .. CHUNK - 1] from a chunk.
__device__ __forceinline__ void unpack(const uint4& chunk, float* values) {
    #pragma unroll
    for (int i = 0; i < CHUNK; ++i) values[i] = chunk_sample(chunk, i);
}

// What is stored for one float, in the low bits of a word.  One conversion rounds half to even and
// saturates an integer; in C++ it would take a rounding, two comparisons and a conversion.
__device__ __forceinline__ unsigned to_bits(float value) {
    if constexpr (IS_SAME<sample, float32>) return __float_as_uint(value);
    else if constexpr (IS_SAME<sample, float16>) return float_to_half(value);
#ifdef CUDA_ON_CPU
    else return rounded_to<sample>(value);
#else
    else if constexpr (IS_SAME<sample, uint8>) {
        unsigned bits;
        asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(bits) : "f"(value));
        return bits;
    } else {
        unsigned short bits;
        asm("cvt.rni.sat.u16.f32 %0, %1;" : "=h"(bits) : "f"(value));
        return bits;
    }
#endif
}

// The samples of one word, CHUNK / 4 of them, rounded and saturated.
__device__ __forceinline__ unsigned pack_word(const float* values) {
    if constexpr (CHUNK == 4) return to_bits(values[0]);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (IS_SAME<sample, float16>) {  // two conversions in one
        unsigned both;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(values[1]), "f"(values[0]));
        return both;
    }
#endif
    if constexpr (CHUNK == 8) return __byte_perm(to_bits(values[0]), to_bits(values[1]), 0x5410);
    const unsigned low = __byte_perm(to_bits(values[0]), to_bits(values[1]), 0x0040);
    const unsigned high = __byte_perm(to_bits(values[2]), to_bits(values[3]), 0x0040);
    return __byte_perm(low, high, 0x5410);
}

// values[0 .. CHUNK - 1], rounded and saturated, as a chunk.
__device__ __forceinline__ uint4 pack(const float* values) {
    constexpr int A_WORD = CHUNK / 4;
    return make_uint4(pack_word(values), pack_word(values + A_WORD),
                      pack_word(values + 2 * A_WORD), pack_word(values + 3 * A_WORD));
}

// Which bits of word w of a chunk are alpha's: chunks begin with a pixel where there is an alpha.
__device__ __forceinline__ constexpr unsigned alpha_bits(int w) {
    if (!HAS_ALPHA) return 0;
    if (CHUNK == 4) return w % CHANNELS == CHANNELS - 1 ? ~0u : 0;
    if (CHUNK == 8) return CHANNELS == 2 || w % 2 == 1 ? 0xFFFF0000u : 0;
    return CHANNELS == 2 ? 0xFF00FF00u : 0xFF000000u;
}
// `filtered`, but alpha out of `original`, bit for bit.
__device__ __forceinline__ uint4 keep_alpha(const uint4& filtered, const uint4& original) {
    return make_uint4((filtered.x & ~alpha_bits(0)) | (original.x & alpha_bits(0)),
                      (filtered.y & ~alpha_bits(1)) | (original.y & alpha_bits(1)),
                      (filtered.z & ~alpha_bits(2)) | (original.z & alpha_bits(2)),
                      (filtered.w & ~alpha_bits(3)) | (original.w & alpha_bits(3)));
}

#ifndef OUTSIDE_BITS
#define OUTSIDE_BITS 0u  // of a sample where the border has none; extremes.cuh has others
#endif

// The chunk at samples x to x + CHUNK - 1 of a row, which has them all; x a multiple of CHUNK.
__device__ __forceinline__ uint4 load_chunk(const sample* row, int x) {
    return *reinterpret_cast<const uint4*>(row + x);
}

// The bits of sample x of row `row`, which lies inside the picture; x may lie outside.
__device__ __forceinline__ unsigned edge_bits(const sample* row, int x, int width) {
    const int from = border_sample(x, width);
    if (from == OUTSIDE) return OUTSIDE_BITS;
    if constexpr (sizeof(sample) == 4) return reinterpret_cast<const unsigned*>(row)[from];
    else if constexpr (sizeof(sample) == 2) return reinterpret_cast<const unsigned short*>(row)[from];
    else return reinterpret_cast<const unsigned char*>(row)[from];
}

// A chunk that reaches beyond the row, put together sample by sample.  Not inlined: few need it, and
// all would pay for its registers.
__device__ __noinline__ uint4 edge_chunk(const sample* row, int x, int width) {
    constexpr int A_WORD = CHUNK / 4, BITS = 8 * sizeof(sample);
    unsigned words[4] = {0, 0, 0, 0};
    #pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        words[i / A_WORD] |= edge_bits(row, x + i, width) << (i % A_WORD * BITS);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// A chunk of what the border has where it has no sample.
__device__ __forceinline__ uint4 outside_chunk() {
    const unsigned word = OUTSIDE_BITS * (sizeof(sample) == 4 ? 1u : sizeof(sample) == 2 ? 0x10001u : 0x1010101u);
    return make_uint4(word, word, word, word);
}

// The same of row y, wherever they lie.
__device__ __forceinline__ uint4 read_chunk(
    const sample* src, int x, int y, int height, int width, int pitch)
{
    const int from_y = border_index(y, height);
    if (from_y == OUTSIDE) return outside_chunk();
    const sample* row = row_of(src, from_y, pitch);
    if (0 <= x && x + CHUNK <= width * CHANNELS) return load_chunk(row, x);
    return edge_chunk(row, x, width);
}

// x a multiple of CHUNK, inside the row; what lies behind the row's end is padding.
__device__ __forceinline__ void write_chunk(sample* row, int x, const uint4& chunk) {
    *reinterpret_cast<uint4*>(row + x) = chunk;
}
