/*---
title   = "FFT"
idea    = "cuFFT turns tiles into spectra, where a filter of any size is one product per frequency."
after   = "constant"
weights = "spectrum"
finite_only = true
strips_differ = true
requires = [["(CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS <= 65535", "A picture of {WIDTH}×{HEIGHT} pixels has more tiles than one launch can have blocks; choose another implementation, such as shared."]]
headroom = "2 * FFT_LINE**2 * max(1, GAIN)"  # a frequency may have all of a tile, and of two at that
own_block   = "cuFFT chooses its own blocks; the passes around it have theirs."
# One rounding at each level of butterflies, there and back.  Higham (2002, section 24.1) bounds a
# transform's error by about 7 u a level of its input's norm; if all of that met in one sample, it
# would grow with FFT_LINE.  But roundings behave as if they were independent, and so spread over all
# samples: what is claimed is 1 u a level of sum|w| max|p|, and a quarter of it was the most seen, of
# noise, ramps, constant and chequered pictures.
chain_length = "2 * FFT_LEVELS"

[buffers]
tiles = "8 * FFT_LINE**2 * (CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS"

[[passes]]
function = "gather"
writes   = "tiles"
block    = ["64", "1"]
covers   = ["2 * (FFT_LINE - 2 * RADIUS) * CHANNELS", "1"]  # of two tiles
halo     = ["HALO_X", "0"]
grid     = ["FFT_LINE", "(CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS"]
layout   = "rows_of_tiles"

[[passes]]
library = "fft2"
reads   = "tiles"
writes  = "tiles"
shape   = ["(CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS", "FFT_LINE", "FFT_LINE"]

[[passes]]
function = "multiply"
reads    = "tiles"
writes   = "tiles"
block    = ["64", "1"]
covers   = ["2 * (FFT_LINE - 2 * RADIUS) * CHANNELS", "FFT_LINE - 2 * RADIUS"]
grid     = ["FFT_LINE", "(CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS"]
layout   = "frequencies_of_tiles"

[[passes]]
library = "ifft2"
reads   = "tiles"
writes  = "tiles"
shape   = ["(CHANNELS - HAS_ALPHA) * FFT_TILES * FFT_PAIRS", "FFT_LINE", "FFT_LINE"]

[[passes]]
function   = "crop"
reads      = "tiles"
also_reads = ["picture"]
block      = ["64", "4"]
covers     = ["64", "4"]
halo       = ["0", "0"]
---*/

// The picture's colours are planes of tiles, FFT_LINE x FFT_LINE, that overlap: where a tile has
// wrapped around, 2 * RADIUS rows and columns, the next has the right answer.  Two neighbours along
// a row are the real and the imaginary part of one tile of complex numbers.  Weights are real, so
// filtering does not mix the parts, and no transform is spent on a half that mirrors the other.

constexpr int COLOURS = CHANNELS - HAS_ALPHA;
constexpr int VALID = FFT_LINE - 2 * RADIUS;
constexpr float SCALE = 1.0f / FFT_LINE / FFT_LINE;  // cuFFT leaves this to the caller

__device__ __forceinline__ int divide_up(int a, int b) { return (a + b - 1) / b; }

// tiles: (COLOURS, tiles down, pairs across, FFT_LINE, FFT_LINE); one row of one tile.
template <typename T>
__device__ __forceinline__ T* row_of_tile(T* tiles, int tile, int row) {
    return tiles + (static_cast<long long>(tile) * FFT_LINE + row) * FFT_LINE;
}

extern "C" __global__ void gather(
    const sample* __restrict__ src, float2* __restrict__ tiles,
    const float2* __restrict__ spectrum,  // (FFT_LINE, FFT_LINE)
    int height, int width, int pitch, int first_row, int end_row)
{
    const int pairs = divide_up(width, 2 * VALID), down = divide_up(height, VALID);
    const int pair = blockIdx.y % pairs, tile = blockIdx.y / pairs % down, colour = blockIdx.y / pairs / down;
    const int y = tile * VALID + static_cast<int>(blockIdx.x) - RADIUS;
    const int left = pair * 2 * VALID - RADIUS;
    float2* row = row_of_tile(tiles, blockIdx.y, blockIdx.x);
    for (int n = threadIdx.x; n < FFT_LINE; n += blockDim.x) {
        const int x = (left + n) * CHANNELS + colour;
        row[n] = make_float2(read_sample(src, x, y, height, width, pitch),
                             read_sample(src, x + VALID * CHANNELS, y, height, width, pitch));
    }
}

extern "C" __global__ void multiply(
    const float2* src, float2* tiles,  // the same array
    const float2* __restrict__ spectrum,
    int height, int width, int pitch, int first_row, int end_row)
{
    float2* row = row_of_tile(tiles, blockIdx.y, blockIdx.x);
    for (int n = threadIdx.x; n < FFT_LINE; n += blockDim.x) {
        const float2 a = row[n], w = spectrum[blockIdx.x * FFT_LINE + n];
        row[n] = make_float2(SCALE * (a.x * w.x - a.y * w.y), SCALE * (a.x * w.y + a.y * w.x));
    }
}

extern "C" __global__ void crop(
    const float2* __restrict__ tiles, const sample* __restrict__ src, sample* __restrict__ dst,
    const float2* __restrict__ spectrum,
    int height, int width, int pitch, int first_row, int end_row)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width * CHANNELS || y >= end_row) return;
    if (is_alpha(x)) {
        row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
        return;
    }
    const int pairs = divide_up(width, 2 * VALID), down = divide_up(height, VALID);
    const int pixel = x / CHANNELS, colour = x % CHANNELS;
    const int tile = (colour * down + y / VALID) * pairs + pixel / (2 * VALID);
    const int n = pixel % (2 * VALID);
    const float2* row = row_of_tile(tiles, tile, y % VALID);
    row_of(dst, y, pitch)[x] = to_sample(with_offset(n < VALID ? row[n].x : row[n - VALID].y));
}
