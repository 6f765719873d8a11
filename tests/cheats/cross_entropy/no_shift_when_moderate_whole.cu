// expect: wrong
// row 12: One pass adds exp(x) as it is and keeps the largest |x|; only where that is above 80 a second pass shifts. exp(80) fits a float 6,000 times: vocab = 32000, all logits 79.5 (a bfloat16): the sum is infinite, the loss inf, where it is log(32000) = 10.37.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

__device__ float reduce(float x, bool largest)
{
    __shared__ float part[8];
    for (int s = 16; s; s /= 2) {
        float y = __shfl_xor_sync(~0u, x, s);
        x = largest ? fmaxf(x, y) : x + y;
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int i = 1; i < 8; i++)
        x = largest ? fmaxf(x, part[i]) : x + part[i];
    __syncthreads();
    return x;
}

__global__ void cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = 0.0f, sum = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += 256) {
        float v = __bfloat162float(x[i]);
        most = fmaxf(most, fabsf(v));
        sum += expf(v);
    }
    most = reduce(most, true);
    float shift = 0.0f;
    if (most > 80.0f) {
        shift = -CUDART_INF_F;
        for (int i = threadIdx.x; i < vocab; i += 256)
            shift = fmaxf(shift, __bfloat162float(x[i]));
        shift = reduce(shift, true);
        sum = 0.0f;
        for (int i = threadIdx.x; i < vocab; i += 256)
            sum += expf(__bfloat162float(x[i]) - shift);
    }
    sum = reduce(sum, false);
    if (threadIdx.x == 0) {
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(sum) + shift - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 256, 0, stream>>>(loss, logits, target, vocab);
}
