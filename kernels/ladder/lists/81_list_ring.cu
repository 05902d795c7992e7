/*---
title   = "Ring of a list"
idea    = "A warp walks down the picture with a few rows of every step in registers: a row of one step's outputs goes at once into the sums of the next, and what lies beside comes from the neighbouring lane. No shared memory, no barrier."
after   = "list_tiles"
filter  = "list"
weights = "list"
includes = ["gradient", "ranks", "blends", "steps", "wide"]
quick   = "LIST_LONGEST <= 5"  # measured on an H200; larger sizes were not
own_block = "A warp walks down a strip of the picture by itself; a block is four of them, side by side."
requires = [
    ["LIST_LONGEST <= 9", "A ring of a list unrolls the loops over all weights, too many at size {LIST_LONGEST}; it takes sizes up to 9."],
    ["LIST_ROWS * RING_SAMPLES <= 140", "A thread would keep {LIST_ROWS} rows of {RING_SAMPLES} samples between the steps of this list in registers, and there is room for 140 samples."],
    ["LIST_LONGEST // 2 * CHANNELS <= RING_SAMPLES", "A lane has {RING_SAMPLES} samples, and its neighbour would need {LIST_LONGEST // 2 * CHANNELS} of them."],
]
lesson  = """
Each step keeps no more than the sums that are not complete yet: two rows of them for 3 x 3. A row that comes in \
completes the oldest, and begins a new one; what is complete is the next step's row. Thirty-two lanes with eight \
samples each make a row of 256, of which those at both ends are for the halo: of eight steps of 3 x 3 in one channel \
that is a lane on either side. Above and below, a strip of rows needs the halo as well, so strips are long. What lies \
near an edge of the picture is left to tiles, in the same launch: so no row has to ask where it is."""

[[passes]]
block  = ["128", "1"]
covers = ["WIDTH * CHANNELS", "1"]
grid   = ["RING_TILES + RING_COLUMNS * RING_DOWN", "1"]
halo   = ["LIST_REACH * CHANNELS", "LIST_REACH"]
shared_bytes = "RING_ROOM"
---*/

constexpr int THREADS = 128, WARPS = THREADS / 32;
constexpr int V = CHANNELS == 3 ? (LIST_ROWS <= 10 ? 12 : 6) : 8;  // samples of a lane
constexpr int EDGE = (REACH * CHANNELS + V - 1) / V;  // lanes at either end of a warp that are for the halo
constexpr int MADE = (32 - 2 * EDGE) * V;              // samples of a row that a warp makes
constexpr int AHEAD = 2;                               // rows that are on their way: see TURN
// Blocks of a multiprocessor that there must be registers for.  Measured on an H200: three of bytes in colour run
// quicker as the compiler has them than where it is told so.
constexpr int KEPT = LIST_ROWS * V;
constexpr int BLOCKS = sizeof(sample) == 4 ? (KEPT <= 64 ? 4 : KEPT <= 96 ? 3 : 2) : CHANNELS == 4 || KEPT > 96 ? 2 : 1;
static_assert(V % CHANNELS == 0 && EDGE < 16, "lanes have whole pixels, and some of them outputs");

// As many samples as a lane has, moved in as few pieces as their place allows.
constexpr int LANE_BYTES = V * sizeof(sample);
struct __align__(LANE_BYTES % 16 ? LANE_BYTES & -LANE_BYTES : 16) Lane { sample at[V]; };
constexpr int A_LANE = (LANE_BYTES + 3) / 4, A_WORD_HAS = CHUNK / 4;  // words, and samples in one
__device__ __forceinline__ void unpack_lane(const Lane& lane, float (&row)[V]) {
    unsigned words[A_LANE] = {};
    memcpy(words, &lane, LANE_BYTES);
    #pragma unroll
    for (int s = 0; s < V; ++s) {
        if constexpr (IS_SAME<sample, uint8>) row[s] = byte_to_float(words[s / 4], s % 4);
        else if constexpr (IS_SAME<sample, uint16>) row[s] = half_word_to_float(words[s / 2], s % 2);
        else row[s] = static_cast<float>(lane.at[s]);
    }
}
__device__ __forceinline__ Lane pack_lane(const float (&row)[V]) {
    float values[A_LANE * A_WORD_HAS] = {};
    unsigned words[A_LANE];
    Lane lane;
    #pragma unroll
    for (int s = 0; s < V; ++s) values[s] = row[s];
    #pragma unroll
    for (int w = 0; w < A_LANE; ++w) words[w] = pack_word(values + w * A_WORD_HAS);
    memcpy(&lane, words, LANE_BYTES);
    return lane;
}

// What a thread keeps of a step from row to row.
template <int STEP> struct Kept {
    static constexpr Filter FILTER = STEPS[STEP].filter;
    static constexpr int R = radius_of(STEP);
    static constexpr int ROWS = FILTER == LENGTH ? 4 : 2 * R, WIDE = FILTER == MEDIAN ? V + 2 * R * CHANNELS : V;
    static constexpr bool WANTS_INPUT = R > 0 && (HAS_ALPHA || is_blended(STEP));
    float rows[ROWS ? ROWS : 1][WIDE];          // sums that are not complete; of a median the samples
    // Those of the outputs that are not complete, the oldest first.  Where alpha alone is wanted the compiler keeps no
    // colours, and of alpha no sums: such a ring is no larger than one without.
    float inputs[WANTS_INPUT ? R : 1][V];
};
template <int STEP> struct AllKept { Kept<STEP> here; AllKept<STEP + 1> others; };
template <> struct AllKept<COUNT> {};

