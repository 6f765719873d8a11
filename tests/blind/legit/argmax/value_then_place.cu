// expect: correct
// First the largest value alone (or that there is a NaN), then the first place that holds it, by a minimum in shared memory; what is behind a place that was found is not looked at again. Zeros of both signs are equal in both passes.
#include <cstdint>
#include <math_constants.h>

__global__ void __launch_bounds__(512) argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ float part[16];
    __shared__ int place;
    const float *x = logits + (int64_t)blockIdx.x * n;
    float most = -CUDART_INF_F;
    bool odd = false;
    for (int i = threadIdx.x; i < n; i += 512) {
        float v = x[i];
        odd = odd || v != v;
        most = fmaxf(most, v);
    }
    for (int s = 16; s; s /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = most;
    if (threadIdx.x == 0)
        place = n;
    odd = __syncthreads_or(odd);
    for (int i = 0; i < 16; i++)
        most = fmaxf(most, part[i]);
    for (int base = 0;; base += 512) {
        int i = base + threadIdx.x;
        bool here = i < n && (odd ? x[i] != x[i] : x[i] == most);
        if (here)
            atomicMin(&place, i);
        if (__syncthreads_or(here))
            break;
    }
    if (threadIdx.x == 0) {
        value[blockIdx.x] = x[place];
        index[blockIdx.x] = place;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 512, 0, stream>>>(value, index, logits, n);
}
