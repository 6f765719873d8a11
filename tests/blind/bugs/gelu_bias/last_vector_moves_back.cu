#include <cstdint>
#include <cuda_fp16.h>

// Pairs; where their number is odd the last thread takes the last two elements, one of which another has, too.
__device__ __half gelu(__half x, __half b)
{
    float v = __half2float(x) + __half2float(b);
    return __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; 2 * i < n; i += step) {
        int64_t at = 2 * i + 1 < n || n == 1 ? 2 * i : n - 2;
        x[at] = gelu(x[at], bias[at % d]);
        if (at + 1 < n)
            x[at + 1] = gelu(x[at + 1], bias[(at + 1) % d]);
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 511) / 512;
    gelu_bias_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(x, bias, n, d);
}
