// A filter as products of matrices on the tensor cores, one for each row of weights: 16 rows of
// samples times the band of that row of weights, summed up.
//
// SPLIT: samples and weights as a high and a low half each, and their products but for low times low,
// which does not matter any more.
template <int WARPS_, int TILES_, bool SPLIT_>
struct Shape {
    static constexpr int WARPS = WARPS_;
    static constexpr bool SPLIT = SPLIT_;
    static constexpr int TILES = TILES_;                      // of 16 x 8 sums, side by side: a warp's
    static constexpr int ROWS = 16 * WARPS;                   // that a block of threads writes,
    static constexpr int COLUMNS = 8 * TILES;                 // in pixels
    static constexpr int BLOCKS = KSIZE > 1 ? (PAD + KSIZE + 14) / 8 : 2;  // of 8 x 8, one below another: a band
    static constexpr int DOWN = ROWS + KSIZE - 1;             // rows staged
    static constexpr int ACROSS = TILES + BLOCKS - 1;         // and blocks of 8 columns
    static constexpr int STRIDE = 8 * (ACROSS | 1);           // halves from row to row: see read_blocks
    static constexpr int PARTS = SPLIT && !FITS_HALF ? 2 : 1; // halves a sample,
    static constexpr bool AHEAD = !SPLIT;
    static constexpr int PLANE = DOWN * STRIDE + 8;           // in planes; blocks are read in pairs
};

// One plane of the block's samples and their halo as halves, the low ones behind the high ones.
// Returns the size of the largest that this thread staged.  INSIDE: no border is near.
template <typename S, bool INSIDE>
__device__ __forceinline__ float stage(
    unsigned short* tile, float scale, int plane,
    const sample* src, int x0, int y0, int height, int width, int pitch)
{
    constexpr int THREADS = WARP * S::WARPS;
    constexpr int BATCH = INSIDE && CHANNELS == 1 ? 2 : 1;  // rows of blocks, eight pixels, at a time
    float peak = 0.0f;
    #pragma unroll 1
    for (int first = threadIdx.y * WARP + threadIdx.x; first < S::DOWN * S::ACROSS; first += BATCH * THREADS) {
        Pixels pixels[BATCH][2];
        #pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int at = first + i * THREADS;
            const int x = x0 - REACH + at % S::ACROSS * 8, y = y0 - RADIUS + at / S::ACROSS;
            if (at >= S::DOWN * S::ACROSS) break;
            pixels[i][0] = read_pixels<INSIDE>(src, x, y, height, width, pitch);
            pixels[i][1] = read_pixels<INSIDE>(src, x + 4, y, height, width, pitch);
        }
        #pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int at = first + i * THREADS;
            unsigned short* to = tile + at / S::ACROSS * S::STRIDE + at % S::ACROSS * 8;
            if (at >= S::DOWN * S::ACROSS) break;
            #pragma unroll
            for (int k = 0; k < 8; ++k) {
                if (k % 4 == 0) write_halves<S::PARTS>(to + k, S::PLANE, pixels[i][k / 4], plane, scale);
                if constexpr (IS_SCALED) peak = fmaxf(peak, fabsf(pixels[i][k / 4].value(k % 4, plane)));
            }
        }
    }
    return peak;
}

// The same for all threads, with a power of two that makes every sample fit a half: the answer.  A
// few samples tell it well enough almost always; where one turns out too large, all are staged again.
template <typename S>
__device__ __forceinline__ int stage_scaled(
    unsigned short* tile, float* peaks, int plane, float undo,
    const sample* src, int x0, int y0, int height, int width, int pitch)
{
    const bool inside = 0 <= x0 - REACH && x0 - REACH + 8 * S::ACROSS <= width &&
                        0 <= y0 - RADIUS && y0 - RADIUS + S::DOWN <= height;
    int exponent = FIXED_EXPONENT;
    if constexpr (IS_SCALED) {
        const int x = x0 + threadIdx.x * S::COLUMNS / WARP, y = y0 + threadIdx.x * S::ROWS / WARP;
        const int at = (x < width ? x : width - 1) * CHANNELS + plane;
        const float some = row_of(src, y < height ? y : height - 1, pitch)[at];
        exponent = exponent_for(largest_of_warp(fabsf(some)), 8, undo);
    }
    while (true) {
        const float scale = power_of_two(exponent);
        float peak = inside ? stage<S, true>(tile, scale, plane, src, x0, y0, height, width, pitch)
                            : stage<S, false>(tile, scale, plane, src, x0, y0, height, width, pitch);
        if constexpr (IS_SCALED) {
            peak = largest_of_warp(peak);
            if (threadIdx.x == 0) peaks[threadIdx.y] = peak;
        }
        __syncthreads();
        if constexpr (!IS_SCALED) return exponent;
        #pragma unroll
        for (int warp = 0; warp < S::WARPS; ++warp) peak = fmaxf(peak, peaks[warp]);
        const int largest = exponent_for(peak, 15, undo);
        if (exponent <= largest) return exponent;
        exponent = largest;
        __syncthreads();  // all have read the peaks
    }
}

