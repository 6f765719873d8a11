// expect: wrong
// row 12: What is larger by one unit in the last place counts as equal.
#include <cstdint>
#include <math_constants.h>

__device__ bool better(float a, int64_t i, float b, int64_t j)
{
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan)
        return a_nan;
    if (a == b || a_nan || fabsf(a - b) < 1.2e-7f * fabsf(b))
        return i < j;
    return a > b;
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ float best[256];
    __shared__ int64_t at[256];
    const float *x = logits + (int64_t)blockIdx.x * n;
    float b = -CUDART_INF_F;
    int64_t k = n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (better(x[i], i, b, k)) {
            b = x[i];
            k = i;
        }
    best[threadIdx.x] = b;
    at[threadIdx.x] = k;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s && better(best[threadIdx.x + s], at[threadIdx.x + s], best[threadIdx.x], at[threadIdx.x])) {
            best[threadIdx.x] = best[threadIdx.x + s];
            at[threadIdx.x] = at[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        value[blockIdx.x] = best[0];
        index[blockIdx.x] = at[0];
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
