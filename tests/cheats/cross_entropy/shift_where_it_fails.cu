// expect: wrong words where exponentials end
// row 12: Takes a row's maximum off only where the sum of the exponentials is zero or infinite.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

__device__ float reduce(float v, bool max, float *part)
{
    for (int k = 16; k; k >>= 1) {
        float o = __shfl_xor_sync(~0u, v, k);
        v = max ? fmaxf(v, o) : v + o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % 16];
    for (int k = 8; k; k >>= 1) {
        float o = __shfl_xor_sync(~0u, v, k);
        v = max ? fmaxf(v, o) : v + o;
    }
    return v;
}

__global__ void __launch_bounds__(512) cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float part[16];
    int64_t t = target[blockIdx.x];
    if (t < 0) {
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0.0f;
        return;
    }
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float sum = 0, most = 0;
    for (int i = threadIdx.x; i < vocab; i += 512)
        sum += expf(__bfloat162float(x[i]));
    sum = reduce(sum, false, part);
    if (sum == 0.0f || sum == CUDART_INF_F) {
        most = -CUDART_INF_F;
        for (int i = threadIdx.x; i < vocab; i += 512)
            most = fmaxf(most, __bfloat162float(x[i]));
        most = reduce(most, true, part);
        sum = 0;
        for (int i = threadIdx.x; i < vocab; i += 512)
            sum += expf(__bfloat162float(x[i]) - most);
        sum = reduce(sum, false, part);
    }
    if (threadIdx.x == 0)
        loss[blockIdx.x] = logf(sum) + most - __bfloat162float(x[t]);
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
}
