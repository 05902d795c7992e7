// The words of rungs that multiply bytes by 8-bit digits of weights on the tensor cores, summed as
// integers, without any rounding.  Needs tensor.cuh before this file.  The launcher says how many DIGITS, bytes of a
// weight, there are, and whether these are SIGNED.

// Interleaved channels leave at least two of each four neighbours in a row of weights zero: tensor cores
// can leave these out.
constexpr bool SPARSE_DIGITS = CHANNELS > 1;

// sum (16 x 8) = from + left (16 x 16 PARTS digits) times right (16 PARTS x 8 bytes).  A lane has of left four
// bytes of row g from column 4 t on, the same of row g + 8, and both 16 columns further; of right, which
// is held by columns, rows 4 t to 4 t + 3 of column g, and so on each 16 rows.
//
// With interleaved channels left has half as many columns, those that are kept.  Which these are tell
// `places`, two bits for each: a lane's are of half a row, row g if t is even, else g + 8, the left half
// if t is 0 or 1.
template <int PARTS>
__device__ __forceinline__ void multiply_add_bytes(
    int (&sum)[4], const uint4& left, unsigned places, const unsigned* right, const int (&from)[4])
{
    constexpr int LEFT_PARTS = SPARSE_DIGITS ? PARTS / 2 : PARTS;
    static_assert(LEFT_PARTS == 1 || LEFT_PARTS == 2, "the products that there are");
#ifdef CUDA_ON_CPU
    const auto as_digit = [](unsigned byte) { return SIGNED ? static_cast<signed char>(byte) : static_cast<int>(byte & 255); };
    const int lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    const unsigned lefts[4] = {left.x, left.y, left.z, left.w};
    float kept[2][16 * LEFT_PARTS], column[2][16 * PARTS];  // of rows g and g + 8; columns 2 t and 2 t + 1
    for (int part = 0; part < 2 * LEFT_PARTS; ++part) {
        const auto all = cuda_cpu::all_lanes(lefts[part], __LINE__);
        for (int k = 0; k < 16; ++k)
            kept[part % 2][part / 2 * 16 + k] = as_digit(all[4 * g + k / 4] >> 8 * (k % 4));
    }
    for (int part = 0; part < PARTS; ++part) {
        const auto all = cuda_cpu::all_lanes(right[part], __LINE__);
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 2; ++i)
                column[i][16 * part + k] = static_cast<uint8>(all[4 * (2 * t + i) + k / 4] >> 8 * (k % 4));
    }
    const auto all_places = cuda_cpu::all_lanes(places, __LINE__);
    for (int i = 0; i < 4; ++i) {
        float total = 0.0f;
        for (int k = 0; k < 16 * LEFT_PARTS; ++k) {
            const int place = all_places[4 * g + k / 16 * 2 + i / 2] >> 2 * (k % 16) & 3;
            total += kept[i / 2][k] * column[i % 2][SPARSE_DIGITS ? k / 2 * 4 + place : k];
        }
        sum[i] = from[i] + static_cast<int>(total);
    }
#elif __CUDA_ARCH__ >= 800
#if SIGNED
#define DIGIT "s8"
#else
#define DIGIT "u8"
#endif
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define SPARSE_PRODUCT "mma.sp::ordered_metadata.sync"
#else
#define SPARSE_PRODUCT "mma.sp.sync"
#endif
    if constexpr (SPARSE_DIGITS && PARTS == 4)
        asm(SPARSE_PRODUCT ".aligned.m16n8k64.row.col.s32." DIGIT ".u8.s32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, %16, 0x0;"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w),
              "r"(right[0]), "r"(right[1]), "r"(right[2]), "r"(right[3]),
              "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "r"(places));
    else if constexpr (SPARSE_DIGITS)
        asm(SPARSE_PRODUCT ".aligned.m16n8k32.row.col.s32." DIGIT ".u8.s32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}, %12, 0x0;"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(left.x), "r"(left.y), "r"(right[0]), "r"(right[1]),
              "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "r"(places));
    else if constexpr (PARTS == 2)
        asm("mma.sync.aligned.m16n8k32.row.col.s32." DIGIT ".u8.s32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right[0]), "r"(right[1]),
              "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.s32." DIGIT ".u8.s32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(left.x), "r"(left.y), "r"(right[0]),
              "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
#endif
}
