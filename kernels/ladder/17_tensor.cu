/*---
title   = "Tensor cores"
idea    = "The weights as banded matrices: a matrix product of half-precision samples and weights gives 8 filtered samples per row at once."
after   = "shared"
weights = "bands"
includes = ["tensor", "bands"]
finite_only = true
capability = [7, 5]
own_block = "On tensor cores a warp works on 16 rows and 128 columns at once, and a block is of four or eight warps."
# 2^-9 in all, whatever KSIZE is: samples and weights are rounded to halves, 2^-11 each.
chain_length = "8"
error_factor = 4096.0
reduced_precision = true

[[passes]]
block  = ["32", "4 if KSIZE <= 31 else 8"]
covers = ["128 * CHANNELS", "64 if KSIZE <= 31 else 128"]
shared_bytes = "2 * (((64 if KSIZE <= 31 else 128) + KSIZE - 1) * 8 * (15 + BAND_BLOCKS | 1) + 8) + 32"
# Each plane's tile, once; of float32 one more sample a thread, to guess the scale by.
loads.picture = """BLOCKS * PLANES * ((COVERS_Y + KSIZE - 1) * (15 + BAND_BLOCKS) * 8 * CHANNELS
    + (2 * COVERS_Y if SAMPLE == 'float32' else 0)) + ALPHA"""
loads.weights = "2 * BLOCKS * PLANES * 2 * COVERS_Y * KSIZE * (BAND_BLOCKS - 1)"
stores = { picture = "(up(WIDTH, 2) if CHANNELS == 1 else WIDTH * CHANNELS) * HEIGHT" }
# Products of 16×8×8, on the tensor cores: those with the zeros of the bands as well.
flops = "2 * 1024 * BLOCKS * PLANES * COVERS_Y // 16 * 16 * BAND_BLOCKS * KSIZE"
---*/

__constant__ float UNDO[1];

constexpr int WARPS = KSIZE <= 31 ? 4 : 8;  // small blocks stage while others multiply
constexpr int TILES = 16;
constexpr bool SPLIT = false;

extern "C" __global__ void __launch_bounds__(32 * WARPS, KSIZE <= 31 ? 4 : 1) convolve(
    const sample* __restrict__ src,   // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,         // the same
    const uint2* __restrict__ weights,  // (2, KSIZE, WORDS), high halves and low ones: see band_words
    int height, int width, int pitch,
    int first_row, int end_row)       // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(unsigned short, tile);
    convolve_by_bands<Shape<WARPS, TILES, SPLIT>>(
        tile, src, dst, weights, UNDO[0], height, width, pitch, first_row, end_row);
}