// Take a row into `kept`, and put in its place the row of outputs that it completes, R rows above it.  TURN is the
// row's number modulo two: of two rows that are only waited for, the older one has the same, so that none moves.
template <int TURN, int STEP>
__device__ __forceinline__ void take_row(Kept<STEP>& kept, float (&row)[V]) {
    constexpr StepOf IT = STEPS[STEP];
    constexpr int R = radius_of(STEP), K = IT.size, SIDE = R * CHANNELS;
    float wide[V + 2 * SIDE], outs[V];
    #pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        wide[i] = __shfl_up_sync(~0u, row[V - SIDE + i], 1);
        wide[SIDE + V + i] = __shfl_down_sync(~0u, row[i], 1);
    }
    #pragma unroll
    for (int i = 0; i < V; ++i) wide[SIDE + i] = row[i];

    if constexpr (IT.filter == MEDIAN) {
        Three threes[V + 2 * SIDE];
        #pragma unroll
        for (int i = 0; i < V + 2 * SIDE; ++i) {
            threes[i] = in_order(kept.rows[0][i], kept.rows[1][i], wide[i]);
            kept.rows[TURN][i] = wide[i];
        }
        #pragma unroll
        for (int i = 0; i < V; ++i)
            outs[i] = median_of(threes[i], threes[i + CHANNELS], threes[i + 2 * CHANNELS]);
    } else if constexpr (IT.filter == LENGTH) {
        float gx[V], gy[V];
        #pragma unroll
        for (int i = 0; i < V; ++i) {
            const float left = wide[i], middle = wide[i + CHANNELS], right = wide[i + 2 * CHANNELS];
            const float slope = right - left, smooth = left + 2.0f * middle + right;
            gx[i] = kept.rows[0][i] + slope;
            kept.rows[0][i] = kept.rows[1][i] + 2.0f * slope, kept.rows[1][i] = slope;
            gy[i] = smooth - kept.rows[2 + TURN][i];
            kept.rows[2 + TURN][i] = smooth;
        }
        lengths_of<V, keeps_floats(STEP)>(outs, gx, gy);
    } else if constexpr (IT.filter == LEAST || IT.filter == GREATEST) {
        #pragma unroll
        for (int i = 0; i < V; ++i) {
            float best = wide[i];
            #pragma unroll
            for (int k = 1; k < K; ++k) best = extreme<IT.filter>(best, wide[i + k * CHANNELS]);
            outs[i] = R ? extreme<IT.filter>(kept.rows[0][i], best) : best;
            #pragma unroll
            for (int j = 0; j + 1 < 2 * R; ++j) kept.rows[j][i] = extreme<IT.filter>(kept.rows[j + 1][i], best);
            if constexpr (R > 0) kept.rows[2 * R - 1][i] = best;
        }
    } else {
        #pragma unroll
        for (int i = 0; i < V; ++i) {
            // The row counts with the last row of the weights for the oldest sums, with the first for new ones.
            float along = 0.0f;
            if constexpr (IT.is_separable) {
                #pragma unroll
                for (int k = 0; k < K; ++k) along += WEIGHTS[IT.first + K + k] * wide[i + k * CHANNELS];
            }
            #pragma unroll
            for (int j = 0; j <= 2 * R; ++j) {
                const int down = 2 * R - j;  // the row of the weights for sums number j
                float sum = j < 2 * R ? kept.rows[j][i] : 0.0f;
                if constexpr (IT.is_separable) sum += WEIGHTS[IT.first + down] * along;
                else {
                    #pragma unroll
                    for (int k = 0; k < K; ++k) sum += WEIGHTS[IT.first + down * K + k] * wide[i + k * CHANNELS];
                }
                if (j == 0) outs[i] = IT.has_offset ? sum + AMOUNTS[STEP].offset : sum;
                else kept.rows[j - 1][i] = sum;
            }
        }
    }
    if constexpr (ROUNDS_BETWEEN || HAS_ALPHA || is_blended(STEP)) {
        if constexpr (Kept<STEP>::WANTS_INPUT) {
            float before[V];
            #pragma unroll
            for (int i = 0; i < V; ++i) {
                before[i] = kept.inputs[R == 2 ? TURN : 0][i];
                #pragma unroll
                for (int j = 0; R != 2 && j + 1 < R; ++j) kept.inputs[j][i] = kept.inputs[j + 1][i];
                kept.inputs[R == 2 ? TURN : R - 1][i] = row[i];
            }
            blend_all<STEP>(outs, before);
        } else blend_all<STEP>(outs, row);
    }
    #pragma unroll
    for (int i = 0; i < V; ++i) row[i] = outs[i];
}