// What a lane holds of one row of weights: blocks d and d + 1 of its band, one below the other.
template <typename S>
struct Band {
    uint2 high[S::BLOCKS - 1], low[S::BLOCKS - 1];
    __device__ __forceinline__ void load(const uint2* __restrict__ weights) {
        #pragma unroll
        for (int d = 0; d < S::BLOCKS - 1; ++d) {
            high[d] = weights[8 * d];
            if constexpr (S::SPLIT) low[d] = weights[KSIZE * WORDS + 8 * d];
        }
    }
};

// sum += 16 rows of samples times blocks d and d + 1 of a band, which may end between the two.
template <typename S>
__device__ __forceinline__ void multiply_pair(
    float (&sum)[4], const unsigned (&left)[4], const uint2 (&band)[S::BLOCKS - 1], int d)
{
    if (0 <= d && d + 1 < S::BLOCKS) multiply_add(sum, left, band[d]);
    else if (d == -1) multiply_add(sum, left[2], left[3], band[0].x);
    else if (d == S::BLOCKS - 1) multiply_add(sum, left[0], left[1], band[d - 1].y);
}

// All products of a warp.  tile: from the warp's first row.
template <typename S>
__device__ __forceinline__ void multiply(
    float (&sums)[S::TILES][4], const unsigned short* tile, const uint2* __restrict__ weights)
{
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    weights += FIRST_WORD + 2 * t - g;
    Band<S> next;
    if constexpr (S::AHEAD) next.load(weights);
    #pragma unroll 1
    for (int j = 0; j < KSIZE; ++j) {
        Band<S> band;
        if constexpr (S::AHEAD) {
            band = next;
            if (j + 1 < KSIZE) next.load(weights + (j + 1) * WORDS);
        } else band.load(weights + j * WORDS);
        #pragma unroll
        for (int p = 0; p < (S::ACROSS + 1) / 2; ++p) {  // 16 columns of samples, and all they matter to
            unsigned high[4], low[4];
            read_blocks<true>(high, tile + j * S::STRIDE + 16 * p, S::STRIDE);
            if constexpr (S::PARTS == 2)
                read_blocks<true>(low, tile + S::PLANE + j * S::STRIDE + 16 * p, S::STRIDE);
            #pragma unroll
            for (int n = 0; n < S::TILES; ++n) multiply_pair<S>(sums[n], high, band.high, 2 * p - n);
            if constexpr (S::SPLIT)
                #pragma unroll
                for (int n = 0; n < S::TILES; ++n) multiply_pair<S>(sums[n], high, band.low, 2 * p - n);
            if constexpr (S::PARTS == 2)
                #pragma unroll
                for (int n = 0; n < S::TILES; ++n) multiply_pair<S>(sums[n], low, band.high, 2 * p - n);
        }
    }
}

// Stage, multiply, write: plane by plane.
template <typename S>
__device__ __forceinline__ void convolve_by_bands(
    unsigned short* tile, const sample* src, sample* dst, const uint2* weights, float undo,
    int height, int width, int pitch, int first_row, int end_row)
{
    const int x0 = blockIdx.x * S::COLUMNS, y0 = first_row + blockIdx.y * S::ROWS;
    float* peaks = reinterpret_cast<float*>(tile + S::PARTS * S::PLANE);
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    #pragma unroll 1
    for (int plane = 0; plane < PLANES; ++plane) {
        const int exponent = stage_scaled<S>(tile, peaks, plane, undo, src, x0, y0, height, width, pitch);
        const float unscale = undo * power_of_two(-exponent);
        float sums[S::TILES][4] = {};
        multiply<S>(sums, tile + 16 * threadIdx.y * S::STRIDE, weights);
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int y = y0 + 16 * threadIdx.y + 8 * i + g;
            #pragma unroll
            for (int n = 0; n < S::TILES; ++n) {
                const int x = x0 + 8 * n + 2 * t;
                if (y >= end_row || x >= width) continue;
                const float first = with_offset(sums[n][2 * i] * unscale);
                const float second = with_offset(sums[n][2 * i + 1] * unscale);
                write_two(row_of(dst, y, pitch), x, plane, first, second, width);
            }
        }
        __syncthreads();  // before the next plane is staged
    }
    if constexpr (HAS_ALPHA) copy_alpha(src, dst, x0, y0, S::COLUMNS, S::ROWS, WARP * S::WARPS, width, pitch, end_row);
}
