// wrong because: A packed key per element; a NaN with the sign bit set (what 0/0 gives on x86) sorts below everything, so rows that hold one are wrong.
#include <cstdint>

__device__ __forceinline__ unsigned long long key_of(float x, unsigned i)
{
    unsigned b = __float_as_uint(x + 0.0f);
    b ^= (unsigned)((int)b >> 31) | 0x80000000u;
    return ((unsigned long long)b << 32) | (0xffffffffu - i);
}

__global__ void __launch_bounds__(512) argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ unsigned long long best[16];
    const float *x = logits + (int64_t)blockIdx.x * n;
    unsigned long long b = 0;
    int vec = (n & 3) == 0 ? n / 4 : 0;
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    for (int i = threadIdx.x; i < vec; i += 512) {
        float4 v = x4[i];
        b = max(b, key_of(v.x, 4 * i));
        b = max(b, key_of(v.y, 4 * i + 1));
        b = max(b, key_of(v.z, 4 * i + 2));
        b = max(b, key_of(v.w, 4 * i + 3));
    }
    for (int i = vec * 4 + threadIdx.x; i < n; i += 512)
        b = max(b, key_of(x[i], i));
    for (int k = 16; k; k >>= 1)
        b = max(b, __shfl_xor_sync(0xffffffffu, b, k));
    if ((threadIdx.x & 31) == 0)
        best[threadIdx.x >> 5] = b;
    __syncthreads();
    if (threadIdx.x < 32) {
        b = threadIdx.x < 16 ? best[threadIdx.x] : 0ull;
        for (int k = 8; k; k >>= 1)
            b = max(b, __shfl_xor_sync(0xffffffffu, b, k));
        if (threadIdx.x == 0) {
            unsigned at = 0xffffffffu - (unsigned)b;
            value[blockIdx.x] = x[at];
            index[blockIdx.x] = at;
        }
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 512, 0, stream>>>(value, index, logits, n);
}
