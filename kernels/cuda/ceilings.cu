// What this device can do at most, measured: kernels that do one thing and nothing else.
// CHAINS and REPEATS come as -D macros.

// Multiply-adds, as many as there are lanes for: CHAINS sums a thread that do not wait for one
// another, so that a new one may begin at every clock, REPEATS times a round without a branch.
extern "C" __global__ void multiply_adds(float factor, float term, int rounds, float* sink)
{
    float sums[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++) sums[i] = static_cast<float>(threadIdx.x + i);
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int again = 0; again < REPEATS; again++) {
#pragma unroll
            for (int i = 0; i < CHAINS; i++) sums[i] = fmaf(sums[i], factor, term);
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) total += sums[i];
    if (total == -1.0f) *sink = total;  // never so, but the compiler cannot know
}

// Read `count` times sixteen bytes again and again, past the L1: what fits the L2 comes from there.
extern "C" __global__ void read_past_l1(const uint4* words, int count, int passes, unsigned* sink)
{
    unsigned seen = 0;
    const int stride = gridDim.x * blockDim.x;
    for (int pass = 0; pass < passes; pass++) {
#pragma unroll 4
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
            unsigned x, y, z, w;  // volatile: each pass reads anew
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(words + i));
            seen |= x | y | z | w;
        }
    }
    if (seen == 0xdeadbeefu) *sink = seen;
}
