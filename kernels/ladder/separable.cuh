// The words of rungs for separable weights: rows of the picture to shared memory, their sums along x, and
// the sums of those down the columns.  Either sum is made in registers: a thread adds each value that
// it reads to all sums that the value counts for.  Needs wide.cuh and async.cuh, before this file.

// What a thread makes.  A weight's address is part of its multiply-add where the loop over taps is
// unrolled whole; beyond that size the program would no longer fit the instruction cache.
constexpr int QUAD = 4;  // columns, side by side, so that one load feeds four sums
constexpr int BAND = KSIZE <= 15 && sizeof(sample) == 4 ? 4 : 8;  // rows
constexpr int PART = sizeof(sample) == 4 ? 16 : 32;  // sums along x: of narrow samples more, since each is
                                                     // to be made a float for every part that it counts for
constexpr bool UNROLLED = KSIZE <= 31;
constexpr int TAPS = UNROLLED ? KSIZE : 16;  // along x that are unrolled

// A band of the answer needs the sums along x of its own band and of LEAD more, without the first SPARE
// rows of the uppermost.
constexpr int LEAD = (KSIZE - 1 + BAND - 1) / BAND;
constexpr int SPARE = LEAD * BAND - (KSIZE - 1);

// Rows of the picture in shared memory, for WIDTH samples and their halo, and sums of WIDTH samples: an
// odd number of sixteen bytes apart, so that threads which read the same place of neighbouring rows meet
// in no bank.
//
// But an asynchronous copy fetches 32 bytes of the picture for each half of them, where the halves go
// to different 32 bytes of shared memory: twice what is wanted.  Where memory alone is the limit, rows are
// staged as they lie in the picture: one chunk further, and an even number of chunks apart, though eight
// rows then ask each bank twice.
constexpr bool STAGED_BY_32 = sizeof(sample) == 4 && HALO_CHUNKS == 1;
constexpr int SHIFT = STAGED_BY_32 ? 1 : 0;
template <int WIDTH> constexpr int STAGE_CHUNKS = WIDTH / CHUNK + 2 * HALO_CHUNKS;
template <int WIDTH> constexpr int STAGE_STRIDE = STAGED_BY_32 ? STAGE_CHUNKS<WIDTH> + 4 : STAGE_CHUNKS<WIDTH> | 1;
template <int WIDTH> constexpr int SUMS_STRIDE = WIDTH / QUAD | 1;

// Begin to copy rows y0 + first to y0 + end - 1, of ROWS rows from y0 on, to the stage; stage[SHIFT] is
// the chunk HALO_CHUNKS left of sample x0 of row y0.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void begin_rows(
    uint4* stage, const sample* src, int x0, int y0, int first, int end,
    int height, int width, int pitch)
{
    constexpr int CHUNKS = STAGE_CHUNKS<WIDTH>, STRIDE = STAGE_STRIDE<WIDTH>, WARPS = THREADS / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    stage += SHIFT;
    // Chunks from `left` up to `right` lie inside the row; those up to `wanted` are needed at all.
    const int x = x0 - HALO_CHUNKS * CHUNK, samples = width * CHANNELS;
    const int left = max(-x / CHUNK, 0), right = min((samples - x) / CHUNK, CHUNKS);
    const int wanted = min((samples + HALO_X - x + CHUNK - 1) / CHUNK, CHUNKS);

    // 1. Those inside the row, asynchronously, a warp a row.
    if (y0 >= 0 && y0 + ROWS <= height && first == 0 && end == ROWS) {  // as a rule: few instructions
        const sample* from = row_of(src, y0 + warp, pitch) + x + lane * CHUNK;
        uint4* const to = stage + warp * STRIDE + lane;
        #pragma unroll
        for (int i = 0; i < ROWS; i += WARPS, from += WARPS * pitch)
            #pragma unroll
            for (int c = 0; c < CHUNKS; c += 32)
                if (i + warp < ROWS && left <= c + lane && c + lane < right)
                    copy_async(to + i * STRIDE + c, from + c * CHUNK);
    } else {
        #pragma unroll 1
        for (int i = warp; i < end; i += WARPS) {
            const int y = border_index(y0 + i, height);
            #pragma unroll 1
            for (int c = left + lane; c < right && i >= first; c += 32)
                if (y == OUTSIDE) stage[i * STRIDE + c] = make_uint4(0, 0, 0, 0);
                else copy_async(stage + i * STRIDE + c, row_of(src, y, pitch) + x + c * CHUNK);
        }
    }
    // 2. Those that reach beyond its ends.  They have to be waited for, so all threads share them: row by
    // row, a warp at the edge of the picture would wait once a row, and all others for it.
    const int edges = left + max(wanted - right, 0);
    #pragma unroll 1
    for (int n = first * edges + threadIdx.x; n < end * edges; n += THREADS) {
        const int i = n / edges, c = n % edges < left ? n % edges : right + n % edges - left;
        stage[i * STRIDE + c] = read_chunk(src, x + c * CHUNK, y0 + i, height, width, pitch);
    }
}

// Add COUNT taps to sums of samples side by side.  from: chunks, of which the first sample of the
// first sum meets tap 0 in sample HALO_SPARE.
template <int COUNT>
__device__ __forceinline__ void add_taps(float (&sums)[PART], const uint4* from, const float* weights)
{
    constexpr int CHUNKS = (HALO_SPARE + (COUNT - 1) * CHANNELS + PART + CHUNK - 1) / CHUNK;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        float values[CHUNK];
        unpack(from[c], values);
        #pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            #pragma unroll
            for (int s = 0; s < PART; ++s) {
                const int ahead = c * CHUNK + i - HALO_SPARE - s;  // samples from tap 0
                if (0 <= ahead && ahead % CHANNELS == 0 && ahead / CHANNELS < COUNT && !is_alpha(s))
                    sums[s] += weights[ahead / CHANNELS] * values[i];
            }
    }
}

