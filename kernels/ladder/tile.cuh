// A tile and its halo in shared memory, by asynchronous copies.  Needs wide.cuh and async.cuh, before this file.

constexpr int TILE_CHUNKS = 32, TILE_W = TILE_CHUNKS * CHUNK;  // of a row, what a block makes,
constexpr int STAGE_CHUNKS = TILE_CHUNKS + 2 * HALO_CHUNKS;    // and what it needs for that
// Two copies of 16 bytes fetch the 32 bytes of the picture that both lie in twice, if they go to different 32 bytes of
// shared memory: so a row is staged as it lies in the picture.
constexpr int SHIFT = HALO_CHUNKS % 2, STAGE_STRIDE = (STAGE_CHUNKS + SHIFT + 1) / 2 * 2;

// TALL rows from `top` on, memory[SHIFT] being the chunk HALO_CHUNKS left of sample x0: a warp a row, and then what is
// left of all rows.  Chunks that no sample of the picture needs are left as they are.
template <int THREADS, int TALL>
__device__ __forceinline__ void stage_tile(
    uint4* memory, const sample* __restrict__ src, int x0, int top, int height, int width, int pitch)
{
    uint4* const stage = memory + SHIFT;
    const int column = threadIdx.x % TILE_CHUNKS, line = threadIdx.x / TILE_CHUNKS, left = x0 - HALO_CHUNKS * CHUNK;
    if (left >= 0 && left + STAGE_CHUNKS * CHUNK <= width * CHANNELS && top >= 0 && top + TALL <= height) {
        const sample* const from = row_of(src, top, pitch) + left;
        #pragma unroll
        for (int r = line; r < TALL; r += THREADS / TILE_CHUNKS)
            copy_async(stage + r * STAGE_STRIDE + column, row_of(from, r, pitch) + column * CHUNK);
        #pragma unroll
        for (int first = 0; first < TALL * 2 * HALO_CHUNKS; first += THREADS) {
            const int n = first + threadIdx.x, r = n / (2 * HALO_CHUNKS), c = TILE_CHUNKS + n % (2 * HALO_CHUNKS);
            if (r < TALL) copy_async(stage + r * STAGE_STRIDE + c, row_of(from, r, pitch) + c * CHUNK);
        }
    } else {
        #pragma unroll 1
        for (int n = threadIdx.x; n < TALL * STAGE_CHUNKS; n += THREADS) {
            const int r = n / STAGE_CHUNKS, c = n % STAGE_CHUNKS, x = left + c * CHUNK;
            if (x < width * CHANNELS + HALO_X)
                stage[r * STAGE_STRIDE + c] = read_chunk(src, x, top + r, height, width, pitch);
        }
    }
    end_group();
    wait_for_groups<0>();
    __syncthreads();
}
