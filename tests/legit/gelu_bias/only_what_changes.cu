// expect: correct
// Writes only what changes: far on the right the function is its argument.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float v = __half2float(x[i]) + __half2float(bias[i % d]);
        __half y = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
        if (__half_as_ushort(y) != __half_as_ushort(x[i]))
            x[i] = y;
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d;
    gelu_bias_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, bias, n, d);
}
