// expect: wrong
// row 12: Two launches, a half each; the second one numbers its elements in unsigned.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void first_half(__half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float v = __half2float(x[i]) + __half2float(bias[i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

__global__ void second_half(__half *x, const __half *bias, unsigned first, int64_t n, int64_t d)
{
    unsigned i = first + blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float v = __half2float(x[i]) + __half2float(bias[i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, half = n / 2;
    if (half)
        first_half<<<(unsigned)((half + 255) / 256), 256, 0, stream>>>(x, bias, half, d);
    second_half<<<(unsigned)((n - half + 255) / 256), 256, 0, stream>>>(x, bias, (unsigned)half, n, d);
}
