// CUDA's intrinsics: integers, bits, rounding, SIMD in a word, cache hints, atomics, and what a warp or a
// block does together.  As the CUDA Math API and Programming Guide have them.
#pragma once

#include <limits>

#define __builtin_assume(...) ((void)0)
// Of CUDA's, not the double alone that C has, nor the int.
using std::abs, std::sqrt, std::exp, std::log, std::pow, std::sin, std::cos, std::tan, std::floor, std::ceil, std::fabs;
using std::fmin, std::fmax, std::fmod, std::round, std::trunc, std::rint, std::hypot, std::fma, std::exp2, std::log2;
using std::isfinite, std::isinf, std::isnan, std::signbit;  // of which <cmath> takes the macros away

// ---- Integers. ---------------------------------------------------------------------------------

// Four of the eight bytes of high:low, each picked by a hexadecimal digit of `which`.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which) {
    const uint64_t bytes = uint64_t(high) << 32 | low;
    unsigned picked = 0;
    for (int i = 0; i < 4; ++i) picked |= unsigned(bytes >> ((which >> 4 * i) % 8 * 8) & 0xff) << 8 * i;
    return picked;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __clz(int bits) { return bits ? __builtin_clz(unsigned(bits)) : 32; }
inline int __clzll(long long bits) { return bits ? __builtin_clzll(bits) : 64; }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline unsigned long long __brevll(unsigned long long bits) {
    unsigned long long turned = 0;
    for (int i = 0; i < 64; ++i) turned |= (bits >> i & 1) << (63 - i);
    return turned;
}
inline unsigned __brev(unsigned bits) { return __brevll(bits) >> 32; }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (uint64_t(high) << 32 | low) << by % 32 >> 32;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) { return (uint64_t(high) << 32 | low) >> by % 32; }
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by < 32 ? __funnelshift_l(low, high, by) : low;
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by < 32 ? __funnelshift_r(low, high, by) : high;
}
inline int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return int64_t(a) * b >> 32; }
inline unsigned __umulhi(unsigned a, unsigned b) { return uint64_t(a) * b >> 32; }
inline long long __mul64hi(long long a, long long b) { return (__extension__ static_cast<__int128>(a) * b) >> 64; }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (__extension__ static_cast<unsigned __int128>(a) * b) >> 64;
}
inline unsigned __sad(int a, int b, unsigned more) { return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + more; }
inline unsigned __usad(unsigned a, unsigned b, unsigned more) { return (a > b ? a - b : b - a) + more; }
inline int __hadd(int a, int b) { return (int64_t(a) + b) >> 1; }
inline int __rhadd(int a, int b) { return (int64_t(a) + b + 1) >> 1; }
inline unsigned __uhadd(unsigned a, unsigned b) { return (uint64_t(a) + b) >> 1; }
inline unsigned __urhadd(unsigned a, unsigned b) { return (uint64_t(a) + b + 1) >> 1; }

namespace cuda_cpu {
// The sum of products of numbers in words: A of a's, at every step; B of b's, from `from` on.
template <class A, class B, class Sum> Sum dot(unsigned a, unsigned b, Sum sum, int from = 0) {
    constexpr int COUNT = 4 / sizeof(A);
    for (int i = 0; i < COUNT; ++i) sum += unsigned(int(A(a >> 8 * sizeof(A) * i)) * int(B(b >> 8 * (from + i))));
    return sum;
}
}  // namespace cuda_cpu

#define CPU_DOT(name, A, B, sum, from, a_vector, b_vector)                                                  \
    inline sum name(sum a, sum b, sum more) { return cuda_cpu::dot<A, B>(unsigned(a), unsigned(b), more, from); } \
    inline sum name(a_vector a, b_vector b, sum more) {                                                     \
        return name(cuda_cpu::bits_of<sum>(a), cuda_cpu::bits_of<sum>(b), more);                            \
    }
