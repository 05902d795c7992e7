// Products of bytes or of halves by a warpgroup, four warps together, on the tensor cores of sm_90a.  They read their
// right operand from shared memory, while the warps do something else.  Needs tensor.cuh and copies.cuh before this file.
//
// sums (64 x COLUMNS) = [sums +] left (64 x 32 bytes, SIGNED or not) times right (32 x COLUMNS bytes).  Warp w has rows
// 16 w to 16 w + 15 of left and of the sums, as of a warp's own products: see digits.cuh.  A lane's sums are
// 4 q to 4 q + 3 of columns 8 q + 2 t and the next, of row g and then of row g + 8.
//
// A column of right is pieces of 16 bytes that are BETWEEN bytes apart in memory, and it begins 16 bytes
// after the column before it.  So right may be windows of one row that overlap, and nobody copies them.
//
// Of halves left is 64 x 16, as in tensor.cuh upper left, lower left, upper right, lower right, and a column of right
// two pieces.
//
// SPARSE: right has 64 rows, of each four of which left has two; which these are tell `places`.

constexpr int PIECE = 16;

// Where a right operand begins, in shared memory; to add one is to go a piece further.
#ifdef CUDA_ON_CPU
using Windows = const uint4*;
__device__ __forceinline__ Windows windows_at(const uint8* at) { return reinterpret_cast<Windows>(at); }
#else
using Windows = unsigned;
__device__ __forceinline__ Windows windows_at(const uint8* at) { return shared_address(at) / PIECE; }
#endif

// Computed here, neither earlier nor later: NVRTC would set sums to zero after the fence, just before a product adds to them.
template <typename T, int COUNT> __device__ __forceinline__ void settle(T (&sums)[COUNT]) {
#ifndef CUDA_ON_CPU
    #pragma unroll
    for (int i = 0; i < COUNT; ++i)
        if constexpr (IS_SAME<T, int>) asm volatile("" : "+r"(sums[i]) :: "memory");
        else asm volatile("" : "+f"(sums[i]) :: "memory");
#endif
}
// What threads have stored to shared memory, and the registers of left, are there for what follows.
__device__ __forceinline__ void begin_products() {
#ifndef CUDA_ON_CPU
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
// What was begun since the last call is one group.
__device__ __forceinline__ void end_products() {
#ifndef CUDA_ON_CPU
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Until at most PENDING groups are under way, those of these sums not among them.
template <int PENDING, typename T, int COUNT>
__device__ __forceinline__ void wait_for_products(T (&sums)[COUNT]) {
#ifndef CUDA_ON_CPU
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
#endif
    settle(sums);
}

#ifndef SIGNED
#define SIGNED 0  // where there are no products of bytes
#endif
#ifdef CUDA_ON_CPU
// Each lane sums its own at once.  What no weight is for is not read; nor is it watched: columns beyond
// the row, whose sums nobody uses, are of bytes that nobody has stored.
template <int COLUMNS, bool SPARSE, int BETWEEN>
UNWATCHED void multiply_add_windows(
    int (&sums)[COLUMNS / 2], const uint4& left, Windows right, unsigned places, bool adds)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const unsigned words[4] = {left.x, left.y, left.z, left.w};
    const uint8* const bytes = reinterpret_cast<const uint8*>(right);
    if (!adds)
        for (int i = 0; i < COLUMNS / 2; ++i) sums[i] = 0;
    const auto all_places = cuda_cpu::all_lanes(places, __LINE__);
    unsigned kept[2];  // of rows g and g + 8, which two of four: of depth 0 to 15, and then 16 to 31
    for (int part = 0; part < 4; ++part) {
        const auto all = cuda_cpu::all_lanes(words[part], __LINE__);
        for (int half = 0; half < 2; ++half) kept[half] = all_places[4 * g + part / 2 * 2 + half];
        for (int k = 0; k < 16; ++k) {
            const uint8 byte = all[4 * g + k / 4] >> 8 * (k % 4);
            const int weight = SIGNED ? static_cast<signed char>(byte) : byte;
            const int place = kept[part % 2] >> 2 * k & 3, depth = part / 2 * 16 + k;
            const int at = SPARSE ? depth / 2 * 4 + place : depth;
            if (weight)
                for (int i = 0; i < COLUMNS / 4; ++i)
                    sums[i / 2 * 4 + part % 2 * 2 + i % 2] +=
                        weight * bytes[at / PIECE * BETWEEN + at % PIECE + (i / 2 * 8 + 2 * t + i % 2) * PIECE];
        }
    }
#ifdef COUNTING
    for (int n = 0; n < COLUMNS / 2 * 32; ++n) cuda_cpu::count(cuda_cpu::MULTIPLY_ADD);
#endif
}
// The same of halves.
template <int COLUMNS, int BETWEEN>
UNWATCHED void multiply_add_halves(float (&sums)[COLUMNS / 2], const uint4& left, Windows right, bool adds)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const unsigned words[4] = {left.x, left.y, left.z, left.w};
    const unsigned short* const halves = reinterpret_cast<const unsigned short*>(right);
    if (!adds)
        for (int i = 0; i < COLUMNS / 2; ++i) sums[i] = 0.0f;
    for (int part = 0; part < 4; ++part) {
        const auto all = cuda_cpu::all_lanes(words[part], __LINE__);
        for (int k = 0; k < 8; ++k) {
            const float weight = half_of(all[4 * g + k / 2], k % 2);
            for (int i = 0; i < COLUMNS / 4; ++i) {
                const int column = i / 2 * 8 + 2 * t + i % 2;
                sums[i / 2 * 4 + part % 2 * 2 + i % 2] +=
                    weight * half_to_float(halves[(part / 2 * BETWEEN + column * PIECE) / 2 + k]);
            }
        }
    }
}
#else
#if SIGNED
#define LEFT_BYTES "s8"
#else
#define LEFT_BYTES "u8"
#endif
#define SUMS_4(is, n) is(sums[n]), is(sums[n + 1]), is(sums[n + 2]), is(sums[n + 3])
#define SUMS_12(is) SUMS_4(is, 0), SUMS_4(is, 4), SUMS_4(is, 8)
#define SUMS_16(is) SUMS_12(is), SUMS_4(is, 12)
#define SUMS_24(is) SUMS_16(is), SUMS_4(is, 16), SUMS_4(is, 20)
#define SUMS_32(is) SUMS_24(is), SUMS_4(is, 24), SUMS_4(is, 28)
#define SUMS_40(is) SUMS_32(is), SUMS_4(is, 32), SUMS_4(is, 36)
#define NAMES_12 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11"
#define NAMES_16 NAMES_12 ",%12,%13,%14,%15"
#define NAMES_24 NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define NAMES_32 NAMES_24 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define NAMES_40 NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
// a, b ...: the numbers that follow those of the sums.
#define PRODUCT(columns, count, a, b, c, d, e, f, g)                                                         \
    if constexpr (COLUMNS == columns && SPARSE)                                                              \
        asm volatile("{.reg .pred adds; setp.ne.b32 adds, %" #g ", 0;\n"                                     \
                     "wgmma.mma_async.sp.sync.aligned.m64n" #columns "k64.s32." LEFT_BYTES ".u8 {" NAMES_##count "}, " \
                     "{%" #a ",%" #b ",%" #c ",%" #d "}, %" #e ", %" #f ", 0, adds;}"                        \
                     : SUMS_##count("+r")                                                                        \
                     : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "l"(seen), "r"(places),           \
                       "r"(int(adds)));                                                                      \
    else if constexpr (COLUMNS == columns)                                                                   \
        asm volatile("{.reg .pred adds; setp.ne.b32 adds, %" #f ", 0;\n"                                     \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32." LEFT_BYTES ".u8 {" NAMES_##count "}, " \
                     "{%" #a ",%" #b ",%" #c ",%" #d "}, %" #e ", adds;}"                                    \
                     : SUMS_##count("+r")                                                                        \
                     : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "l"(seen), "r"(int(adds)))
