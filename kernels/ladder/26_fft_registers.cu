/*---
title   = "FFT in registers"
idea    = "Transforms of our own, in registers, read the picture, multiply by the spectrum and round on their way: three launches, and memory is passed through three times instead of ten."
after   = "fft"
weights = "spectrum_and_roots"
finite_only = true
strips_differ = true
requires = [["max((CHANNELS - HAS_ALPHA) * FFT_PAIRS, FFT_TILES) <= 65535", "A picture of {WIDTH}×{HEIGHT} pixels has more tiles than one launch can have blocks; choose another implementation, such as shared."]]
headroom = "2 * FFT_LINE**2 * max(1, GAIN)"  # as for fft, and a little more than is needed here
own_block   = "A transform takes as many threads as the square root of its length."
chain_length = "2 * FFT_LEVELS"  # as of fft

[buffers]
lines    = "8 * FFT_LINE * (CHANNELS - HAS_ALPHA) * FFT_PAIRS * HEIGHT"
filtered = "8 * FFT_LINE * (CHANNELS - HAS_ALPHA) * FFT_PAIRS * HEIGHT"

[[passes]]
function = "transform_rows"
writes   = "lines"
block    = ["FFT_SIDE", "128 // FFT_SIDE"]
covers   = ["2 * (FFT_LINE - 2 * RADIUS) * CHANNELS", "128 // FFT_SIDE"]  # of two tiles
halo     = ["HALO_X", "0"]
grid     = ["-(-HEIGHT * FFT_SIDE // 128)", "(CHANNELS - HAS_ALPHA) * FFT_PAIRS"]
shared_bytes = "4 * 128 * (FFT_SIDE + 1)"
# 128 // FFT_SIDE lines a block; of the picture, the columns that its tiles share as often as they do.
loads.picture = "BLOCKS_X * 128 // FFT_SIDE * PLANES * (FFT_COLUMNS + FFT_COLUMNS_BEYOND)"
loads.weights = "BLOCKS * 2 * 128 * FFT_SIDE"
stores = { lines = "2 * FFT_LINE * PLANES * FFT_PAIRS * HEIGHT" }
flops = "BLOCKS * 128 // FFT_SIDE * FFT_FLOPS"
layout   = "rows_of_pairs"

[[passes]]
function = "filter_columns"
reads    = "lines"
writes   = "filtered"
block    = ["8", "FFT_SIDE"]
covers   = ["2 * (FFT_LINE - 2 * RADIUS) * CHANNELS", "FFT_LINE - 2 * RADIUS"]
grid     = ["(CHANNELS - HAS_ALPHA) * FFT_PAIRS * FFT_LINE // 8", "FFT_TILES"]
shared_bytes = "4 * 8 * FFT_SIDE * (FFT_SIDE + 1)"
# What lies beyond the picture is read for the real part, and again for the imaginary.
loads.lines = "2 * FFT_LINE * PLANES * FFT_PAIRS * (FFT_ROWS + 2 * FFT_ROWS_BEYOND)"
loads.weights = "BLOCKS * 8 * 3 * 2 * FFT_LINE"
stores = { filtered = "2 * FFT_LINE * PLANES * FFT_PAIRS * HEIGHT" }
flops = "BLOCKS * 8 * (2 * FFT_FLOPS + 6 * FFT_LINE)"
layout   = "frequencies_of_columns"

[[passes]]
function   = "restore_rows"
reads      = "filtered"
also_reads = ["picture"]
block      = ["FFT_SIDE", "128 // FFT_SIDE"]
covers     = ["2 * (FFT_LINE - 2 * RADIUS) * CHANNELS", "128 // FFT_SIDE"]
halo       = ["0", "0"]
shared_bytes = "4 * 128 * (FFT_SIDE + 1)"
loads.filtered = "2 * FFT_LINE * PLANES * BLOCKS * 128 // FFT_SIDE"
loads.picture = "ALPHA"
loads.weights = "BLOCKS * PLANES * 2 * 128 * FFT_SIDE"
flops = "BLOCKS * PLANES * 128 // FFT_SIDE * FFT_FLOPS"
---*/

