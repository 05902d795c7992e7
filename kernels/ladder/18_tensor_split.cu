/*---
title   = "Tensor cores, split"
idea    = "Samples and weights as the sum of two half-precision numbers each, for almost all of float32's precision: three products instead of one."
after   = "tensor"
weights = "bands"
includes = ["tensor", "bands"]
finite_only = true
strips_differ = true  # the scale of float32 is a tile's
capability = [7, 5]
own_block = "On tensor cores a warp works on 16 rows and 96 columns at once, and a block is of four or eight warps."
chain_length = "KSIZE * KSIZE + 12"  # 12: what two halves lose of samples, weights and their product
error_factor = 2.0                    # tensor cores cut sums off, they do not round them

[[passes]]
block  = ["32", "8 if KSIZE <= 63 else 4"]
covers = ["96 * CHANNELS", "128 if KSIZE <= 63 else 64"]
shared_bytes = "2 * HALVES * (((128 if KSIZE <= 63 else 64) + KSIZE - 1) * 8 * (11 + BAND_BLOCKS | 1) + 8) + 32"
# Each plane's tile, once; of float32 one more sample a thread, to guess the scale by.
loads.picture = """BLOCKS * PLANES * ((COVERS_Y + KSIZE - 1) * (11 + BAND_BLOCKS) * 8 * CHANNELS
    + (2 * COVERS_Y if SAMPLE == 'float32' else 0)) + ALPHA"""
loads.weights = "4 * BLOCKS * PLANES * 2 * COVERS_Y * KSIZE * (BAND_BLOCKS - 1)"
stores = { picture = "(up(WIDTH, 2) if CHANNELS == 1 else WIDTH * CHANNELS) * HEIGHT" }
# Products of 16×8×8, on the tensor cores: those with the zeros of the bands as well.
flops = "2 * 1024 * BLOCKS * PLANES * COVERS_Y // 16 * 12 * BAND_BLOCKS * KSIZE * (1 + HALVES)"
---*/

__constant__ float UNDO[1];

// Larger weights need a taller tile of samples.
constexpr int WARPS = KSIZE <= 63 ? 8 : 4;
constexpr int TILES = 12;
constexpr bool SPLIT = true;

extern "C" __global__ void __launch_bounds__(32 * WARPS, CHANNELS == 1 && KSIZE <= 31 ? 2 : 1) convolve(
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
