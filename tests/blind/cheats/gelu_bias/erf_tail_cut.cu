// wrong because: below -5 the answer is taken for zero, but gelu(-5.02) is -1.3e-6, 22 steps of a subnormal half: tokens = 1, d = 1, x = -5.02, bias = 0.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float v)
{
    if (v > 5.0f) // erf is 1
        return v;
    if (v < -5.0f) // erf is -1
        return 0.0f * v;
    return 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

__global__ void __launch_bounds__(256) gelu_bias_kernel(__half *x, const __half *__restrict__ bias, int64_t n, int64_t d)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x * 2;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 2; i < n; i += stride) {
        int64_t c = i % d;
        if (i + 1 < n) {
            float2 v = __half22float2(*(const __half2 *)(x + i));
            v.x = gelu(v.x + __half2float(bias[c]));
            v.y = gelu(v.y + __half2float(bias[c + 1 == d ? 0 : c + 1]));
            *(__half2 *)(x + i) = __floats2half2_rn(v.x, v.y);
        } else
            x[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[c])));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 511) / 512;
    gelu_bias_kernel<<<(unsigned)(blocks < 4224 ? blocks : 4224), 256, 0, stream>>>(x, bias, n, d);
}