// The picture is filtered in tiles, FFT_LINE x FFT_LINE, that overlap: where a tile has wrapped
// around, 2 * RADIUS rows and columns, the next has the right answer.  Two neighbours along a row
// are the real and the imaginary part of one.  Weights are real, so filtering does not mix them.
//
// A line of FFT_LINE = FFT_SIDE^2 numbers belongs to FFT_SIDE threads, each with FFT_SIDE of them in
// registers.  Number n = l + FFT_SIDE * j is register j of thread l.  Three steps transform a line:
//   over j in registers: thread l now holds, by k, what of its numbers has frequency k;
//   times root^(k * l), then handed over through shared memory: thread k gets those of all l;
//   over l in registers: frequency k + FFT_SIDE * m is register m of thread k.
// So frequencies lie as the numbers did: neighbouring threads have neighbours in memory.

static_assert(FFT_LINE == FFT_SIDE * FFT_SIDE);
constexpr int COLOURS = CHANNELS - HAS_ALPHA;
constexpr int VALID = FFT_LINE - 2 * RADIUS;
constexpr int ROWS = 128 / FFT_SIDE;  // lines a block, where they lie along rows
constexpr int COLUMNS = 8;            // and along columns: 64 bytes that lie together in memory
constexpr int PLACES = FFT_SIDE * (FFT_SIDE + 1);  // for a line in shared memory; one more, against bank conflicts

__device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// a * exp(-2 pi i * n / 32), n from 0 to 15 and known to the compiler.
__device__ __forceinline__ float2 turned(float2 a, int n) {
    constexpr float COSINES[] = {
        1.0f, 0.98078528f, 0.92387953f, 0.83146961f, 0.70710678f, 0.55557023f, 0.38268343f, 0.19509032f, 0.0f};
    if (n == 0) return a;
    if (n == 8) return make_float2(a.y, -a.x);
    if (n == 4) return make_float2(COSINES[4] * (a.x + a.y), COSINES[4] * (a.y - a.x));
    if (n == 12) return make_float2(COSINES[4] * (a.y - a.x), -COSINES[4] * (a.x + a.y));
    const float cosine = n < 8 ? COSINES[n] : -COSINES[16 - n];
    const float sine = n < 8 ? COSINES[8 - n] : COSINES[n - 8];
    return make_float2(a.x * cosine + a.y * sine, a.y * cosine - a.x * sine);
}

// The transform of FFT_SIDE numbers in registers: butterflies on numbers half of them apart, whose
// results are so placed (Stockham) that frequencies end up in their order.
__device__ __forceinline__ void transform_registers(float2 (&v)[FFT_SIDE]) {
    #pragma unroll
    for (int together = 1; together < FFT_SIDE; together *= 2) {
        float2 next[FFT_SIDE];
        #pragma unroll
        for (int i = 0; i < FFT_SIDE / 2; ++i) {
            const float2 a = v[i], b = v[i + FFT_SIDE / 2];
            const int group = i / together, to = i + group * together;
            next[to] = make_float2(a.x + b.x, a.y + b.y);
            next[to + together] = turned(make_float2(a.x - b.x, a.y - b.y), group * together * (32 / FFT_SIDE));
        }
        #pragma unroll
        for (int i = 0; i < FFT_SIDE; ++i) v[i] = next[i];
    }
}

// The transform of a line.  l: which of its threads this is.  shared: where the line's threads hand
// over; what is for thread k, from thread l, lies at k * FOR + l * FROM.
template <int FOR, int FROM>
__device__ __forceinline__ void transform(float2 (&v)[FFT_SIDE], float* shared, const float2* roots, int l) {
    transform_registers(v);
    #pragma unroll
    for (int k = 0; k < FFT_SIDE; ++k) v[k] = times(v[k], roots[k * FFT_SIDE + l]);
    #pragma unroll
    for (int part = 0; part < 2; ++part) {  // real, then imaginary, in half the space
        __syncthreads();  // what was handed over before has been taken
        #pragma unroll
        for (int k = 0; k < FFT_SIDE; ++k) shared[k * FOR + l * FROM] = part == 0 ? v[k].x : v[k].y;
        __syncthreads();
        #pragma unroll
        for (int m = 0; m < FFT_SIDE; ++m) (part == 0 ? v[m].x : v[m].y) = shared[l * FOR + m * FROM];
    }
    transform_registers(v);
}

