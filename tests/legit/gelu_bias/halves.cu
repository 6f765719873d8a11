// expect: correct
// Two launches, a half each.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void part(__half *x, const __half *bias, int64_t first, int64_t n, int64_t d)
{
    int64_t i = first + (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float v = __half2float(x[i]) + __half2float(bias[i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, half = n / 2;
    if (half)
        part<<<(unsigned)((half + 255) / 256), 256, 0, stream>>>(x, bias, 0, half, d);
    part<<<(unsigned)((n - half + 255) / 256), 256, 0, stream>>>(x, bias, half, n, d);
}
