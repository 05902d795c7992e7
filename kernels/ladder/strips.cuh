// A block's way down a strip of the picture: which rows a step brings to shared memory, and what the border puts around
// them.  Needs extremes.cuh, wide.cuh and windows.cuh, before this file.

// A strip of the picture, STRIP_BYTES wide, and the rows of it that a block makes, STEP_ROWS at a time.  For that it
// stages REACH radii more on all sides, in rows that are IN_STRIDE bytes apart: MORE rows than it makes.
template <int REACH, int MORE, int THREADS, int STEP_ROWS, int STRIP_BYTES, int IN_STRIDE>
struct StripOf {
    static constexpr int IN_BYTES = STRIP_BYTES + 2 * REACH * HALO_BYTES;

    const sample* src;
    int height, width, pitch;
    int x, y, rows;  // of dst

    __device__ __forceinline__ int first() const { return x - REACH * HALO_BYTES / BYTES; }  // sample of a row that is read
    __device__ __forceinline__ int first_row(int step) const { return y + REACH * RADIUS - MORE + step * STEP_ROWS; }
    __device__ __forceinline__ bool has(int step) const { return step * STEP_ROWS < rows + MORE; }
    // Samples that are brought of a row, which may end in its padding.
    __device__ __forceinline__ int from() const { return max(first(), 0); }
    __device__ __forceinline__ int end() const {
        return min(first() + IN_BYTES / BYTES, (width * CHANNELS + 16 / BYTES - 1) / (16 / BYTES) * (16 / BYTES));
    }
    // The row that is brought for row r of a step: the nearest one where the border has none.
    __device__ __forceinline__ const sample* row(int step, int r) const {
        return row_of(src, nearest_row(first_row(step) + r, height), pitch);
    }
    __device__ __forceinline__ bool is_edge(int step) const {
        const bool is_beyond = first_row(step) < 0 || first_row(step) + STEP_ROWS > height;
        return first() < 0 || first() + IN_BYTES / BYTES > width * CHANNELS
            || ((BORDER == ZERO || BORDER == CROP) && is_beyond);
    }

    // Have each chunk of a step's rows copied to a stage, a warp a row, sixteen bytes a lane.
    template <class Copy>
    __device__ __forceinline__ void each_chunk(unsigned char* stage, int step, const Copy& copy) const {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int chunks = (end() - from()) / CHUNK;
        #pragma unroll 4
        for (int r = warp; r < STEP_ROWS; r += THREADS / 32) {
            const sample* const first_chunk = row(step, r) + from();
            uint4* const to = reinterpret_cast<uint4*>(stage + r * IN_STRIDE + (from() - first()) * BYTES);
            for (int c = lane; c < chunks; c += 32) copy(to + c, first_chunk + c * CHUNK);
        }
    }
};

// Put what lies beyond the picture into a stage whose rows are there.  Nearly all comes from the stage itself;
// only to wrap, or where a strip is narrower than a halo, it comes from elsewhere in the picture.
template <int REACH, int MORE, int THREADS, int STEP_ROWS, int STRIP_BYTES, int IN_STRIDE>
__device__ __noinline__ void put_beyond(
    unsigned char* stage, StripOf<REACH, MORE, THREADS, STEP_ROWS, STRIP_BYTES, IN_STRIDE> strip, int step)
{
    constexpr int IN_BYTES = strip.IN_BYTES;
    const int first = strip.first(), samples = strip.width * CHANNELS, count = IN_BYTES / BYTES;
    const int left = max(-first, 0), right = min(max(samples - first, 0), count), edges = left + count - right;
    const int y = strip.first_row(step);
    #pragma unroll 1
    for (int n = threadIdx.x; n < STEP_ROWS * edges; n += THREADS) {
        const int r = n / edges, e = n % edges, i = e < left ? e : right + e - left;
        const int from_y = border_index(y + r, strip.height);
        const bool is_far = first + i < -REACH * HALO_X || first + i >= samples + REACH * HALO_X;
        if (from_y == OUTSIDE || is_far) continue;  // below, or never
        const int from = border_sample(first + i, strip.width);
        sample* const row = reinterpret_cast<sample*>(stage + r * IN_STRIDE);
        const bool is_staged = first <= from && from < first + count;
        if (from == OUTSIDE) row[i] = to_sample(outside_value());  // infinity becomes the last integer
        else row[i] = is_staged ? row[from - first] : row_of(strip.src, from_y, strip.pitch)[from];
    }
    #pragma unroll 1
    for (int n = threadIdx.x; (BORDER == ZERO || BORDER == CROP) && n < STEP_ROWS * IN_BYTES / 16; n += THREADS) {
        const int r = n / (IN_BYTES / 16), c = n % (IN_BYTES / 16);
        if (border_index(y + r, strip.height) != OUTSIDE) continue;
        reinterpret_cast<uint4*>(stage + r * IN_STRIDE)[c] = outside_chunk();
    }
}
