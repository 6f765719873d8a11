// expect: unsafe
// row 12: As many blocks as the original, but the index that strides through the elements is an int.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int d)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = __half2float(x[i]) + __half2float(bias[i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    gelu_bias_kernel<<<(unsigned)(blocks < 16384 ? blocks : 16384), 256, 0, stream>>>(x, bias, n, d);
}
