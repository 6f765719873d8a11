// WRONG: of two lanes that both hold a NaN the lower lane is kept, whatever the places: better() says nothing of equal NaNs; n = 1024 with NaNs at 1 and 512 gives 512.
#include <cstdint>
#include <math_constants.h>

__device__ bool better(float a, int i, float b, int j)
{
    if (isnan(a))
        return !isnan(b);
    return a > b || (a == b && i < j);
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ float sv[16];
    __shared__ int si[16];
    const float *x = logits + (int64_t)blockIdx.x * n;
    float b = -CUDART_INF_F;
    int k = n;
    for (int i = threadIdx.x; i < n; i += 512)
        if (better(x[i], i, b, k))
            b = x[i], k = i;
    for (int s = 16; s; s >>= 1) {
        float ob = __shfl_down_sync(~0u, b, s);
        int ok = __shfl_down_sync(~0u, k, s);
        if (better(ob, ok, b, k))
            b = ob, k = ok;
    }
    if (threadIdx.x % 32 == 0)
        sv[threadIdx.x / 32] = b, si[threadIdx.x / 32] = k;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 16; w++)
            if (better(sv[w], si[w], b, k))
                b = sv[w], k = si[w];
        value[blockIdx.x] = b;
        index[blockIdx.x] = k;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 512, 0, stream>>>(value, index, logits, n);
}
