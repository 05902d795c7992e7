// The words of rungs that make a whole morphology on the way down a strip of the picture, STEP_ROWS rows at a time.
// Needs windows.cuh, strips.cuh, morphology.cuh and differences.cuh, before this file.

constexpr int STEP_ROWS = 16;
constexpr int STAGES = 2;  // steps on their way
constexpr int REACH = KIND == GRADIENT ? 1 : 2;  // radii: an extreme of an extreme looks twice as far
// Blocks of a multiprocessor, for which registers do.
constexpr int BLOCKS = CHANNELS == 3 && KSIZE <= (BYTES == 1 && KIND != GRADIENT ? 9 : 5) ? 4 : KSIZE <= (BYTES == 4 ? 15 : 9) ? 3 : 2;
// A row that a block makes, and the wider one of the first extreme, of which the second is.
constexpr int STRIP_BYTES = CHANNELS == 3 ? 768 : BLOCKS == 3 ? 1024 : 896;
constexpr int FIRST_BYTES = STRIP_BYTES + 2 * (REACH - 1) * HALO_BYTES;
constexpr int STRIP = STRIP_BYTES / BYTES;
constexpr int COLUMNS = FIRST_BYTES / 4;  // of 4 bytes, one a thread
constexpr int THREADS = (COLUMNS + 31) / 32 * 32;
// What a thread makes along x: whole chunks, and whole pixels.
constexpr int PART = (CHANNELS == 3 ? 24 : 16) * (BYTES == 1 ? 2 : 1);
constexpr int PARTS = (FIRST_BYTES + PART * BYTES - 1) / (PART * BYTES);
// From row to row 16 bytes more than lines of 128: the lanes of a warp, in different rows, meet in no bank.
constexpr int IN_STRIDE = (PARTS * PART * BYTES + 2 * HALO_BYTES + 111) / 128 * 128 + 16;
constexpr int FIRST_STRIDE = (PARTS * PART * BYTES + 127) / 128 * 128 + 16;
constexpr int SECOND_STRIDE = STRIP_BYTES + 16;
// Rows that are read before one is made, in whole steps.
constexpr int BEFORE = (2 * REACH * RADIUS + STEP_ROWS - 1) / STEP_ROWS;
using Strip = StripOf<REACH, BEFORE * STEP_ROWS, THREADS, STEP_ROWS, STRIP_BYTES, IN_STRIDE>;

// ---- Down a column, of which the last rows of the step before are kept in registers. ---------------

constexpr int KEPT = KSIZE > 1 ? KSIZE - 1 : 1;

// write(i, word): the extreme of the KSIZE rows of which the last is the step's row i.
template <bool MAX, int STRIDE, class Write>
__device__ __forceinline__ void down_on(
    unsigned (&kept)[KEPT], const unsigned char* rows, int column, const Write& write)
{
    unsigned values[KSIZE - 1 + STEP_ROWS];
    #pragma unroll
    for (int i = 0; i < KSIZE - 1; ++i) values[i] = kept[i];
    #pragma unroll
    for (int i = 0; i < STEP_ROWS; ++i)
        values[KSIZE - 1 + i] = *reinterpret_cast<const unsigned*>(rows + i * STRIDE + column * 4);
    down<MAX, STEP_ROWS>(column, [&](int i) { return values[i]; }, write);
    #pragma unroll
    for (int i = 0; i < KSIZE - 1; ++i) kept[i] = values[STEP_ROWS + i];
}

// ---- The walk. -------------------------------------------------------------------------------------

// The border of what the first extreme gives is its own: 0, or nothing that counts.  Of a square that is as if it were
// continued, since the samples that stand in lie in the window as well; only what wraps around is really there.
// first: the word at sample x of the row of the first extreme that is row y of the picture.
__device__ __noinline__ void put_border(unsigned char* first, int x, int y, int width, int height) {
    constexpr int A_WORD = 4 / BYTES;
    constexpr unsigned BEYOND = BORDER == ZERO ? 0 : last_bits<SECOND>() * (BYTES == 4 ? 1u : BYTES == 2 ? 0x10001u : 0x1010101u);
    const int inside = x < 0 ? 0 : max(min(width * CHANNELS - x, A_WORD), 0);
    #pragma unroll 1
    for (int i = 0; i < STEP_ROWS; ++i) {
        const int count = 0 <= y + i && y + i < height ? inside : 0;
        const unsigned bits = count == A_WORD ? ~0u : (1u << 8 * BYTES * count) - 1;
        unsigned* const word = reinterpret_cast<unsigned*>(first + i * FIRST_STRIDE);
        *word = (*word & bits) | (BEYOND & ~bits);
    }
}