template <int TURN, int STEP>
__device__ __forceinline__ void take_row(AllKept<STEP>& kept, float (&row)[V]) {
    if constexpr (STEP < COUNT) {
        take_row<TURN>(kept.here, row);
        take_row<TURN>(kept.others, row);
    }
}

// The part of the picture that rings make: all but REACH pixels at each edge, and EDGE whole lanes.
struct Inside { int left, right, top, bottom; };

// A warp's strip: samples of MADE columns, rows from y up to end_y.
__device__ __forceinline__ void walk(
    const sample* __restrict__ src, sample* __restrict__ dst, int x, int y, int end_y, const Inside& inside,
    int pitch)
{
    const int lane = threadIdx.x % 32;
    x += (lane - EDGE) * V;
    const bool is_there = x + V <= pitch;  // beyond, no lane needs it
    const bool is_made = EDGE <= lane && lane < 32 - EDGE && x < inside.right;
    const sample* from = row_of(src, y - REACH, pitch) + x;
    const int rows = end_y - y + 2 * REACH;
    AllKept<0> kept{};
    Lane ahead[AHEAD];
    #pragma unroll
    for (int a = 0; a < AHEAD; ++a)
        if (is_there && a < rows) ahead[a] = *reinterpret_cast<const Lane*>(row_of(from, a, pitch));
    #pragma unroll 1
    for (int first = 0; first < rows; first += AHEAD) {
        #pragma unroll
        for (int a = 0; a < AHEAD; ++a) {
            const int i = first + a;
            float row[V];
            unpack_lane(ahead[a], row);
            if (is_there && i + AHEAD < rows)
                ahead[a] = *reinterpret_cast<const Lane*>(row_of(from, i + AHEAD, pitch));
            if (a == 0) take_row<0>(kept, row);
            else take_row<1>(kept, row);
            if (i < 2 * REACH || i >= rows || !is_made) continue;
            *reinterpret_cast<Lane*>(row_of(dst, y + i - 2 * REACH, pitch) + x) = pack_lane(row);
        }
    }
}

// What lies at the edges: rectangles that tiles are made for.
struct Rectangle { int x, y, end_x, end_y; };
template <int ACROSS, int DOWN> __device__ __forceinline__ int tiles_of(const Rectangle& of) {
    const int across = (of.end_x - of.x + ACROSS - 1) / ACROSS, down = (of.end_y - of.y + DOWN - 1) / DOWN;
    return of.end_x > of.x && of.end_y > of.y ? across * down : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolve(
    const sample* __restrict__ src,  // (height, width, CHANNELS), interleaved
    sample* __restrict__ dst,        // the same
    int height, int width, int pitch,
    int first_row, int end_row)      // the rows of dst that this launch writes
{
    DYNAMIC_SHARED(float, room);
    const int samples = width * CHANNELS;
    Inside inside{EDGE * V, (samples / V - EDGE) * V, max(first_row, REACH), min(end_row, height - REACH)};
    // Where there is nothing inside, the tiles above have all of it.
    const bool is_any = inside.left < inside.right && inside.top < inside.bottom;
    if (!is_any) inside.top = inside.bottom = end_row;

    constexpr int ACROSS = CHANNELS == 3 ? 96 : 64, DOWN = 16, THIN = (EDGE + 1) * V, TALL = 64;
    const Rectangle above{0, first_row, samples, inside.top}, below{0, inside.bottom, samples, end_row};
    const Rectangle left{0, inside.top, inside.left, inside.bottom};
    const Rectangle right{inside.right, inside.top, samples, inside.bottom};
    const int flat = tiles_of<ACROSS, DOWN>(above), low = flat + tiles_of<ACROSS, DOWN>(below);
    const int side = tiles_of<THIN, TALL>(left), tiles = low + side + tiles_of<THIN, TALL>(right);
    const int block = blockIdx.x;
    if (block < low) {
        const Rectangle& of = block < flat ? above : below;
        const int tile = block < flat ? block : block - flat, across = (samples + ACROSS - 1) / ACROSS;
        do_tile<ACROSS, DOWN>(room, src, dst, tile % across * ACROSS, of.y + tile / across * DOWN, of.end_x, of.end_y,
                              height, width, pitch);
        return;
    }
    if (block < tiles) {
        const Rectangle& of = block - low < side ? left : right;
        const int tile = block - low < side ? block - low : block - low - side;
        do_tile<THIN, TALL>(room, src, dst, of.x, of.y + tile * TALL, of.end_x, of.end_y, height, width, pitch);
        return;
    }
    if (!is_any) return;
    const int columns = (inside.right - inside.left + WARPS * MADE - 1) / (WARPS * MADE);
    const int number = block - tiles, strips = max((static_cast<int>(gridDim.x) - tiles) / columns, 1);
    const int rows = (inside.bottom - inside.top + strips - 1) / strips;
    const int x = inside.left + (number % columns * WARPS + threadIdx.x / 32) * MADE;
    const int y = inside.top + number / columns * rows, end_y = min(y + rows, inside.bottom);
    if (x < inside.right && y < end_y) walk(src, dst, x, y, end_y, inside, pitch);
}
