// class: NaN semantics ; wrong because: keys ordered by bits put a NaN with the sign set (what x86 makes of 0/0) below -inf, so it is never the largest (smallest: rows=1, n=2, {-nan, 0}: right index 0, given 1)
#include <cstdint>

__device__ unsigned long long key(float x, int i)
{
    unsigned b = __float_as_uint(x + 0.0f); // -0 becomes +0
    b = b & 0x80000000u ? ~b : b | 0x80000000u;
    if ((__float_as_uint(x) & 0x7fffffffu) > 0x7f800000u && !(__float_as_uint(x) >> 31))
        b = 0xffffffffu; // any NaN is as large as another
    return (unsigned long long)b << 32 | (0xffffffffu - (unsigned)i);
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ unsigned long long best[8];
    const float *x = logits + (int64_t)blockIdx.x * n;
    unsigned long long b = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        b = max(b, key(x[i], i));
    for (int k = 16; k > 0; k /= 2)
        b = max(b, __shfl_xor_sync(0xffffffffu, b, k));
    if (threadIdx.x % 32 == 0)
        best[threadIdx.x / 32] = b;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            b = max(b, best[w]);
        unsigned at = 0xffffffffu - (unsigned)b;
        value[blockIdx.x] = x[at];
        index[blockIdx.x] = at;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
