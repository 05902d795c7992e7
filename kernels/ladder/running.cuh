// Running minima: down the columns of a picture, and then along the rows of what that gives.  Needs extremes.cuh.

constexpr int COLUMNS = 128;                                // threads of down_columns
constexpr int PARTS_DOWN = (128 + KSIZE - 1) / KSIZE;       // of a column, that a thread writes
constexpr int THREADS = 256;                                // of along_rows
constexpr int ROWS = 16;
constexpr int PIXELS = 256 / CHANNELS;                      // of a row, that a block writes
constexpr int PARTS = (PIXELS + KSIZE - 1 + KSIZE - 1) / KSIZE;
constexpr int SPAN = PARTS * KSIZE * CHANNELS;              // samples of a row in shared memory
constexpr int STRIDE = SPAN | 1;                            // odd: rows begin in different banks

// all_ends: room for KSIZE * COLUMNS floats.  Of alpha it makes what it is.
template <bool MAX = IS_MAXIMUM, typename T>
__device__ __forceinline__ void run_down(
    float* all_ends, const T* __restrict__ src, float* __restrict__ columns,
    int height, int width, int pitch, int first_row, int end_row)
{
    float* const ends = all_ends + threadIdx.x;     // of the part before: from each of its rows to its end
    const int x = blockIdx.x * COLUMNS + threadIdx.x;
    const int y0 = first_row + blockIdx.y * PARTS_DOWN * KSIZE;
    if (x >= width * CHANNELS) return;  // each thread has a memory of its own: there is no barrier

    #pragma unroll 1
    for (int part = 0; part <= PARTS_DOWN; ++part) {
        float beginning;
        #pragma unroll 1
        for (int i = 0; i < KSIZE; ++i) {
            const int from_y = y0 - RADIUS + part * KSIZE + i;  // the last row of the window of row y
            const int y = from_y - RADIUS;
            if (y >= min(y0 + PARTS_DOWN * KSIZE, end_row)) return;
            const float value = read_or_outside<MAX>(src, x, from_y, height, width, pitch);
            beginning = i == 0 ? value : best<MAX>(beginning, value);
            if (y >= y0) {
                const float found = i + 1 < KSIZE ? best<MAX>(beginning, ends[(i + 1) * COLUMNS]) : beginning;
                row_of(columns, y, pitch)[x] = is_alpha(x) ? static_cast<float>(row_of(src, y, pitch)[x]) : found;
            }
            ends[i * COLUMNS] = value;
        }
        float end = ends[(KSIZE - 1) * COLUMNS];
        #pragma unroll 4
        for (int i = KSIZE - 2; i >= 0; --i) ends[i * COLUMNS] = end = best<MAX>(end, ends[i * COLUMNS]);
    }
}

// beginnings: room for 2 * ROWS * STRIDE floats, at first what they are of; write(x, y, found) is called for each sample.
template <bool MAX = IS_MAXIMUM, class Write>
__device__ __forceinline__ void run_along(
    float* beginnings, const float* __restrict__ columns,
    int height, int width, int pitch, int first_row, int end_row, const Write& write)
{
    float* const ends = beginnings + ROWS * STRIDE;
    const int x0 = blockIdx.x * PIXELS * CHANNELS, y0 = first_row + blockIdx.y * ROWS;
    const int rows = min(ROWS, end_row - y0), thread = threadIdx.x;

    #pragma unroll 1
    for (int row = 0; row < rows; ++row)
        #pragma unroll 4
        for (int i = thread; i < SPAN; i += THREADS)  // behind what is needed anything may stand
            if (i < min(PIXELS * CHANNELS, width * CHANNELS - x0) + 2 * HALO_X)
                beginnings[row * STRIDE + i] =
                    read_or_outside<MAX>(columns, x0 - HALO_X + i, y0 + row, height, width, pitch);
    __syncthreads();

    #pragma unroll 1
    for (int n = thread; n < ROWS * PARTS * CHANNELS; n += THREADS) {
        const int line = n / ROWS, part = line / CHANNELS, channel = line % CHANNELS;
        const int at = n % ROWS * STRIDE + part * KSIZE * CHANNELS + channel, last = (KSIZE - 1) * CHANNELS;
        if (n % ROWS >= rows) continue;
        float end = ends[at + last] = beginnings[at + last], beginning = beginnings[at];
        #pragma unroll 4
        for (int i = last - CHANNELS; i >= 0; i -= CHANNELS) ends[at + i] = end = best<MAX>(end, beginnings[at + i]);
        #pragma unroll 4
        for (int i = CHANNELS; i <= last; i += CHANNELS)
            beginnings[at + i] = beginning = best<MAX>(beginning, beginnings[at + i]);
    }
    __syncthreads();

    if (thread >= PIXELS * CHANNELS || x0 + thread >= width * CHANNELS) return;
    #pragma unroll 1
    for (int row = 0; row < rows; ++row) {
        const int at = row * STRIDE + thread;
        const float found = is_alpha(thread) ? row_of(columns, y0 + row, pitch)[x0 + thread]
            : best<MAX>(ends[at], beginnings[at + (KSIZE - 1) * CHANNELS]);
        write(x0 + thread, y0 + row, found);
    }
}