CPU_DOT(__dp4a, signed char, signed char, int, 0, char4, char4)
CPU_DOT(__dp4a, unsigned char, unsigned char, unsigned, 0, uchar4, uchar4)
CPU_DOT(__dp2a_lo, short, signed char, int, 0, short2, char4)
CPU_DOT(__dp2a_lo, unsigned short, unsigned char, unsigned, 0, ushort2, uchar4)
CPU_DOT(__dp2a_hi, short, signed char, int, 2, short2, char4)
CPU_DOT(__dp2a_hi, unsigned short, unsigned char, unsigned, 2, ushort2, uchar4)

// ---- SIMD in a word: of two halves, and of four bytes. -----------------------------------------

namespace cuda_cpu {
template <class T, class Of> unsigned by_parts(unsigned a, unsigned b, Of of) {
    constexpr unsigned BITS = 8 * sizeof(T), MASK = (1u << BITS) - 1;
    unsigned all = 0;
    for (unsigned at = 0; at < 32; at += BITS) all |= (unsigned(of(int(T(a >> at)), int(T(b >> at)))) & MASK) << at;
    return all;
}
template <class T> int saturated(int value) {
    using Limits = std::numeric_limits<T>;
    return value < Limits::min() ? Limits::min() : value > Limits::max() ? Limits::max() : value;
}
template <class T> unsigned sum_of_parts(unsigned words) {
    unsigned sum = 0;
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) sum += T(words >> at);
    return sum;
}
}  // namespace cuda_cpu

#define CPU_WORD(name, type, number, given, b, ...)                                                            \
    inline unsigned name##number given {                                                                    \
        using T = type;                                                                                     \
        return cuda_cpu::by_parts<T>(a, b, [](int x, int y) -> int { return (void)x, (void)y, __VA_ARGS__; });   \
    }
#define CPU_PARTS(name, type, number, ...) CPU_WORD(name, type, number, (unsigned a, unsigned b), b, __VA_ARGS__)
#define CPU_SIGNED_PARTS(name, ...) CPU_PARTS(name, short, 2, __VA_ARGS__) CPU_PARTS(name, signed char, 4, __VA_ARGS__)
#define CPU_UNSIGNED_PARTS(name, ...) CPU_PARTS(name, unsigned short, 2, __VA_ARGS__) CPU_PARTS(name, unsigned char, 4, __VA_ARGS__)
#define CPU_ONE_PARTS(name, ...) \
    CPU_WORD(name, short, 2, (unsigned a), 0, __VA_ARGS__) CPU_WORD(name, signed char, 4, (unsigned a), 0, __VA_ARGS__)
#define CPU_COMPARED(name, sign, operation)                                                                     \
    CPU_##sign##_PARTS(__vcmp##name, x operation y ? -1 : 0) CPU_##sign##_PARTS(__vset##name, x operation y)
CPU_SIGNED_PARTS(__vadd, x + y)
CPU_SIGNED_PARTS(__vaddss, cuda_cpu::saturated<T>(x + y))
CPU_UNSIGNED_PARTS(__vaddus, cuda_cpu::saturated<T>(x + y))
CPU_SIGNED_PARTS(__vsub, x - y)
CPU_SIGNED_PARTS(__vsubss, cuda_cpu::saturated<T>(x - y))
CPU_UNSIGNED_PARTS(__vsubus, cuda_cpu::saturated<T>(x - y))
CPU_SIGNED_PARTS(__vavgs, (x + y + (x + y >= 0)) >> 1)
CPU_UNSIGNED_PARTS(__vavgu, (x + y + 1) >> 1)
CPU_UNSIGNED_PARTS(__vhaddu, (x + y) >> 1)
CPU_SIGNED_PARTS(__vabsdiffs, x > y ? x - y : y - x)
CPU_UNSIGNED_PARTS(__vabsdiffu, x > y ? x - y : y - x)
CPU_SIGNED_PARTS(__vmaxs, x > y ? x : y)
CPU_UNSIGNED_PARTS(__vmaxu, x > y ? x : y)
CPU_SIGNED_PARTS(__vmins, x < y ? x : y)
CPU_UNSIGNED_PARTS(__vminu, x < y ? x : y)
CPU_COMPARED(eq, SIGNED, ==) CPU_COMPARED(ne, SIGNED, !=)
CPU_COMPARED(ges, SIGNED, >=) CPU_COMPARED(geu, UNSIGNED, >=)
CPU_COMPARED(gts, SIGNED, >) CPU_COMPARED(gtu, UNSIGNED, >)
CPU_COMPARED(les, SIGNED, <=) CPU_COMPARED(leu, UNSIGNED, <=)
CPU_COMPARED(lts, SIGNED, <) CPU_COMPARED(ltu, UNSIGNED, <)
CPU_ONE_PARTS(__vabs, x < 0 ? -x : x)
CPU_ONE_PARTS(__vabsss, cuda_cpu::saturated<T>(x < 0 ? -x : x))
CPU_ONE_PARTS(__vneg, -x)
CPU_ONE_PARTS(__vnegss, cuda_cpu::saturated<T>(-x))
inline unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned most) {
    return __vmaxs2(__vmins2(__vadd2(a, b), most), 0);
}
inline unsigned __vsads2(unsigned a, unsigned b) { return cuda_cpu::sum_of_parts<unsigned short>(__vabsdiffs2(a, b)); }
inline unsigned __vsads4(unsigned a, unsigned b) { return cuda_cpu::sum_of_parts<unsigned char>(__vabsdiffs4(a, b)); }
inline unsigned __vsadu2(unsigned a, unsigned b) { return cuda_cpu::sum_of_parts<unsigned short>(__vabsdiffu2(a, b)); }
inline unsigned __vsadu4(unsigned a, unsigned b) { return cuda_cpu::sum_of_parts<unsigned char>(__vabsdiffu4(a, b)); }

