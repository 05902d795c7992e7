// The words of rungs that multiply bytes on the tensor cores.  Needs wide.cuh and tensor.cuh, before this
// file.
//
// A lane that reads a word of four bytes has, to the byte, what a product of matrices wants of it, if
// column g of its right matrix is a block of 16 samples: lane 4 g + t reads word t of block g.  The left
// matrix has the weights, a band as in tensor.cuh: row m is for one of the 16 sums of every block.  What
// these sums need from beyond their blocks are words that lie a multiple of 16 samples further left or
// right.

// Words that matter: of SPAN blocks, of which the last is half one on the right, half one on the left,
// if their number is even.
constexpr int SPAN = 1 + (HALO_X + 7) / 8;
constexpr int SIDE = (SPAN - 1) / 2;           // whole blocks on either side
constexpr int BESIDE = SPAN / 2;               // and with the half one

// How far from word t of a block its word n is that matters, in samples.
__device__ __forceinline__ int words_away(int n, int t) {
    if (n <= 2 * SIDE) return 16 * (n - SIDE);
    return t < 2 ? 16 * (SIDE + 1) : -16 * (SIDE + 1);
}

// Interleaved channels leave more than half of the band empty, and in each four numbers of a row two
// that never count: tensor cores can leave these out, and take two blocks of samples for the price of
// one.  "Four numbers" are samples 0, 1, 4 and 5 of eight, since a lane's word is two pairs.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define HAS_SPARSE_PRODUCTS
constexpr bool SPARSE = CHANNELS > 1;
#elif defined(CUDA_ON_CPU)
constexpr bool SPARSE = CHANNELS > 1;
#else
constexpr bool SPARSE = false;
#endif
constexpr int SPARSE_STEPS = SPARSE ? SPAN / 2 : 0;
constexpr int STEPS = SPAN - SPARSE_STEPS;     // products: of two blocks each, then of one block

// sum (16 x 8) += left (16 x 8 PARTS, two of each four numbers in a row) times right (8 PARTS x 8).  Of left
// a lane has what is kept of four numbers, as a matrix of 16 x 4 PARTS; which those are tell `places`, two
// bits for each.
template <int PARTS>
__device__ __forceinline__ void multiply_add_sparse(
    float (&sum)[4], const unsigned (&left)[4], unsigned places, const unsigned (&right)[PARTS])
{
    static_assert(PARTS == 2 || PARTS == 4, "the products that there are");
#ifdef CUDA_ON_CPU
    const int lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    float kept[2][4 * PARTS], column[2][8 * PARTS];  // of rows g and g + 8; columns 2 t and 2 t + 1
    for (int part = 0; part < PARTS; ++part) {
        const auto lefts = cuda_cpu::all_lanes(left[part], __LINE__), rights = cuda_cpu::all_lanes(right[part], __LINE__);
        for (int k = 0; k < 8; ++k) {
            kept[part % 2][part / 2 * 8 + k] = half_of(lefts[4 * g + k / 2], k % 2);
            for (int i = 0; i < 2; ++i) column[i][8 * part + k] = half_of(rights[4 * (2 * t + i) + k / 2], k % 2);
        }
    }
    const auto all_places = cuda_cpu::all_lanes(places, __LINE__);
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4 * PARTS; ++k) {
            const int place = all_places[4 * g + k / 8] >> (16 * (i / 2) + 2 * (k % 8)) & 3;
            sum[i] += kept[i / 2][k] * column[i % 2][k / 2 * 4 + place];
        }
#elif defined(HAS_SPARSE_PRODUCTS)
    if constexpr (PARTS == 4)
        asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]),
              "r"(right[0]), "r"(right[1]), "r"(right[2]), "r"(right[3]), "r"(places));
    else
        asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0x0;"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(left[0]), "r"(left[1]), "r"(right[0]), "r"(right[1]), "r"(places));
#endif
}

// The argument of `byte_band`, see byte_bands.py: what lanes hold of the weights along x
// for products of one block and, where channels interleave, for sparse ones; then of those down.
struct Bands {
    const uint4* halves;     // [STEPS][2][WARP]: what rounding to halves lost, and the halves, 22 bits together
    const unsigned* places;  // [STEPS][WARP]: which two of four they are for
    const uint2* down;

    __device__ __forceinline__ explicit Bands(const unsigned* words) {
        if (SPARSE) words += SPAN * 2 * WARP * 4;
        halves = reinterpret_cast<const uint4*>(words);
        places = words + STEPS * 2 * WARP * 4;
        constexpr int sparse_steps = (SPAN + 1) / 2;
        down = reinterpret_cast<const uint2*>(SPARSE ? places + STEPS * WARP
            : CHANNELS == 1 ? places : places + sparse_steps * (2 * WARP * 4 + WARP));
    }
};

// Two bytes as halves, exactly: a byte in the low bits of a half is that many times 2^-24, the
// smallest number that there is.
__device__ __forceinline__ unsigned low_pair(unsigned word) { return __byte_perm(word, 0, 0x4140); }
__device__ __forceinline__ unsigned high_pair(unsigned word) { return __byte_perm(word, 0, 0x4342); }

// For so many matrices of blocks at once: of the blocks in columns 2 t and 2 t + 1 samples 2 g, and then
// of both samples 2 g + 1.  half_of(s, part), places_of(s): what a lane holds of the band for product s.
template <int COUNT, typename HalfOf, typename PlacesOf>
__device__ __forceinline__ void sum_along(
    float (&sums)[COUNT][4], const unsigned (&words)[COUNT][SPAN], const HalfOf& half_of, const PlacesOf& places_of)
{
    #pragma unroll
    for (int i = 0; i < 4 * COUNT; ++i) sums[i / 4][i % 4] = 0.0f;
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const unsigned places = SPARSE ? places_of(s) : 0;
        #pragma unroll
        for (int part = 0; part < 2; ++part) {
            const uint4 half = half_of(s, part);
            const unsigned left[4] = {half.x, half.y, half.z, half.w};
            #pragma unroll
            for (int n = 0; n < COUNT; ++n) {
                if (s < SPARSE_STEPS) {
                    const unsigned* const two = words[n] + 2 * s;
                    const unsigned right[4] = {low_pair(two[0]), high_pair(two[0]), low_pair(two[1]), high_pair(two[1])};
                    multiply_add_sparse(sums[n], left, places, right);
                } else {
                    const unsigned word = words[n][SPARSE_STEPS + s];
                    const unsigned right[2] = {low_pair(word), high_pair(word)};
                    if (SPARSE) multiply_add_sparse(sums[n], left, places, right);
                    else multiply_add(sums[n], left, make_uint2(right[0], right[1]));
                }
            }
        }
    }
}
