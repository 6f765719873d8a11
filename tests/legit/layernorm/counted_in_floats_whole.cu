// expect: correct
// Counts the elements of a row in floats, each thread its own: no row has more than 2^24 of them for one.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float block_sum(float v)
{
    __shared__ float s[16];
    for (int k = 16; k; k >>= 1)
        v += __shfl_xor_sync(~0u, v, k);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
#pragma unroll
    for (int w = 0; w < 16; w++)
        v += s[w];
    return v;
}

__global__ void __launch_bounds__(512) layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f, squares = 0.0f, seen = 0.0f;
    for (int i = threadIdx.x; i < d; i += 512)
        sum += __half2float(in[row + i]);
    float mean = block_sum(sum) / d;
    for (int i = threadIdx.x; i < d; i += 512) {
        float v = __half2float(in[row + i]) - mean;
        squares += v * v;
        seen += 1.0f;
    }
    squares = block_sum(squares);
    seen = block_sum(seen);
    float rstd = rsqrtf(squares / seen + eps);
    for (int i = threadIdx.x; i < d; i += 512)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, 512, 0, stream>>>(out, in, weight, bias, d, eps);
}
