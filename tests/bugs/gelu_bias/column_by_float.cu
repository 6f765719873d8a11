// expect: wrong
// row 12: i % d by a float reciprocal with one correction: off by more for d of 3 and many tokens.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void __launch_bounds__(256) vec_kernel(__half *x, const __half *bias, int64_t vectors, int width)
{
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * 256) {
        uint4 v = reinterpret_cast<uint4 *>(x)[i], b = reinterpret_cast<const uint4 *>(bias)[i % width];
        __half2 *h = reinterpret_cast<__half2 *>(&v), *hb = reinterpret_cast<__half2 *>(&b);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 f = __half22float2(h[j]), g = __half22float2(hb[j]);
            h[j] = __floats2half2_rn(gelu(f.x + g.x), gelu(f.y + g.y));
        }
        reinterpret_cast<uint4 *>(x)[i] = v;
    }
}

__global__ void __launch_bounds__(256) any_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    const float inverse = 1.0f / (float)d;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256) {
        int64_t c = i - (int64_t)((float)i * inverse) * d;
        c += c < 0 ? d : 0;
        c -= c >= d ? d : 0;
        c = min(max(c, (int64_t)0), d - 1);
        x[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[c])));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d;
    if (d % 8 == 0 && d <= 1048576) {
        int64_t blocks = (n / 8 + 255) / 256;
        vec_kernel<<<(unsigned)(blocks < 8192 ? blocks : 8192), 256, 0, stream>>>(x, bias, n / 8, (int)(d / 8));
        return;
    }
    int64_t blocks = (n + 255) / 256;
    any_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(x, bias, n, d);
}
