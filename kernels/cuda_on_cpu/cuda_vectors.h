// CUDA's vectors of two to four numbers, aligned as there.
#pragma once

#define VECTORS(word, of, bytes)                                                                 \
    struct alignas(2 * bytes) word##2 { of x, y; };                                              \
    struct word##3 { of x, y, z; };                                                              \
    struct alignas(4 * bytes > 16 ? 16 : 4 * bytes) word##4 { of x, y, z, w; };                  \
    inline word##2 make_##word##2(of x, of y) { return {x, y}; }                                 \
    inline word##3 make_##word##3(of x, of y, of z) { return {x, y, z}; }                        \
    inline word##4 make_##word##4(of x, of y, of z, of w) { return {x, y, z, w}; }
VECTORS(char, signed char, 1)
VECTORS(uchar, unsigned char, 1)
VECTORS(short, short, 2)
VECTORS(ushort, unsigned short, 2)
VECTORS(int, int, 4)
VECTORS(float, float, 4)
#undef VECTORS

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
