// The words of rungs that put samples in order.  What a rank gives is one of the samples, bit for bit: so a minimum
// may not make zeros of the tiniest floats, as these rungs are compiled to have it elsewhere.

// An integer in the order of a T's bits; of a negative one all but the sign is turned.  Twice is not at all.
template <typename T = sample>
__device__ __forceinline__ int turned(int bits) {
    return bits ^ ((bits >> 31) & (sizeof(T) == 4 ? 0x7FFFFFFF : 0x7FFF));
}
// What stands for a sample: a float32 itself, of others an integer in their order, 0 for 0.
template <typename T> struct KeyOf { using type = int; };
template <> struct KeyOf<float32> { using type = float32; };
using Key = KeyOf<sample>::type;
template <typename T>
__device__ __forceinline__ Key key_of(T value) {
    if constexpr (IS_SAME<T, float16>) return turned(static_cast<short>(value.bits));
    else return value;
}
template <typename T = sample>
__device__ __forceinline__ T sample_of(Key key) {
    if constexpr (IS_SAME<T, float16>) return T{static_cast<unsigned short>(turned(key))};
    else return static_cast<T>(key);
}

__device__ __forceinline__ int least(int a, int b) { return min(a, b); }
__device__ __forceinline__ int greatest(int a, int b) { return max(a, b); }
#ifdef CUDA_ON_CPU
__device__ __forceinline__ float least(float a, float b) { return b < a ? b : a; }
__device__ __forceinline__ float greatest(float a, float b) { return b < a ? a : b; }
#else
__device__ __forceinline__ float least(float a, float b) {
    float found;
    asm("min.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));  // not min.ftz.f32, that fminf would be
    return found;
}
__device__ __forceinline__ float greatest(float a, float b) {
    float found;
    asm("max.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
    return found;
}
#endif

// Two samples of a column in the halves of one register: that of the upper row in the low half.
// A byte lies in the upper byte of its half; what is below may be anything, and decides ties alone.  GPUs that
// compare pairs of halves only, and not of integers, have it in the lower byte, below a zero: a half as well.
struct Pair { unsigned bits; };
constexpr int A_WORD = 4 / sizeof(sample);  // samples in four bytes

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr bool QUICK_PAIRS = true;  // whether one instruction compares pairs of integers
#else
constexpr bool QUICK_PAIRS = false;
#endif
// Halves are compared as such; or, where that cannot be, as integers, with all but the sign turned of negative ones.
__device__ __forceinline__ unsigned turned_pair(unsigned bits) { return bits ^ ((bits >> 15) & 0x00010001u) * 0x7FFFu; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned least_halves(unsigned a, unsigned b) {
    unsigned found;
    asm("min.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
    return found;
}
__device__ __forceinline__ unsigned greatest_halves(unsigned a, unsigned b) {
    unsigned found;
    asm("max.f16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b));
    return found;
}
#else
__device__ __forceinline__ unsigned least_halves(unsigned a, unsigned b) {
    return turned_pair(__vmins2(turned_pair(a), turned_pair(b)));
}
__device__ __forceinline__ unsigned greatest_halves(unsigned a, unsigned b) {
    return turned_pair(__vmaxs2(turned_pair(a), turned_pair(b)));
}
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
constexpr bool BYTES_ARE_HALVES = !QUICK_PAIRS && sizeof(sample) == 1;
#else
constexpr bool BYTES_ARE_HALVES = false;
#endif
constexpr bool OF_HALVES = IS_SAME<sample, float16> || BYTES_ARE_HALVES;
__device__ __forceinline__ Pair least(Pair a, Pair b) {
    return {OF_HALVES ? least_halves(a.bits, b.bits) : __vminu2(a.bits, b.bits)};
}
__device__ __forceinline__ Pair greatest(Pair a, Pair b) {
    return {OF_HALVES ? greatest_halves(a.bits, b.bits) : __vmaxu2(a.bits, b.bits)};
}

template <typename T> __device__ __forceinline__ T least(T a, T b, T c) { return least(least(a, b), c); }
template <typename T> __device__ __forceinline__ T greatest(T a, T b, T c) { return greatest(greatest(a, b), c); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900  // one instruction for three
__device__ __forceinline__ int least(int a, int b, int c) { return __vimin3_s32(a, b, c); }
__device__ __forceinline__ int greatest(int a, int b, int c) { return __vimax3_s32(a, b, c); }
__device__ __forceinline__ Pair least(Pair a, Pair b, Pair c) {
    return OF_HALVES ? least(least(a, b), c) : Pair{__vimin3_u16x2(a.bits, b.bits, c.bits)};
}
__device__ __forceinline__ Pair greatest(Pair a, Pair b, Pair c) {
    return OF_HALVES ? greatest(greatest(a, b), c) : Pair{__vimax3_u16x2(a.bits, b.bits, c.bits)};
}
#endif

// Samples `I` of two words of A_WORD samples, one from each row; and back, A_WORD pairs to two words.
template <int I>
__device__ __forceinline__ Pair pair_of(unsigned upper, unsigned lower) {
    if constexpr (BYTES_ARE_HALVES) return {__byte_perm(upper, lower, (4 + I) << 8 | I) & 0x00FF00FFu};
    if constexpr (A_WORD == 4) return {__byte_perm(upper, lower, (4 + I) << 12 | 4 << 8 | I << 4)};
    return {__byte_perm(upper, lower, I == 0 ? 0x5410 : 0x7632)};
}
__device__ __forceinline__ void words_of(const Pair* pairs, unsigned& upper, unsigned& lower) {
    if constexpr (A_WORD == 4) {
        constexpr unsigned PLACES = BYTES_ARE_HALVES ? 0x6240 : 0x7351;
        const unsigned ab = __byte_perm(pairs[0].bits, pairs[1].bits, PLACES);
        const unsigned cd = __byte_perm(pairs[2].bits, pairs[3].bits, PLACES);
        upper = __byte_perm(ab, cd, 0x5410), lower = __byte_perm(ab, cd, 0x7632);
    } else {
        upper = __byte_perm(pairs[0].bits, pairs[1].bits, 0x5410);
        lower = __byte_perm(pairs[0].bits, pairs[1].bits, 0x7632);
    }
}