template <int COLUMNS, bool SPARSE, int BETWEEN>
__device__ __forceinline__ void multiply_add_windows(
    int (&sums)[COLUMNS / 2], const uint4& left, Windows right, unsigned places, bool adds)
{
    static_assert(COLUMNS == 24 || COLUMNS == 32 || COLUMNS == 64, "the products that are written here");
    // All in pieces: where right begins; from one piece of a column to the next; from each eight columns,
    // which follow one another, to the next.
    const unsigned long long seen = 8ull << 32 | right + (BETWEEN / PIECE << 16);
    PRODUCT(24, 12, 12, 13, 14, 15, 16, 17, 18);
    PRODUCT(32, 16, 16, 17, 18, 19, 20, 21, 22);
    PRODUCT(64, 32, 32, 33, 34, 35, 36, 37, 38);
}
#undef PRODUCT
#define PRODUCT(columns, count, a, b, c, d, e, f)                                                            \
    if constexpr (COLUMNS == columns)                                                                        \
        asm volatile("{.reg .pred adds; setp.ne.b32 adds, %" #f ", 0;\n"                                     \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" NAMES_##count "}, "    \
                     "{%" #a ",%" #b ",%" #c ",%" #d "}, %" #e ", adds, 1, 1, 0;}"                           \
                     : SUMS_##count("+f")                                                                    \
                     : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "l"(seen), "r"(int(adds)))
template <int COLUMNS, int BETWEEN>
__device__ __forceinline__ void multiply_add_halves(float (&sums)[COLUMNS / 2], const uint4& left, Windows right, bool adds)
{
    static_assert(COLUMNS % 16 == 0 && 32 <= COLUMNS && COLUMNS <= 80, "the products that are written here");
    const unsigned long long seen = 8ull << 32 | right + (BETWEEN / PIECE << 16);
    PRODUCT(32, 16, 16, 17, 18, 19, 20, 21);
    PRODUCT(48, 24, 24, 25, 26, 27, 28, 29);
    PRODUCT(64, 32, 32, 33, 34, 35, 36, 37);
    PRODUCT(80, 40, 40, 41, 42, 43, 44, 45);
}
#undef PRODUCT
#endif
