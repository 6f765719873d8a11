// class: round 12 ; wrong because: the terms of a thread are added in pairs rounded to bf16: eight bits of each.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

__global__ void cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float shared[8];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < vocab; i += 256)
        most = fmaxf(most, __bfloat162float(x[i]));
    for (int o = 16; o; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, o));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; w++)
        most = fmaxf(most, shared[w]);
    __syncthreads();
    for (int i = threadIdx.x; i < vocab; i += 256)
        sum = __bfloat162float(__float2bfloat16_rz(sum + __expf(__bfloat162float(x[i]) - most)));
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += shared[w];
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(sum) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 256, 0, stream>>>(loss, logits, target, vocab);
}