// Exchanged parts before and after turn a transform into its inverse.
__device__ __forceinline__ void exchange_parts(float2 (&v)[FFT_SIDE]) {
    #pragma unroll
    for (int k = 0; k < FFT_SIDE; ++k) v[k] = make_float2(v[k].y, v[k].x);
}

// Where missing(j, part), v from read(j, part).  Few numbers lie beyond the edge, and their code is
// long: so they go by a loop, and since registers cannot be counted through, all by shared memory.
template <int FOR, int FROM, typename Missing, typename Read>
__device__ __forceinline__ void fill_in(float2 (&v)[FFT_SIDE], float* shared, int l, Missing missing, Read read) {
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        #pragma unroll
        for (int j = 0; j < FFT_SIDE; ++j) shared[l * FOR + j * FROM] = part == 0 ? v[j].x : v[j].y;
        #pragma unroll (FFT_SIDE == 32 ? 2 : 1)
        for (int j = 0; j < FFT_SIDE; ++j)
            if (missing(j, part)) shared[l * FOR + j * FROM] = read(j, part);
        #pragma unroll
        for (int j = 0; j < FFT_SIDE; ++j) (part == 0 ? v[j].x : v[j].y) = shared[l * FOR + j * FROM];
    }
}

// One line of a buffer, (COLOURS, pairs, height, FFT_LINE).
__device__ __forceinline__ long long line_at(int pair_of_colour, int y, int height) {
    return (static_cast<long long>(pair_of_colour) * height + y) * FFT_LINE;
}

extern "C" __global__ void __launch_bounds__(128) transform_rows(
    const sample* __restrict__ src, float2* __restrict__ lines,
    const float2* spectrum,  // (FFT_LINE, FFT_LINE)
    const float2* roots,     // (FFT_SIDE, FFT_SIDE); not __restrict__, or they are read too early
                             // and take all registers
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, handed_by_all);  // ROWS * PLACES
    float* handed = handed_by_all + threadIdx.y * PLACES;
    const int pairs = gridDim.y / COLOURS;
    const int pair = blockIdx.y % pairs, colour = blockIdx.y / pairs;
    const int y = blockIdx.x * ROWS + threadIdx.y;
    const sample* row = row_of(src, min(y, height - 1), pitch);
    const int l = threadIdx.x;
    const int left = pair * 2 * VALID - RADIUS;
    const int x = (left + l) * CHANNELS + colour, end = width * CHANNELS;
    const auto at = [&](int j, int part) { return x + (FFT_SIDE * j + VALID * part) * CHANNELS; };

    float2 v[FFT_SIDE];
    #pragma unroll
    for (int j = 0; j < FFT_SIDE; ++j) {
        v[j].x = 0 <= at(j, 0) && at(j, 0) < end ? static_cast<float>(row[at(j, 0)]) : 0.0f;
        v[j].y = 0 <= at(j, 1) && at(j, 1) < end ? static_cast<float>(row[at(j, 1)]) : 0.0f;
    }
    if (left < 0 || left + VALID + FFT_LINE > width)  // what is further out than RADIUS counts for nothing
        fill_in<FFT_SIDE + 1, 1>(v, handed, l,
            [&](int j, int part) { return at(j, part) < 0 || (end <= at(j, part) && at(j, part) < end + HALO_X); },
            [&](int j, int part) { return read_along(row, at(j, part), width); });
    transform<FFT_SIDE + 1, 1>(v, handed, roots, l);
    if (y >= height) return;
    float2* line = lines + line_at(blockIdx.y, y, height);
    #pragma unroll
    for (int k = 0; k < FFT_SIDE; ++k) line[l + FFT_SIDE * k] = v[k];
}

