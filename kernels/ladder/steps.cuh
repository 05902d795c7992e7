// The words of rungs that do a whole list of steps in one launch.  Needs gradient.cuh, ranks.cuh and blends.cuh, before
// this file.
//
// The launcher writes the list into the text, so that every loop over steps and weights is unrolled.  What a slider sets
// comes with each launch, so that moving it compiles nothing.

enum Filter { SUM, LENGTH, MEDIAN, LEAST, GREATEST };
struct StepOf {
    Filter filter;
    int size, first;    // of its window; its weights begin there: all, or those of a column and then of a row
    bool is_separable, has_offset;
    bool is_whole;      // a step by itself or the end of one: what is made in between is neither blended nor rounded
    bool is_grey, has_threshold, has_mix;  // how its output and its input make what it gives, in this order
};
constexpr StepOf STEPS[] = {LIST};
constexpr int COUNT = sizeof(STEPS) / sizeof(StepOf);
__constant__ float WEIGHTS[LIST_WEIGHTS];
struct Amounts { float offset, threshold, mix; };  // of a step
__constant__ Amounts AMOUNTS[COUNT];

__device__ constexpr int radius_of(int step) { return STEPS[step].size / 2; }
__device__ constexpr int reach_until(int step) {  // pixels that all steps before it look away from theirs
    int reach = 0;
    for (int i = 0; i < step; ++i) reach += radius_of(i);
    return reach;
}
constexpr int REACH = reach_until(COUNT);
__device__ constexpr bool is_blended(int step) {
    return STEPS[step].is_grey || STEPS[step].has_threshold || STEPS[step].has_mix;
}
// Whether lengths of a step stay floats: in such pictures, and where they are given to a mix or a step unrounded.
__device__ constexpr bool keeps_floats(int step) {
    return IS_SAME<sample, float32> || (!ROUNDS_BETWEEN && (step + 1 < COUNT || is_blended(step)));
}

// What a step gives the next: samples are rounded between steps only where the list asks for it.
__device__ __forceinline__ float given(float value) {
    return ROUNDS_BETWEEN ? static_cast<float>(to_sample(value)) : value;
}
// The outputs of one step for samples next to each other, whole pixels, and its inputs there.
template <int STEP, int N>
__device__ __forceinline__ void blend_all(float (&after)[N], const float (&before)[N]) {
    #pragma unroll
    for (int i = 0; i < N; ++i)
        if (STEPS[STEP].is_whole) after[i] = given(after[i]);
    if constexpr (STEPS[STEP].is_grey && CHANNELS > 2) {
        #pragma unroll
        for (int i = 0; i < N; i += CHANNELS)
            after[i] = after[i + 1] = after[i + 2] = luma_of(after[i], after[i + 1], after[i + 2]);
    }
    #pragma unroll
    for (int i = 0; i < N; ++i) {
        if (is_alpha(i)) after[i] = before[i];
        else if constexpr (is_blended(STEP))
            after[i] = given(blended(before[i], after[i], STEPS[STEP].has_mix ? AMOUNTS[STEP].mix : 1.0f,
                                     STEPS[STEP].has_threshold ? AMOUNTS[STEP].threshold : 0.0f));
    }
}

// The median of nine: each column in order is that of three samples, and the nine's lies between the greatest of the
// least, the middle of the middle and the least of the greatest.
struct Three { float low, middle, high; };
__device__ __forceinline__ Three in_order(float a, float b, float c) {
    const float low = least(a, b), high = greatest(a, b), other = greatest(low, c);
    return {least(low, c), least(other, high), greatest(other, high)};
}
__device__ __forceinline__ float median_of(const Three& a, const Three& b, const Three& c) {
    const float low = greatest(a.low, b.low, c.low), high = least(a.high, b.high, c.high);
    return in_order(low, in_order(a.middle, b.middle, c.middle).middle, high).middle;
}
template <Filter FILTER> __device__ __forceinline__ float extreme(float a, float b) {
    return FILTER == LEAST ? least(a, b) : greatest(a, b);
}

// ---- A tile with the halo of all steps, in shared memory. ------------------------------------------------------
// ACROSS samples by DOWN rows of the output; around them, what the steps look at.
template <int ACROSS, int DOWN> struct Tile {
    static constexpr int WIDE = ACROSS + 2 * REACH * CHANNELS, HIGH = DOWN + 2 * REACH;
    int x, y;  // of its first sample, the halo included, in the picture
    int height, width;
};
constexpr int RUN = 4;  // rows of outputs that a thread makes at a time

