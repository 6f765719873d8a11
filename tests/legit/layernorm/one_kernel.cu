// expect: correct
// One kernel in the place of two and a workspace; rsqrtf.
#include <cstdint>
#include <cuda_fp16.h>

__device__ float over_block(float x)
{
    __shared__ float s[8];
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int w = 0; w < 8; w++)
        x += s[w];
    return x;
}

__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        sum += __half2float(in[row + i]);
    float mean = over_block(sum) / d;
    for (int i = threadIdx.x; i < d; i += 256) {
        float difference = __half2float(in[row + i]) - mean;
        squares += difference * difference;
    }
    float scale = rsqrtf(over_block(squares) / d + eps);
    for (int i = threadIdx.x; i < d; i += 256)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * scale * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps,
                          cudaStream_t stream)
{
    layernorm_kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