// The sums along x for PART samples side by side, to shared memory; alpha is what it is.  from: the chunk
// HALO_CHUNKS left of the first sample.  row: the weights.
__device__ __forceinline__ void sum_along(float4* to, const uint4* from, const float* row)
{
    float sums[PART];
    #pragma unroll
    for (int s = 0; s < PART; ++s) {
        constexpr int CENTRE = HALO_CHUNKS * CHUNK;
        sums[s] = is_alpha(s) ? chunk_sample(from[(CENTRE + s) / CHUNK], (CENTRE + s) % CHUNK) : 0.0f;
    }
    constexpr int STEP = TAPS * CHANNELS / CHUNK;  // chunks; whole where there is more than one step
    constexpr int STEPS = KSIZE / TAPS;
    #pragma unroll 1
    for (int n = 0; n < STEPS; ++n) add_taps<TAPS>(sums, from + n * STEP, row + n * TAPS);
    if constexpr (KSIZE % TAPS != 0)
        add_taps<KSIZE % TAPS>(sums, from + STEPS * STEP, row + STEPS * TAPS);
    #pragma unroll
    for (int q = 0; q < PART; q += QUAD)
        to[q / QUAD] = make_float4(sums[q], sums[q + 1], sums[q + 2], sums[q + 3]);
}

// Sum the first ROWS rows of the stage along x.  Neighbouring threads are in neighbouring rows.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void sum_rows(float4* to, const uint4* stage, const float* row)
{
    #pragma unroll 1
    for (int n = threadIdx.x; n < ROWS * (WIDTH / PART); n += THREADS) {
        const int i = n % ROWS, part = n / ROWS;
        sum_along(to + i * SUMS_STRIDE<WIDTH> + part * (PART / QUAD),
                  stage + SHIFT + i * STAGE_STRIDE<WIDTH> + part * (PART / CHUNK), row);
    }
}

// Add BAND rows of four columns to the sums of BAND rows.  tap: what row 0 is to sums[0].
// ALL: every row counts for every sum.
template <bool ALL>
__device__ __forceinline__ void add_band(
    float (&sums)[BAND][QUAD], const float4* rows, int stride, int tap, const float* column)
{
    #pragma unroll
    for (int i = 0; i < BAND; ++i) {
        if (!ALL && (tap + i < 0 || tap + i - (BAND - 1) >= KSIZE)) continue;
        const float4 row = rows[i * stride];
        #pragma unroll
        for (int r = 0; r < BAND; ++r) {
            const int k = tap + i - r;
            if (!ALL && (k < 0 || k >= KSIZE)) continue;
            const float weight = column[k];
            if (!is_alpha(0)) sums[r][0] += weight * row.x;
            if (!is_alpha(1)) sums[r][1] += weight * row.y;
            if (!is_alpha(2)) sums[r][2] += weight * row.z;
            if (!is_alpha(3)) sums[r][3] += weight * row.w;
        }
    }
}

// What the sums of BAND rows of four columns begin with: the offset, but alpha with what it is.  Here and
// below band_of(n) is the first row of band n in shared memory, STRIDE apart; band 0 is the uppermost.
template <int STRIDE, typename BandOf>
__device__ __forceinline__ void begin_down(float (&sums)[BAND][QUAD], const BandOf& band_of) {
    #pragma unroll
    for (int r = 0; r < BAND; ++r) {
        sums[r][0] = sums[r][1] = sums[r][2] = sums[r][3] = OFFSET;
        if constexpr (HAS_ALPHA) {
            constexpr int CENTRE = SPARE + RADIUS;
            const float4 centre = band_of((CENTRE + r) / BAND)[(CENTRE + r) % BAND * STRIDE];
            if (is_alpha(1)) sums[r][1] = centre.y;
            sums[r][3] = centre.w;
        }
    }
}

// Add what the bands hold, times the weights of a column.
template <int STRIDE, typename BandOf>
__device__ __forceinline__ void add_down(
    float (&sums)[BAND][QUAD], const BandOf& band_of, const float* column)
{
    // The first two bands and the last hold rows that do not count for all sums.
    add_band<false>(sums, band_of(0), STRIDE, -SPARE, column);
    if (LEAD >= 1) add_band<false>(sums, band_of(1), STRIDE, BAND - SPARE, column);
    #pragma unroll (UNROLLED ? LEAD + 1 : 1)
    for (int n = 2; n < LEAD; ++n) add_band<true>(sums, band_of(n), STRIDE, n * BAND - SPARE, column);
    if (LEAD >= 2) add_band<false>(sums, band_of(LEAD), STRIDE, LEAD * BAND - SPARE, column);
}

// Round the sums and store them at sample x, a multiple of four, of rows y to y + rows - 1.
__device__ __forceinline__ void write_band(
    sample* dst, int x, int y, int rows, int pitch, const float (&sums)[BAND][QUAD])
{
    sample* to = row_of(dst, y, pitch) + x;
    #pragma unroll
    for (int r = 0; r < BAND; ++r, to += pitch) {
        if (r >= rows) return;
        if constexpr (sizeof(sample) == 4)
            *reinterpret_cast<float4*>(to) = make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
        else if constexpr (sizeof(sample) == 2)
            *reinterpret_cast<uint2*>(to) = make_uint2(pack_word(sums[r]), pack_word(sums[r] + 2));
        else
            *reinterpret_cast<unsigned*>(to) = pack_word(sums[r]);
    }
}