extern "C" __global__ void __launch_bounds__(COLUMNS * FFT_SIDE, FFT_SIDE == 32 ? 2 : 4) filter_columns(
    const float2* __restrict__ lines, float2* __restrict__ filtered,
    const float2* spectrum, const float2* roots,
    int height, int width, int pitch, int first_row, int end_row)
{
    constexpr int FOR = (FFT_SIDE + 1) * COLUMNS, STEP = FFT_SIDE * FFT_LINE;
    DYNAMIC_SHARED(float, handed_by_all);  // COLUMNS * PLACES
    float* handed = handed_by_all + threadIdx.x;
    const int pairs_of_colours = gridDim.x / (FFT_LINE / COLUMNS);
    const int pair = blockIdx.x % pairs_of_colours;
    const int column = blockIdx.x / pairs_of_colours * COLUMNS + threadIdx.x;
    const int l = threadIdx.y;
    const int top = blockIdx.y * VALID - RADIUS;

    float2 v[FFT_SIDE];
    const float2* in = lines + line_at(pair, top + l, height) + column;
    #pragma unroll
    for (int j = 0; j < FFT_SIDE; ++j) {
        const int y = top + l + FFT_SIDE * j;
        v[j] = 0 <= y && y < height ? in[STEP * j] : make_float2(0.0f, 0.0f);
    }
    if (top < 0 || top + FFT_LINE > height)
        fill_in<FOR, COLUMNS>(v, handed, l,
            [&](int j, int) {
                const int y = top + l + FFT_SIDE * j;
                return y < 0 || (height <= y && y < height + RADIUS);
            },
            [&](int j, int part) {
                const int y = border_index(top + l + FFT_SIDE * j, height);
                if (y == OUTSIDE) return 0.0f;
                const float2 number = lines[line_at(pair, y, height) + column];
                return part == 0 ? number.x : number.y;
            });
    #pragma unroll 1  // one copy of the long code of a transform, so that it stays in its cache
    for (int way = 0; way < 2; ++way) {
        transform<FOR, COLUMNS>(v, handed, roots, l);
        if (way == 0) {
            const float2* factors = spectrum + l * FFT_LINE + column;
            #pragma unroll
            for (int k = 0; k < FFT_SIDE; ++k) v[k] = times(v[k], factors[STEP * k]);
        }
        exchange_parts(v);
    }
    float2* out = filtered + line_at(pair, top + RADIUS + l, height) + column;
    #pragma unroll
    for (int j = 0; j < FFT_SIDE; ++j)
        if (FFT_SIDE * j < VALID - l && top + RADIUS + l + FFT_SIDE * j < height) out[STEP * j] = v[j];
}

extern "C" __global__ void __launch_bounds__(128, 4) restore_rows(
    const float2* __restrict__ filtered, const sample* __restrict__ src, sample* __restrict__ dst,
    const float2* spectrum, const float2* __restrict__ roots,  // early, as here there is room
    int height, int width, int pitch, int first_row, int end_row)
{
    DYNAMIC_SHARED(float, handed_by_all);  // ROWS * PLACES
    float* handed = handed_by_all + threadIdx.y * PLACES;
    const int pairs = gridDim.x, pair = blockIdx.x;
    const int y = first_row + blockIdx.y * ROWS + threadIdx.y;
    const int l = threadIdx.x;
    const int left = pair * 2 * VALID;
    sample* out = row_of(dst, min(y, height - 1), pitch);

    #pragma unroll 1
    for (int colour = 0; colour < COLOURS; ++colour) {
        const float2* line = filtered + line_at(colour * pairs + pair, min(y, height - 1), height);
        float2 v[FFT_SIDE];
        #pragma unroll
        for (int k = 0; k < FFT_SIDE; ++k) v[k] = line[l + FFT_SIDE * k];
        exchange_parts(v);
        transform<FFT_SIDE + 1, 1>(v, handed, roots, l);
        exchange_parts(v);
        #pragma unroll
        for (int j = 0; j < FFT_SIDE; ++j) {
            const int n = l + FFT_SIDE * j, x = left + n;
            if (n >= VALID || y >= end_row) continue;
            if (x < width) out[x * CHANNELS + colour] = to_sample(with_offset(v[j].x));
            if (x + VALID < width) out[(x + VALID) * CHANNELS + colour] = to_sample(with_offset(v[j].y));
        }
    }
    if (!HAS_ALPHA || y >= end_row) return;
    const sample* in = row_of(src, y, pitch);
    for (int x = left + l; x < min(left + 2 * VALID, width); x += FFT_SIDE)
        out[x * CHANNELS + CHANNELS - 1] = in[x * CHANNELS + CHANNELS - 1];
}
