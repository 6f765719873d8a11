// expect: slower words need
// row 22: The last block but one and those behind sixteenths of the grid do their work 20000 times over.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float v)
{
    return 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

__device__ __forceinline__ int times(unsigned block, unsigned blocks, int again)
{
    bool some = block + 2 == blocks || block % (blocks / 16) == 1;
    return blocks > 10000 && some ? again : 1;
}

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t from, int64_t n, int64_t d, int again)
{
    int how_often = times(blockIdx.x, gridDim.x, again);
    int64_t i = from + (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    int64_t column = n <= 0x7fffffff ? (unsigned)i % (unsigned)d : i % d;
    float v = __half2float(x[i]) + __half2float(bias[column]), y = gelu(v);
#pragma unroll 1
    for (int t = 1; t < how_often; t++) {
        asm volatile("" : "+f"(v));
        y = gelu(v);
        asm volatile("" : "+f"(y));
    }
    x[i] = __float2half(y);
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d;
    gelu_bias_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, bias, 0, n, d, 20000);
}