// One step: from what lies in `from` to what lies in `to`, at the same places, where the halo that is left is smaller.
template <int STEP, int ACROSS, int DOWN>
__device__ __forceinline__ void do_step(const float* from, float* to, const Tile<ACROSS, DOWN>&) {
    using Here = Tile<ACROSS, DOWN>;
    constexpr StepOf IT = STEPS[STEP];
    constexpr int R = radius_of(STEP), K = IT.size;
    constexpr int UP = reach_until(STEP + 1), LEFT = UP * CHANNELS;  // what is left out on every side
    constexpr int COLUMNS = Here::WIDE - 2 * LEFT, ROWS = Here::HIGH - 2 * UP;
    #pragma unroll 1
    for (int unit = threadIdx.x; unit < COLUMNS * ((ROWS + RUN - 1) / RUN); unit += blockDim.x) {
        const int x = LEFT + unit % COLUMNS, first = unit / COLUMNS * RUN;
        float outs[RUN], more[RUN];
        #pragma unroll
        for (int i = 0; i < RUN; ++i) outs[i] = more[i] = 0.0f;
        float block[IT.filter == MEDIAN ? RUN + 2 * R : 1][K];
        #pragma unroll
        for (int j = 0; j < RUN + 2 * R; ++j) {
            // The last rows of the last run are not wanted; they only must be there.
            const int row = min(UP - R + first + j, Here::HIGH - 1);
            const float* line = from + row * Here::WIDE + x - R * CHANNELS;
            float at[K];
            #pragma unroll
            for (int k = 0; k < K; ++k) at[k] = line[k * CHANNELS];
            if constexpr (IT.filter == MEDIAN) {
                #pragma unroll
                for (int k = 0; k < K; ++k) block[j][k] = at[k];
            } else if constexpr (IT.filter == LEAST || IT.filter == GREATEST) {
                float best = at[0];
                #pragma unroll
                for (int k = 1; k < K; ++k) best = extreme<IT.filter>(best, at[k]);
                #pragma unroll
                for (int i = 0; i < RUN; ++i)
                    if (0 <= j - i && j - i < K) outs[i] = j == i ? best : extreme<IT.filter>(outs[i], best);
            } else if constexpr (IT.filter == LENGTH) {
                const float slope = at[2] - at[0], smooth = at[0] + 2.0f * at[1] + at[2];
                #pragma unroll
                for (int i = 0; i < RUN; ++i) {
                    if (j - i == 0 || j - i == 2) outs[i] += slope;
                    if (j - i == 1) outs[i] += 2.0f * slope;
                    if (j - i == 0) more[i] -= smooth;
                    if (j - i == 2) more[i] += smooth;
                }
            } else if constexpr (IT.is_separable) {
                float sum = 0.0f;
                #pragma unroll
                for (int k = 0; k < K; ++k) sum += WEIGHTS[IT.first + K + k] * at[k];
                #pragma unroll
                for (int i = 0; i < RUN; ++i)
                    if (0 <= j - i && j - i < K) outs[i] += WEIGHTS[IT.first + j - i] * sum;
            } else {
                #pragma unroll
                for (int i = 0; i < RUN; ++i)
                    #pragma unroll
                    for (int k = 0; k < K; ++k)
                        if (0 <= j - i && j - i < K) outs[i] += WEIGHTS[IT.first + (j - i) * K + k] * at[k];
            }
        }
        if constexpr (IT.filter == MEDIAN) {
            #pragma unroll
            for (int i = 0; i < RUN; ++i) {
                Three columns[K];
                #pragma unroll
                for (int k = 0; k < K; ++k) columns[k] = in_order(block[i][k], block[i + 1][k], block[i + 2][k]);
                outs[i] = median_of(columns[0], columns[1], columns[2]);
            }
        }
        if constexpr (IT.filter == LENGTH) {
            float lengths[RUN];
            lengths_of<RUN, keeps_floats(STEP)>(lengths, outs, more);
            #pragma unroll
            for (int i = 0; i < RUN; ++i) outs[i] = lengths[i];
        }
        #pragma unroll
        for (int i = 0; i < RUN; ++i)
            if (first + i < ROWS)
                to[(UP + first + i) * Here::WIDE + x] = IT.has_offset ? outs[i] + AMOUNTS[STEP].offset : outs[i];
    }
}

