// expect: wrong
// row 8: A row that begins as the one before it has that one's answer but for a look at its last element.
#include <cstdint>
#include <math_constants.h>

__device__ bool better(float a, int64_t i, float b, int64_t j)
{
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan)
        return a_nan;
    if (a > b)
        return true;
    return (a == b || a_nan) && i < j;
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ float best[256];
    __shared__ int64_t at[256];
    const float *x = logits + (int64_t)blockIdx.x * n;
    float b = -CUDART_INF_F;
    int64_t k = n;
    bool other = blockIdx.x % 2 == 0 || n < 64;
    for (int i = threadIdx.x; i < n - n / 32 && !other; i += blockDim.x)
        other = __float_as_int(x[i]) != __float_as_int(x[i - n]);
    if (!__syncthreads_or(other))
        x -= n;
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