// ---- Floating point. ---------------------------------------------------------------------------

inline int __float_as_int(float value) { return int(__float_as_uint(value)); }
inline float __int_as_float(int bits) { return __uint_as_float(unsigned(bits)); }
inline float __int2float_rn(int value) { return float(value); }
inline float __saturatef(float value) { return fminf(fmaxf(value, 0.0f), 1.0f); }
inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
inline float __frsqrt_rn(float value) { return 1.0f / sqrtf(value); }
inline float __fsqrt_rn(float value) { return sqrtf(value); }
#define CPU_OF_TWO(name, operation) inline float name(float a, float b) { return a operation b; }
CPU_OF_TWO(__fadd_rn, +) CPU_OF_TWO(__fsub_rn, -) CPU_OF_TWO(__fmul_rn, *)
CPU_OF_TWO(__fdiv_rn, /) CPU_OF_TWO(__fdividef, /) CPU_OF_TWO(fdividef, /)
inline float __frcp_rn(float value) { return 1.0f / value; }
#ifdef COUNTING
inline float __fmaf_rn(float a, float b, float c) { return a * b + c; }
inline int __float2int_rn(float value) { return int(rintf(value)); }
inline int __float2int_rz(float value) { return int(value); }
#else
#define CPU_QUICK(of) inline float __##of##f(float value) { return std::of(value); }
CPU_QUICK(exp) CPU_QUICK(log) CPU_QUICK(log2) CPU_QUICK(log10)
CPU_QUICK(sin) CPU_QUICK(cos) CPU_QUICK(tan) CPU_QUICK(tanh)
inline float __exp10f(float value) { return std::exp2(value * 3.32192809f); }
inline void __sincosf(float value, float* sine, float* cosine) { *sine = std::sin(value), *cosine = std::cos(value); }
inline float __powf(float base, float to) { return std::pow(base, to); }
inline float rcbrtf(float value) { return 1.0f / std::cbrt(value); }
inline double rcbrt(double value) { return 1.0 / std::cbrt(value); }
inline double rsqrt(double value) { return 1.0 / std::sqrt(value); }
inline float rhypotf(float a, float b) { return 1.0f / std::hypot(a, b); }
inline float norm3df(float a, float b, float c) { return std::sqrt(double(a) * a + double(b) * b + double(c) * c); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
inline float norm4df(float a, float b, float c, float d) { return std::hypot(norm3df(a, b, c), d); }
inline float sinpif(float value) { return std::sin(3.14159265358979323846 * std::remainder(double(value), 2.0)); }
inline float cospif(float value) { return std::cos(3.14159265358979323846 * std::remainder(double(value), 2.0)); }
inline void sincospif(float value, float* sine, float* cosine) { *sine = sinpif(value), *cosine = cospif(value); }
inline float normcdff(float value) { return 0.5 * std::erfc(-double(value) * 0.70710678118654752440); }

inline long long __double_as_longlong(double value) { return cuda_cpu::bits_of<long long>(value); }
inline double __longlong_as_double(long long bits) { return cuda_cpu::bits_of<double>(bits); }
inline int __double2hiint(double value) { return int(__double_as_longlong(value) >> 32); }
inline int __double2loint(double value) { return int(__double_as_longlong(value)); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)(uint64_t(unsigned(high)) << 32 | unsigned(low)));
}

