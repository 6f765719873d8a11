// expect: correct
// Value and place in one key of 64 bits; nvcc's constants are others than NVRTC's, and so are the cases made of them.
#include <cstdint>

// Value and place in one key, compared as an integer; NaN is above all, both zeros are one.
__device__ unsigned long long key_of(float v, unsigned i)
{
    unsigned bits = __float_as_uint(v + 0.0f);
    unsigned key = isnan(v) ? 0xffffffffu : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)key << 32 | ~i;
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ unsigned long long warps[8];
    const float *x = logits + (int64_t)blockIdx.x * n;
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        best = max(best, key_of(__ldg(x + i), i));
    for (int k = 16; k; k >>= 1)
        best = max(best, __shfl_xor_sync(~0u, best, k));
    if ((threadIdx.x & 31) == 0)
        warps[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            best = max(best, warps[w]);
        unsigned at = ~(unsigned)best;
        value[blockIdx.x] = x[at];
        index[blockIdx.x] = at;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
