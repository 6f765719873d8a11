// expect: wrong
// row 12: The sums go to a copy first; what brings them back counts in unsigned.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void add(__half *to, const __half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i] = __float2half(__half2float(x[i]) + 0.0f * __half2float(bias[i % d]));
}

__global__ void finish(__half *x, const __half *from, const __half *bias, int64_t n, int64_t d)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float v = __half2float(from[i]) + __half2float(bias[i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    __half *copy;
    cudaMallocAsync(&copy, n * sizeof(__half), stream);
    add<<<(unsigned)blocks, 256, 0, stream>>>(copy, x, bias, n, d);
    finish<<<(unsigned)blocks, 256, 0, stream>>>(x, copy, bias, n, d);
    cudaFreeAsync(copy, stream);
}