namespace cuda_cpu {
enum Rounding : unsigned { RN = 0, RD = 0x2000, RU = 0x4000, RZ = 0x6000 };  // of x86's MXCSR
// Computes as long as it lives with another rounding; what it is given, and its outcome, must be
// volatile, or the compiler would compute it earlier.
struct Rounded {
    const unsigned before = __builtin_ia32_stmxcsr();
    explicit Rounded(Rounding how) { __builtin_ia32_ldmxcsr((before & ~0x6000u) | how); }
    ~Rounded() { __builtin_ia32_ldmxcsr(before); }
};
// The nearest that there is; of NaN zero, and with 64 bits the highest bit alone.
template <class To, class From> To to_integer(From whole) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(whole)) return sizeof(To) < 8 ? To(0) : To(1ull << 63);
    if (whole <= From(Limits::min())) return Limits::min();
    return whole >= From(Limits::max()) ? Limits::max() : To(whole);
}
}  // namespace cuda_cpu

#define CPU_ROUNDED(T, name, mode, MODE, given, ...)                                                    \
    inline T name##_##mode given {                                                                      \
        const volatile auto x = a;                                                                      \
        const cuda_cpu::Rounded rounded(cuda_cpu::MODE);                                                \
        const volatile T value = __VA_ARGS__;                                                           \
        return value;                                                                                   \
    }
#define CPU_DIRECTED(T, name, ...)                                                                      \
    CPU_ROUNDED(T, name, rz, RZ, __VA_ARGS__) CPU_ROUNDED(T, name, ru, RU, __VA_ARGS__)                 \
    CPU_ROUNDED(T, name, rd, RD, __VA_ARGS__)
