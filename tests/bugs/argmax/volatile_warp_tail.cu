// expect: unsafe words race
// row 15: The last six steps of the tree rely on volatile and on a warp in lockstep.
#include <cstdint>
#include <math_constants.h>

__device__ bool better(float a, int i, float b, int j)
{
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan)
        return a_nan;
    return a > b || ((a == b || a_nan) && i < j);
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ volatile float best[256];
    __shared__ volatile int at[256];
    const float *x = logits + (int64_t)blockIdx.x * n;
    float b = -CUDART_INF_F;
    int k = n, t = threadIdx.x;
    for (int i = t; i < n; i += 256)
        if (better(x[i], i, b, k)) {
            b = x[i];
            k = i;
        }
    best[t] = b;
    at[t] = k;
    __syncthreads();
    for (int s = 128; s > 32; s /= 2) {
        if (t < s && better(best[t + s], at[t + s], best[t], at[t])) {
            best[t] = best[t + s];
            at[t] = at[t + s];
        }
        __syncthreads();
    }
    if (t < 32)
        for (int s = 32; s > 0; s /= 2)
            if (better(best[t + s], at[t + s], best[t], at[t])) {
                best[t] = best[t + s];
                at[t] = at[t + s];
            }
    if (t == 0) {
        value[blockIdx.x] = best[0];
        index[blockIdx.x] = at[0];
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
