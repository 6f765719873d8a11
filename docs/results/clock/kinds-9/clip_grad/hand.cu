#include <cuda_runtime.h>
// Vectors; each block of the second launch adds the sums of the first up by itself, so that no third is needed.
__device__ __forceinline__ float whole(float sum)
{
    __shared__ float own[8];
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        own[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = own[threadIdx.x % 8];
    for (int o = 4; o > 0; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    return sum;
}
__global__ void squares(float *__restrict__ part, const float4 *__restrict__ grad, int n)
{
    float sum = 0.0f;
#pragma unroll 4
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float4 v = grad[i];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = whole(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}
__global__ void shorten(float4 *__restrict__ grad, const float *__restrict__ part, int parts, float most, int n)
{
    float sum = 0.0f;
    for (int k = threadIdx.x; k < parts; k += 256)
        sum += part[k];
    float by = fminf(1.0f, most / (sqrtf(whole(sum)) + 1e-6f));
#pragma unroll 4
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float4 v = grad[i];
        grad[i] = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
    }
}
extern "C" void clip_grad(float *grad, float *part, float most, int n, cudaStream_t stream)
{
    int blocks = min(1024, (n / 4 + 255) / 256);
    squares<<<blocks, 256, 0, stream>>>(part, (const float4 *)grad, n / 4);
    shorten<<<blocks, 256, 0, stream>>>((float4 *)grad, part, blocks, most, n / 4);
}
