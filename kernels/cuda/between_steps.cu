// What lies between the steps of a list, after the prelude: samples widened to float32, a step's
// output mixed with its input, the part that is filtered, and the last samples rounded.
//
// A thread has VECTOR samples of a row: moved together they take the fewest transactions.  The last
// ones of a row may be padding, as a pitch is a multiple of 128 bytes.
constexpr int VECTOR = 4;
template <typename T> struct __align__(VECTOR * sizeof(T)) vector_of { T at[VECTOR]; };

#define EACH_VECTOR(x, y)                                                      \
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;            \
    if (x < samples)                                                           \
        for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)

template <typename T>
__device__ __forceinline__ vector_of<T>& vector_at(T* picture, int x, int y, int pitch) {
    return *reinterpret_cast<vector_of<T>*>(row_of(picture, y, pitch) + x);
}

extern "C" __global__ void widen(sample* from, float* to, int height, int samples, int from_pitch,
                                 int to_pitch) {
    EACH_VECTOR(x, y) {
        const vector_of<sample> given = vector_at(from, x, y, from_pitch);
        vector_of<float> wide;
        for (int i = 0; i < VECTOR; ++i) wide.at[i] = given.at[i];
        vector_at(to, x, y, to_pitch) = wide;
    }
}

extern "C" __global__ void narrow(float* from, sample* to, int height, int samples, int from_pitch,
                                  int to_pitch) {
    EACH_VECTOR(x, y) {
        const vector_of<float> wide = vector_at(from, x, y, from_pitch);
        vector_of<sample> rounded;
        for (int i = 0; i < VECTOR; ++i) rounded.at[i] = to_sample(wide.at[i]);
        vector_at(to, x, y, to_pitch) = rounded;
    }
}

extern "C" __global__ void blend(sample* before, sample* after, int height, int samples, int pitch,
                                 float share, float threshold) {
    EACH_VECTOR(x, y) {
        const vector_of<sample> was = vector_at(before, x, y, pitch);
        vector_of<sample> is = vector_at(after, x, y, pitch);
        for (int i = 0; i < VECTOR; ++i)
            if (!is_alpha(x + i)) is.at[i] = to_sample(blended(was.at[i], is.at[i], share, threshold));
        vector_at(after, x, y, pitch) = is;
    }
}

// Inside the part that is filtered: the shares of a pixel's row and of its column are multiplied.
extern "C" __global__ void inside(sample* before, sample* after, int height, int samples, int pitch,
                                  const float* rows, const float* columns) {
    EACH_VECTOR(x, y) {
        const vector_of<sample> was = vector_at(before, x, y, pitch);
        vector_of<sample> is = vector_at(after, x, y, pitch);
        for (int i = 0; i < VECTOR; ++i) {
            const int pixel = (x + i) / CHANNELS;
            const float share = x + i < samples ? __fmul_rn(rows[y], columns[pixel]) : 1.0f;
            if (share == 0.0f) is.at[i] = was.at[i];
            else if (share < 1.0f && !is_alpha(x + i))
                is.at[i] = to_sample(mixed(was.at[i], is.at[i], share));
        }
        vector_at(after, x, y, pitch) = is;
    }
}
