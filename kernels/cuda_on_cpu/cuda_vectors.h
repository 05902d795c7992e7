// CUDA's vectors of one to four numbers, aligned as there.
#pragma once

#define CPU_VECTORS(word, of)                                                                        \
    struct word##1 { of x; };                                                                    \
    struct alignas(2 * sizeof(of)) word##2 {                                                     \
        of x, y;                                                                                 \
        BY_WORDS(word##2, x = from.x, y = from.y)                                                \
    };                                                                                           \
    struct word##3 {                                                                             \
        of x, y, z;                                                                              \
        BY_WORDS(word##3, x = from.x, y = from.y, z = from.z)                                    \
    };                                                                                           \
    struct alignas(4 * sizeof(of) > 16 ? 16 : 4 * sizeof(of)) word##4 {                          \
        of x, y, z, w;                                                                           \
        BY_WORDS(word##4, x = from.x, y = from.y, z = from.z, w = from.w)                        \
    };                                                                                           \
    inline word##1 make_##word##1(of x) { return {x}; }                                          \
    inline word##2 make_##word##2(of x, of y) { return {x, y}; }                                 \
    inline word##3 make_##word##3(of x, of y, of z) { return {x, y, z}; }                        \
    inline word##4 make_##word##4(of x, of y, of z, of w) { return {x, y, z, w}; }
CPU_VECTORS(char, signed char)
CPU_VECTORS(uchar, unsigned char)
CPU_VECTORS(short, short)
CPU_VECTORS(ushort, unsigned short)
CPU_VECTORS(int, int)
CPU_VECTORS(float, float)
CPU_VECTORS(long, long)
CPU_VECTORS(ulong, unsigned long)
CPU_VECTORS(longlong, long long)
CPU_VECTORS(ulonglong, unsigned long long)
CPU_VECTORS(double, double)

struct uint1 { unsigned x; };
inline uint1 make_uint1(unsigned x) { return {x}; }
struct alignas(8) uint2 {
    unsigned x, y;
    BY_WORDS(uint2, x = from.x, y = from.y)
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct alignas(16) uint4 {
    unsigned x, y, z, w;
    BY_WORDS(uint4, x = from.x, y = from.y, z = from.z, w = from.w)
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