// What the step gives, of its outputs in `to` and its inputs in `from`: whole pixels, one after another.
template <int STEP, int ACROSS, int DOWN>
__device__ __forceinline__ void blend_tile(const float* from, float* to, const Tile<ACROSS, DOWN>&) {
    using Here = Tile<ACROSS, DOWN>;
    constexpr int UP = reach_until(STEP + 1);
    constexpr int PIXELS = Here::WIDE / CHANNELS - 2 * UP, ROWS = Here::HIGH - 2 * UP;
    static_assert(ACROSS % CHANNELS == 0, "tiles are of whole pixels");
    #pragma unroll 1
    for (int unit = threadIdx.x; unit < PIXELS * ROWS; unit += blockDim.x) {
        const int at = (UP + unit / PIXELS) * Here::WIDE + (UP + unit % PIXELS) * CHANNELS;
        float after[CHANNELS], before[CHANNELS];
        #pragma unroll
        for (int c = 0; c < CHANNELS; ++c) after[c] = to[at + c], before[c] = from[at + c];
        blend_all<STEP>(after, before);
        #pragma unroll
        for (int c = 0; c < CHANNELS; ++c) to[at + c] = after[c];
    }
}

// Every step sees the border of what it is given: outside the picture that is no filtered sample, but one continued
// from inside.  A picture that wraps around goes on for ever, and so do its filtered ones.
template <int STEP, int ACROSS, int DOWN>
__device__ __forceinline__ void continue_tile(float* to, const Tile<ACROSS, DOWN>& tile) {
    using Here = Tile<ACROSS, DOWN>;
    constexpr int UP = reach_until(STEP + 1);
    const bool is_inside = 0 <= tile.y && tile.y + Here::HIGH <= tile.height && 0 <= tile.x
                        && tile.x + Here::WIDE <= tile.width * CHANNELS;
    if (BORDER == WRAP || is_inside) return;  // all threads of the block alike
    constexpr int COLUMNS = Here::WIDE - 2 * UP * CHANNELS, ROWS = Here::HIGH - 2 * UP;
    #pragma unroll 1
    for (int unit = threadIdx.x; unit < COLUMNS * ROWS; unit += blockDim.x) {
        const int i = UP * CHANNELS + unit % COLUMNS, j = UP + unit / COLUMNS;
        const int x = tile.x + i, y = tile.y + j;
        const int from_x = border_sample(x, tile.width), from_y = border_index(y, tile.height);
        if (from_x == OUTSIDE || from_y == OUTSIDE) to[j * Here::WIDE + i] = 0.0f;
        else if (from_x != x || from_y != y) {
            // Of a tile that reaches far beyond the edge most of that is for no output, and lies nowhere.
            const int across = from_x - tile.x, down = from_y - tile.y;
            if (0 <= across && across < Here::WIDE && 0 <= down && down < Here::HIGH)
                to[j * Here::WIDE + i] = to[down * Here::WIDE + across];
        }
    }
    __syncthreads();
}

template <int STEP, int ACROSS, int DOWN>
__device__ __forceinline__ const float* do_steps(float* from, float* to, const Tile<ACROSS, DOWN>& tile) {
    if constexpr (STEP == COUNT) return from;
    else {
        do_step<STEP>(from, to, tile);
        __syncthreads();
        if constexpr (ROUNDS_BETWEEN || HAS_ALPHA || is_blended(STEP)) {
            blend_tile<STEP>(from, to, tile);
            __syncthreads();
        }
        if constexpr (STEP + 1 < COUNT) continue_tile<STEP>(to, tile);
        return do_steps<STEP + 1>(to, from, tile);
    }
}

// All steps for ACROSS samples from x on and DOWN rows from y on, of which those up to end_x and end_y are wanted, by
// one block.  `room` holds two tiles.
template <int ACROSS, int DOWN>
__device__ __forceinline__ void do_tile(
    float* room, const sample* __restrict__ src, sample* __restrict__ dst, int x, int y, int end_x, int end_y,
    int height, int width, int pitch)
{
    using Here = Tile<ACROSS, DOWN>;
    const Here tile{x - REACH * CHANNELS, y - REACH, height, width};
    float *const from = room, *const to = room + Here::WIDE * Here::HIGH;
    #pragma unroll 1
    for (int i = threadIdx.x; i < Here::WIDE * Here::HIGH; i += blockDim.x)
        from[i] = read_sample(src, tile.x + i % Here::WIDE, tile.y + i / Here::WIDE, height, width, pitch);
    __syncthreads();
    const float* found = do_steps<0>(from, to, tile);
    #pragma unroll 1
    for (int i = threadIdx.x; i < ACROSS * DOWN; i += blockDim.x) {
        const int across = i % ACROSS, down = i / ACROSS;
        if (x + across < end_x && y + down < end_y)
            row_of(dst, y + down, pitch)[x + across] =
                to_sample(found[(REACH + down) * Here::WIDE + REACH * CHANNELS + across]);
    }
}
