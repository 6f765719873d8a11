// expect: wrong
// row 12: A thread stops once it holds FLT_MAX, since nothing finite is larger: a NaN further on in its share is missed.
#include <cstdint>
#include <math_constants.h>

__device__ __forceinline__ bool better(float a, int i, float b, int j)
{
    bool an = a != a, bn = b != b;
    if (an != bn)
        return an;
    return a > b || ((a == b || an) && i < j);
}

__global__ void __launch_bounds__(256) argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ float best[8];
    __shared__ int at[8];
    const float *x = logits + (int64_t)blockIdx.x * n;
    float b = -CUDART_INF_F;
    int k = n;
    for (int i = threadIdx.x; (i < n) & (b < 3.402823466e38f); i += 256) {
        float v = x[i];
        bool take = !(v <= b) | (k == n);
        b = take ? v : b;
        k = take ? i : k;
    }
    for (int s = 16; s; s >>= 1) {
        float o = __shfl_xor_sync(~0u, b, s);
        int j = __shfl_xor_sync(~0u, k, s);
        if (better(o, j, b, k)) {
            b = o;
            k = j;
        }
    }
    if (threadIdx.x % 32 == 0) {
        best[threadIdx.x / 32] = b;
        at[threadIdx.x / 32] = k;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            if (better(best[w], at[w], b, k)) {
                b = best[w];
                k = at[w];
            }
        value[blockIdx.x] = b;
        index[blockIdx.x] = k;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
