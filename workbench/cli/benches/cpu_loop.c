// The plain loops as a C programmer writes them who wants them quick: a row innermost, OpenMP over
// the rows.  What `bench cpu` holds `parallel` against.  Borders are clamped.

#include <stdlib.h>

#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
// Adding and taking away 1.5 * 2^23 rounds half to even.
#define ROUNDED(v) ((CLAMP(v, 0.0f, 255.0f) + 12582912.0f) - 12582912.0f)
#define AS_IT_IS(v) (v)

#define FILTER(NAME, SAMPLE, TO_SAMPLE)                                                            \
    void NAME(const SAMPLE* src, SAMPLE* dst, long height, long width, long channels,              \
              const float* weights, long ksize)                                                    \
    {                                                                                              \
        const long radius = ksize / 2, row = width * channels, pad = radius * channels;            \
        _Pragma("omp parallel")                                                                    \
        {                                                                                          \
            float* line = malloc((row + 2 * pad) * sizeof(float));                                 \
            float* sums = malloc(row * sizeof(float));                                             \
            _Pragma("omp for schedule(static)") for (long y = 0; y < height; ++y)                  \
            {                                                                                      \
                for (long x = 0; x < row; ++x) sums[x] = 0.0f;                                     \
                for (long j = 0; j < ksize; ++j) {                                                 \
                    const SAMPLE* from = src + CLAMP(y + j - radius, 0, height - 1) * row;         \
                    for (long x = 0; x < row; ++x) line[pad + x] = from[x];                        \
                    for (long x = 0; x < pad; ++x) {                                               \
                        line[x] = from[x % channels];                                              \
                        line[pad + row + x] = from[row - channels + x % channels];                 \
                    }                                                                              \
                    for (long i = 0; i < ksize; ++i) {                                             \
                        const float weight = weights[j * ksize + i];                               \
                        const float* shifted = line + i * channels;                                \
                        for (long x = 0; x < row; ++x) sums[x] += weight * shifted[x];             \
                    }                                                                              \
                }                                                                                  \
                for (long x = 0; x < row; ++x) dst[y * row + x] = (SAMPLE)TO_SAMPLE(sums[x]);      \
            }                                                                                      \
            free(line);                                                                            \
            free(sums);                                                                            \
        }                                                                                          \
    }

FILTER(filter_uint8, unsigned char, ROUNDED)
FILTER(filter_float32, float, AS_IT_IS)
