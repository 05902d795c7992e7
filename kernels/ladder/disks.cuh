// The minimum of a disk for each thread of a block, from two reads for each of the disk's rows.  Needs extremes.cuh.

constexpr int THREADS = BLOCK_X * BLOCK_Y;
constexpr int TILE_W = BLOCK_X + 2 * HALO_X;  // samples
constexpr int TILE_H = BLOCK_Y + 2 * HALO_Y;  // rows
constexpr int TILE = TILE_W * TILE_H;

// tiles: room for two of TILE floats.
template <bool MAX = IS_MAXIMUM, typename T>
__device__ __forceinline__ float disk_extreme(
    float* tiles, const T* __restrict__ src, int height, int width, int pitch, int first_row)
{
    float *windows = tiles, *next = tiles + TILE;

    // 1. Stage.  tile[0] is the sample HALO_X left of and HALO_Y above the block's first.
    const int x0 = blockIdx.x * BLOCK_X - HALO_X;
    const int y0 = first_row + blockIdx.y * BLOCK_Y - HALO_Y;
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    #pragma unroll 4
    for (int at = thread; at < TILE; at += THREADS)
        windows[at] = read_or_outside<MAX>(src, x0 + at % TILE_W, y0 + at / TILE_W, height, width, pitch);
    __syncthreads();

    // 2. Of `span` samples from each place on.  Near the end of a row these are the next one's: nobody asks for them.
    const int centre = (threadIdx.y + HALO_Y) * TILE_W + threadIdx.x + HALO_X;
    float found = windows[centre];
    int j = RADIUS;  // rows above and below the centre
    #pragma unroll 1
    for (int span = 1; ; span *= 2) {
        for (; j >= 0; --j) {
            const int half = static_cast<int>(sqrtf(static_cast<float>(RADIUS * RADIUS - j * j)));
            const int length = 2 * half + 1;
            if (length >= 2 * span) break;
            const float* const above = windows + centre - j * TILE_W - half * CHANNELS;
            const float* const below = above + 2 * j * TILE_W;
            const int second = (length - span) * CHANNELS;
            found = best<MAX>(found, best<MAX>(best<MAX>(above[0], above[second]), best<MAX>(below[0], below[second])));
        }
        if (j < 0) break;
        #pragma unroll 4
        for (int at = thread; at < TILE; at += THREADS)
            next[at] = at + span * CHANNELS < TILE ? best<MAX>(windows[at], windows[at + span * CHANNELS]) : windows[at];
        __syncthreads();  // and all are done with `windows`
        float* const done = windows;
        windows = next, next = done;
    }
    return found;
}
