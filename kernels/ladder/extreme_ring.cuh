// The words of rungs that walk down a strip of the picture, STEP_ROWS rows at a time: minima along x go to a ring of
// rows in shared memory, minima down the columns come from there.  Needs windows.cuh and strips.cuh, before this file.

constexpr int STAGES = 2;  // steps on their way
// A row that a block makes, a part of which a thread makes along x, of two rows if a word has two samples.
constexpr int STRIP_BYTES = CHANNELS == 3 ? 768 : BYTES == 4 && KSIZE > 31 && KSIZE <= 63 ? 1024 : 512;
constexpr int STRIP = STRIP_BYTES / BYTES;
constexpr int PART = STRIP / 8 / AT_ONCE;
// From row to row 16 bytes more than lines of 128: the lanes of a warp, in different rows, meet in no bank.
constexpr int IN_STRIDE = (STRIP_BYTES + 2 * HALO_BYTES + 111) / 128 * 128 + 16;
constexpr int RING_STRIDE = STRIP_BYTES + 16;
__device__ constexpr int slots_of(int rows) { return 1 + (KSIZE - 1 + rows - 1) / rows; }  // steps in the ring
__device__ constexpr int bytes_of(int rows) { return rows * (STAGES * IN_STRIDE + slots_of(rows) * RING_STRIDE); }
// Threads for which there are one or two of COLUMNS.  Of colours two blocks of them where there is room; where there is
// not, one, which has, of bytes, more rows between two barriers.
constexpr int THREADS = STRIP_BYTES == 768 ? 384 : STRIP_BYTES == 1024 ? 512 : 256;
constexpr int ROOM = 227 * 1024;
constexpr int BLOCKS = STRIP_BYTES == 768 && bytes_of(32) <= ROOM / 2 - 1024 ? 2 : STRIP_BYTES == 1024 ? 1 : 0;  // 0: what registers allow
constexpr int STEP_ROWS = STRIP_BYTES == 768 && BYTES == 1 && BLOCKS == 0 && bytes_of(48) <= ROOM ? 48 : 32;
constexpr int SLOTS = slots_of(STEP_ROWS);
constexpr int STAGE = STEP_ROWS * IN_STRIDE;         // bytes
constexpr int COLUMNS = STRIP_BYTES / 4;             // of 4 bytes
constexpr int GROUPS = COLUMNS * 2 <= THREADS ? 2 : 1;  // threads that share one
constexpr int GROUP_ROWS = STEP_ROWS / GROUPS;
using Strip = StripOf<1, KSIZE - 1, THREADS, STEP_ROWS, STRIP_BYTES, IN_STRIDE>;

// ---- Down the columns: from the ring to GROUP_ROWS rows of dst. -----------------------------------

// at[n]: the column in the ring's rows of n steps before; write(i, word): row i of the group.
template <bool MAX, int GROUP, class Write>
__device__ __forceinline__ void down_column(const unsigned char* const (&at)[SLOTS], int column, const Write& write) {
    const auto read = [&](int i) {  // row i from the first of the first window on
        const int row = i - (KSIZE - 1) + GROUP * GROUP_ROWS + SLOTS * STEP_ROWS;  // SLOTS steps added: not negative
        return *reinterpret_cast<const unsigned*>(at[SLOTS - row / STEP_ROWS] + row % STEP_ROWS * RING_STRIDE);
    };
    down<MAX, GROUP_ROWS>(column, read, write);
}

// ---- The walk. -------------------------------------------------------------------------------------

// rows.begin(stage, step): begin to bring a step's rows; rows.wait(step): until they are there, for all behind
// the next barrier; rows.put(): what put_beyond wrote may be overwritten.  write(at, word): samples from `at` on.
template <bool MAX, class Rows, class Write>
__device__ __forceinline__ void walk(unsigned char* memory, const Strip& strip, Rows& rows, const Write& write) {
    unsigned char* const ring = memory + STAGES * STAGE;
    const int column = threadIdx.x % COLUMNS, group = threadIdx.x / COLUMNS;
    const int x = strip.x + column * (4 / BYTES);
    #pragma unroll 1
    for (int step = 0; step < STAGES; ++step) rows.begin(memory + step * STAGE, step);
    int slot = 0;
    #pragma unroll 1
    for (int step = 0; strip.has(step); ++step) {
        unsigned char* const stage = memory + step % STAGES * STAGE;
        rows.wait(step);
        if (strip.is_edge(step)) {
            __syncthreads();
            put_beyond(stage, strip, step);
            rows.put();
        }
        __syncthreads();  // the rows are there, and all are done with those in the slot
        along_x<MAX, STEP_ROWS, PART, STRIP / PART, IN_STRIDE, RING_STRIDE>(
            ring + slot * STEP_ROWS * RING_STRIDE, stage);
        __syncthreads();
        rows.begin(stage, step + STAGES);

        // Rows of dst from `top` on, of which the first step makes none but the last few.
        const int top = step * STEP_ROWS - (KSIZE - 1) + group * GROUP_ROWS;
        if (group < GROUPS && x < strip.width * CHANNELS && top + GROUP_ROWS > 0) {
            const unsigned char* at[SLOTS];  // this step's rows, those of the step before, ...
            #pragma unroll
            for (int n = 0; n < SLOTS; ++n)
                at[n] = ring + (slot + SLOTS - n) % SLOTS * STEP_ROWS * RING_STRIDE + column * 4;
            const long long first = static_cast<long long>(strip.y + top) * strip.pitch + x;
            const auto write_row = [&](int i, unsigned found) {
                if (top + i >= 0 && top + i < strip.rows) write(first + i * static_cast<long long>(strip.pitch), found);
            };
            if (group == 0) down_column<MAX, 0>(at, column, write_row);
            else down_column<MAX, GROUPS - 1>(at, column, write_row);
        }
        slot = slot + 1 < SLOTS ? slot + 1 : 0;
    }
}
template <class Rows>
__device__ __forceinline__ void walk(unsigned char* memory, const Strip& strip, Rows& rows, sample* __restrict__ dst) {
    walk<IS_MAXIMUM>(memory, strip, rows, [&](long long at, unsigned found) {
        *reinterpret_cast<unsigned*>(dst + at) = found;
    });
}