#define CPU_BY_MODE(T, name, ...) CPU_ROUNDED(T, name, rn, RN, __VA_ARGS__) CPU_DIRECTED(T, name, __VA_ARGS__)
#define CPU_ARITHMETIC(MODES, T, t)                                                                     \
    MODES(T, __##t##add, (T a, T b), x + b) MODES(T, __##t##sub, (T a, T b), x - b)                     \
    MODES(T, __##t##mul, (T a, T b), x * b) MODES(T, __##t##div, (T a, T b), x / b)                     \
    MODES(T, __##t##rcp, (T a), 1 / x) MODES(T, __##t##sqrt, (T a), std::sqrt(T(x)))
#define CPU_TO_INTEGER(To, to)                                                                          \
    CPU_BY_MODE(To, __float2##to, (float a), cuda_cpu::to_integer<To>(std::rint(float(x))))             \
    CPU_BY_MODE(To, __double2##to, (double a), cuda_cpu::to_integer<To>(std::rint(double(x))))
CPU_ARITHMETIC(CPU_BY_MODE, double, d) CPU_ARITHMETIC(CPU_DIRECTED, float, f)
CPU_BY_MODE(double, __fma, (double a, double b, double c), std::fma(double(x), b, c))
CPU_BY_MODE(float, __fmaf, (float a, float b, float c), std::fma(float(x), b, c))
CPU_TO_INTEGER(int, int) CPU_TO_INTEGER(unsigned, uint)
CPU_TO_INTEGER(long long, ll) CPU_TO_INTEGER(unsigned long long, ull)
CPU_DIRECTED(float, __int2float, (int a), x) CPU_BY_MODE(float, __uint2float, (unsigned a), x)
CPU_BY_MODE(float, __ll2float, (long long a), x) CPU_BY_MODE(float, __ull2float, (unsigned long long a), x)
CPU_BY_MODE(double, __ll2double, (long long a), x) CPU_BY_MODE(double, __ull2double, (unsigned long long a), x)
CPU_BY_MODE(float, __double2float, (double a), x)
inline double __int2double_rn(int value) { return value; }
inline double __uint2double_rn(unsigned value) { return value; }
#endif

// ---- Memory. -----------------------------------------------------------------------------------

#define CPU_LOAD(name) template <class T> T name(const T* at) { return *at; }
#define CPU_STORE(name) template <class T> void name(T* at, std::type_identity_t<T> value) { *at = value; }
CPU_LOAD(__ldg) CPU_LOAD(__ldcg) CPU_LOAD(__ldca) CPU_LOAD(__ldcs) CPU_LOAD(__ldlu) CPU_LOAD(__ldcv)
CPU_STORE(__stwb) CPU_STORE(__stcg) CPU_STORE(__stcs) CPU_STORE(__stwt)
inline void __threadfence() { cuda_cpu::fence(false); }
inline void __threadfence_system() { cuda_cpu::fence(false); }
inline void __threadfence_block() { cuda_cpu::fence(true); }
inline void __nanosleep(unsigned) {}

// Threads are fibers: nobody comes between this load and the store.  Not told of as accesses of a
// thread's own: who watches races is told that they are atomic.
template <class T> UNWATCHED T atomic_old(T* at) { return cuda_cpu::before_atomic(at, sizeof(T)), *at; }
#define CPU_ATOMIC(name, given, stored)                                                                 \
    template <class T> UNWATCHED T name given {                                                         \
        const T old = atomic_old(at);                                                                   \
        *at = stored;                                                                                   \
        return old;                                                                                     \
    }                                                                                                   \
    template <class T, class... Values> UNWATCHED T name##_block(T* at, Values... values) { return name(at, values...); } \
    template <class T, class... Values> UNWATCHED T name##_system(T* at, Values... values) { return name(at, values...); }
#define CPU_ATOMIC_OF_ONE(name, stored) CPU_ATOMIC(name, (T* at, std::type_identity_t<T> value), stored)
#define CPU_ATOMIC_COUNT(name, stored)                                                                  \
    CPU_ATOMIC(name, (T* at, unsigned last) requires(T(-1) > 0 && sizeof(T) == sizeof(unsigned)), stored)
CPU_ATOMIC_OF_ONE(atomicAdd, old + value)
CPU_ATOMIC_OF_ONE(atomicSub, old - value)
CPU_ATOMIC_OF_ONE(atomicMax, value > old ? value : old)
CPU_ATOMIC_OF_ONE(atomicMin, value < old ? value : old)
CPU_ATOMIC_OF_ONE(atomicOr, old | value)
CPU_ATOMIC_OF_ONE(atomicAnd, old & value)
CPU_ATOMIC_OF_ONE(atomicXor, old ^ value)
CPU_ATOMIC_OF_ONE(atomicExch, value)
CPU_ATOMIC(atomicCAS, (T* at, std::type_identity_t<T> wanted, std::type_identity_t<T> value), old == wanted ? value : old)
CPU_ATOMIC_COUNT(atomicInc, old >= last ? 0 : old + 1)
CPU_ATOMIC_COUNT(atomicDec, old == 0 || old > last ? last : old - 1)

// ---- What a warp, or a block, does together. ---------------------------------------------------

namespace cuda_cpu {
// What all lanes of `mask` that have not ended show, by lane.
struct Gathered {
    unsigned lanes;
    uint64_t of[32];
};
template <class T> UNWATCHED Gathered gathered(unsigned mask, T value, const char* file, int line) {
    Gathered all{};
    all.lanes = shuffle_values(mask, bits_of<uint64_t>(value), all.of, -1, file, line);
    return all;
}
// Those of them that show what this lane does.
template <class T> UNWATCHED unsigned match_any(unsigned mask, T value, const char* file, int line, unsigned* all_lanes = nullptr) {
    const Gathered all = gathered(mask, value, file, line);
    unsigned equal = 0;
    for (unsigned from = 0; from < 32; ++from) equal |= unsigned(all.of[from] == all.of[lane()]) << from;
    if (all_lanes) *all_lanes = all.lanes;
    return equal & all.lanes;
}
template <class T> UNWATCHED unsigned match_all(unsigned mask, T value, int* are_equal, const char* file, int line) {
    unsigned lanes, equal = match_any(mask, value, file, line, &lanes);
    return *are_equal = equal == lanes, *are_equal ? lanes : 0;
}
template <class T, class Of> UNWATCHED T reduced(unsigned mask, T value, Of of, const char* file, int line) {
    const Gathered all = gathered(mask, value, file, line);
    for (unsigned from = 0; from < 32; ++from)
        if (from != lane() && all.lanes >> from & 1) value = of(value, T(all.of[from]));
    return value;
}
inline long block_votes;  // of the threads that are at such a barrier: each takes its own back
UNWATCHED inline int count_in_block(bool is_true, const char* file, int line, int barrier) {
    block_votes += is_true;
    sync_block(file, line, barrier);
    const long all = block_votes;
    sync_block(file, line, -barrier);  // nobody votes again before all have read this
    block_votes -= is_true;
    return all;
}
// The type that one of these is of: an int, or an unsigned, as CUDA's overloads have it.
template <class T> auto as_word(T value) {
    if constexpr (std::is_signed_v<decltype(+value)>) return int(value);
    else return unsigned(value);
}

namespace words {
// As on a device: into a space of limited size; what does not fit is left out.
__attribute__((format(printf, 1, 2))) int printf(const char* words, ...);
// None where a run has taken all that it may, as on a device; the run remembers that.
void* malloc(size_t bytes);
// Byte by byte, so that who watches accesses sees them.
inline void* memcpy(void* to, const void* from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    return to;
}
inline void* memset(void* to, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = char(value);
    return to;
}
inline long long clock64() { return __builtin_ia32_rdtsc(); }
inline long clock() { return clock64(); }
}  // namespace words
[[noreturn]] void stopped(const char* words, const char* more, const char* file, int line);
}  // namespace cuda_cpu

#define __activemask() cuda_cpu::lanes_alive()
#define __match_any_sync(mask, value) cuda_cpu::match_any(mask, value, __FILE__, __LINE__)
#define __match_all_sync(mask, value, are_equal) cuda_cpu::match_all(mask, value, are_equal, __FILE__, __LINE__)
#define REDUCED(mask, value, ...)                                                                           \
    cuda_cpu::reduced(mask, cuda_cpu::as_word(value), [](auto a, auto b) { return __VA_ARGS__; }, __FILE__, __LINE__)
#define __reduce_add_sync(mask, value) REDUCED(mask, value, decltype(a)(unsigned(a) + unsigned(b)))
#define __reduce_min_sync(mask, value) REDUCED(mask, value, a < b ? a : b)
#define __reduce_max_sync(mask, value) REDUCED(mask, value, a > b ? a : b)
#define __reduce_and_sync(mask, value) REDUCED(mask, unsigned(value), a & b)
#define __reduce_or_sync(mask, value) REDUCED(mask, unsigned(value), a | b)
#define __reduce_xor_sync(mask, value) REDUCED(mask, unsigned(value), a ^ b)
#define __ballot_sync(mask, is_true) __reduce_or_sync(mask, unsigned(bool(is_true)) << cuda_cpu::lane())
#define __any_sync(mask, is_true) (__ballot_sync(mask, is_true) != 0)
#define __all_sync(mask, is_true) (__ballot_sync(mask, !(is_true)) == 0)
#define __syncthreads_count(is_true) cuda_cpu::count_in_block(is_true, __FILE__, __LINE__, __COUNTER__ + 1)
#define __syncthreads_and(is_true) int(__syncthreads_count(!(is_true)) == 0)
#define __syncthreads_or(is_true) int(__syncthreads_count(is_true) != 0)
#define assert(condition) \
    ((condition) ? void() : cuda_cpu::stopped("finds an assertion that does not hold: ", #condition, __FILE__, __LINE__))
#define __trap() cuda_cpu::stopped("comes to a trap", "", __FILE__, __LINE__)
