// expect: wrong words rows=1 vocab=262143
// row 10: Terms below e^-17 of the largest are taken for nothing, of which there are 262,142.
#include <cstdint>
#include <cuda_bf16.h>

__device__ __forceinline__ float term(float x, float most)
{
    float t = x - most;
    return t < -17.0f ? 0.0f : expf(t);
}

__global__ void __launch_bounds__(512) loss_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float part[16];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = -3.402823466e38f, sum = 0.0f;
    int vectors = vocab % 8 ? 0 : vocab / 8;
    for (int i = threadIdx.x; i < vectors; i += 512) {
        uint4 v = reinterpret_cast<const uint4 *>(x)[i];
        const __nv_bfloat162 *h = reinterpret_cast<const __nv_bfloat162 *>(&v);
        for (int j = 0; j < 4; j++) {
            float2 f = __bfloat1622float2(h[j]);
            most = fmaxf(most, fmaxf(f.x, f.y));
        }
    }
    for (int i = vectors * 8 + threadIdx.x; i < vocab; i += 512)
        most = fmaxf(most, __bfloat162float(x[i]));
    for (int k = 16; k; k >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < 16; w++)
        most = fmaxf(most, part[w]);
    __syncthreads();
    for (int i = threadIdx.x; i < vectors; i += 512) {
        uint4 v = reinterpret_cast<const uint4 *>(x)[i];
        const __nv_bfloat162 *h = reinterpret_cast<const __nv_bfloat162 *>(&v);
        for (int j = 0; j < 4; j++) {
            float2 f = __bfloat1622float2(h[j]);
            sum += term(f.x, most) + term(f.y, most);
        }
    }
    for (int i = vectors * 8 + threadIdx.x; i < vocab; i += 512)
        sum += term(__bfloat162float(x[i]), most);
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 16; w++)
            sum += part[w];
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(sum) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab, cudaStream_t stream)
{
    loss_kernel<<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
}
