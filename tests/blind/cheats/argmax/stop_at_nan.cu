// wrong because: a thread stops when ANY thread has met a NaN, though its own later elements may hold a NaN of lower index: n = 4096, NaN at 5 * 256 and at 8 * 256 + 255, when the last warp runs ahead of the first (rows = 1): index 2303 for 1280.
#include <cstdint>
#include <math_constants.h>

__device__ __forceinline__ bool better(float a, int i, float b, int j)
{
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan)
        return a_nan;
    if (a > b)
        return true;
    return (a == b || a_nan) && i < j;
}

__global__ void __launch_bounds__(256) argmax_kernel(float *value, int64_t *index, const float *__restrict__ logits, int n)
{
    __shared__ int seen;
    __shared__ float best[8];
    __shared__ int at[8];
    const float *x = logits + (int64_t)blockIdx.x * n;
    if (threadIdx.x == 0)
        seen = 0;
    __syncthreads();
    float b = -CUDART_INF_F;
    int k = n;
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = x[i];
        if (better(v, i, b, k)) {
            b = v;
            k = i;
        }
        if (v != v) { // nothing beats the first NaN
            atomicExch(&seen, 1);
            break;
        }
        if (atomicOr(&seen, 0))
            break;
    }
    for (int s = 16; s > 0; s >>= 1) {
        float ob = __shfl_xor_sync(~0u, b, s);
        int ok = __shfl_xor_sync(~0u, k, s);
        if (better(ob, ok, b, k)) {
            b = ob;
            k = ok;
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
