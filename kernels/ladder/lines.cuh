// How a block of eight warps side by side gets rows of bytes, each warp a line of memory.  Needs wide.cuh and async.cuh,
// before this file.

constexpr int WARPS = 8;                       // side by side
constexpr int LINE = 128;                      // samples of a row, a warp's: one line of memory
constexpr int STRIP = WARPS * LINE;            // and a block's
constexpr int LINE_CHUNKS = LINE / CHUNK;
// Of a row in shared memory: a block's, and a line in which what is beside it has room.  So samples have
// the same place in a line of 128 bytes here as in the picture.  Were they 16 bytes off, an asynchronous
// copy would fetch each 32 bytes twice, for the half on either side.
constexpr int ROW_CHUNKS = (WARPS + 1) * LINE_CHUNKS;

// A strip from sample `left` on, and BESIDE chunks on either side of it.  Of four rows a lane copies chunk lane % 8 of its
// warp's line of row lane / 8; the first warp and the last also what is beside the block.
template <int BESIDE>
struct Lines {
    const sample* src;
    int height, width, pitch;
    int left, x0;                // the block's first sample, and the warp's
    int chunk, beside;           // of a row of the block
    bool has_chunk, has_beside;
    // Whether the warp fills in what lies beyond the row's end, as the last one that has samples; and whether the one
    // before needs that as well, since it reads beyond all that the last has.
    bool is_last, is_shared;

    __device__ __forceinline__ Lines(const sample* src, int height, int width, int pitch, int left)
        : src(src), height(height), width(width), pitch(pitch), left(left), x0(left + threadIdx.y * LINE)
    {
        const int warp = threadIdx.y, n = threadIdx.x % 8, samples = width * CHANNELS;
        chunk = warp * LINE_CHUNKS + n, beside = (warp == 0 ? -BESIDE : WARPS * LINE_CHUNKS) + n;
        const int at_beside = left + beside * CHUNK, rest = samples - x0, rest_of_strip = samples - left;
        has_chunk = left + chunk * CHUNK < samples;
        has_beside = (warp == 0 || warp == WARPS - 1) && n < BESIDE && 0 <= at_beside && at_beside < samples;
        is_last = rest > 0 && (warp == WARPS - 1 || rest <= LINE) && rest < LINE + HALO_X;
        is_shared = LINE < rest_of_strip && rest_of_strip < STRIP
            && rest_of_strip % LINE != 0 && rest_of_strip % LINE < BESIDE * CHUNK;  // as far as it reads
    }

    __device__ __forceinline__ void begin(uint4* to, const sample* from) const {
        if (has_chunk) copy_async(to + chunk, from + chunk * CHUNK);
        if (has_beside) copy_async(to + beside, from + beside * CHUNK);
    }
    __device__ __forceinline__ void clear(uint4* to) const {
        if (has_chunk) to[chunk] = make_uint4(0, 0, 0, 0);
        if (has_beside) to[beside] = make_uint4(0, 0, 0, 0);
    }

    // What lies beyond the ends of rows that are there; then the warp has all of its samples.  each(put) calls
    // put(where it is, which of the picture) for every fourth of them, from row lane / 8 on.
    template <typename Each>
    __device__ __forceinline__ void put_beyond(const Each& each) const {
        if (x0 == 0) put(-HALO_X, each);
        if (is_last) put(width * CHANNELS, each);
        if (is_shared) __syncthreads(); else __syncwarp();
    }

    // A sample beyond an end, n samples from the block's first, of one row after another.  Nearly all come from shared
    // memory, where they are put; only to wrap, or where a strip is narrower than a halo, from the picture's other end.
    struct Put {
        const Lines& lines;
        int n, from;
        bool is_staged;

        __device__ __forceinline__ void operator()(uint4* row, int y) const {
            uint8* const line = reinterpret_cast<uint8*>(row);
            line[n] = from == OUTSIDE ? 0 : is_staged ? line[from - lines.left] : lines.far_away(from, y);
        }
    };

private:
    // A halo's samples from x on, by one warp: few need it.
    template <typename Each>
    __device__ __forceinline__ void put(int x, const Each& each) const {
        #pragma unroll 1
        for (int n = threadIdx.x % 8; n < HALO_X; n += 8) {
            const int from = border_sample(x + n, width);
            const bool is_staged = left - BESIDE * CHUNK <= from && from < left + STRIP + BESIDE * CHUNK;
            each(Put{*this, x + n - left, from, is_staged});
        }
    }
    __device__ __forceinline__ uint8 far_away(int from, int y) const {
        const int from_y = border_index(y, height);
        return from_y == OUTSIDE ? 0 : row_of(src, from_y, pitch)[from];
    }
};