// Rows: as in extreme_ring.cuh.
template <class Rows>
__device__ __forceinline__ void walk(unsigned char* memory, const Strip& strip, Rows& rows, sample* __restrict__ dst) {
    unsigned char* const first = memory + STAGES * STEP_ROWS * IN_STRIDE;  // rows of the first extreme
    unsigned char* const second = first + STEP_ROWS * FIRST_STRIDE;        // minima along x of these; of a gradient, others
    const int column = threadIdx.x, samples = strip.width * CHANNELS, x = strip.x + column * (4 / BYTES);
    const int x_first = x - (REACH - 1) * HALO_BYTES / BYTES;
    const bool is_edge = x_first < 0 || x_first + 4 / BYTES > samples;
    unsigned kept_first[KEPT] = {}, kept_second[KEPT] = {};
    #pragma unroll 1
    for (int step = 0; step < STAGES; ++step) rows.begin(memory + step * STEP_ROWS * IN_STRIDE, step);
    #pragma unroll 1
    for (int step = 0; strip.has(step); ++step) {
        unsigned char* const stage = memory + step % STAGES * STEP_ROWS * IN_STRIDE;
        rows.wait(step);
        if (strip.is_edge(step)) {
            __syncthreads();
            put_beyond(stage, strip, step);
            rows.put();
        }
        __syncthreads();  // the rows are there

        // 1. Along x.
        along_x<FIRST, STEP_ROWS, PART, PARTS, IN_STRIDE, FIRST_STRIDE>(first, stage);
        if constexpr (KIND == GRADIENT)
            along_x<SECOND, STEP_ROWS, PART, PARTS, IN_STRIDE, SECOND_STRIDE>(second, stage);
        __syncthreads();
        rows.begin(stage, step + STAGES);

        // 2. The first extreme, in the place of what it is made of; of a gradient it stays in registers.
        unsigned of_first[STEP_ROWS];
        if (column < COLUMNS)
            down_on<FIRST, FIRST_STRIDE>(kept_first, first, column, [&](int i, unsigned found) {
                if constexpr (KIND == GRADIENT) of_first[i] = found;
                else *reinterpret_cast<unsigned*>(first + i * FIRST_STRIDE + column * 4) = found;
            });
        if constexpr (KIND != GRADIENT) {
            const int y = strip.first_row(step) - RADIUS;
            if (BORDER != WRAP && column < COLUMNS && (is_edge || y < 0 || y + STEP_ROWS > strip.height))
                put_border(first + column * 4, x_first, y, strip.width, strip.height);
            __syncthreads();

            // 3. Along x again.
            along_x<SECOND, STEP_ROWS, PART, STRIP / PART, FIRST_STRIDE, SECOND_STRIDE>(second, first);
            __syncthreads();
        }

        // 4. The second extreme, and rows of dst from `top` on.
        const int top = (step - BEFORE) * STEP_ROWS;
        if (column < STRIP_BYTES / 4 && x < samples) {
            const long long at = static_cast<long long>(strip.y + top) * strip.pitch + x;
            const unsigned char* from = reinterpret_cast<const unsigned char*>(strip.src + at);
            unsigned char* to = reinterpret_cast<unsigned char*>(dst + at);
            const int stride = strip.pitch * BYTES, rows_left = top < 0 ? 0 : strip.rows - top;
            down_on<SECOND, SECOND_STRIDE>(kept_second, second, column, [&](int i, unsigned found) {
                if (i < rows_left) {
                    unsigned original = 0;
                    if constexpr (IS_HAT) original = *reinterpret_cast<const unsigned*>(from);
                    *reinterpret_cast<unsigned*>(to) = made_of(of_first[i], found, original, alpha_bits(column));
                }
                from += stride, to += stride;  // i counts up
            });
        }
    }
}
