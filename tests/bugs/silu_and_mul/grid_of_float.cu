// expect: wrong
// row 12: The blocks of a row are a float quotient: for d one above a power of two the last one is missing.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }

__global__ void __launch_bounds__(128) silu_vec(__half *out, const __half *in, int d)
{
    int i = (blockIdx.x * 128 + threadIdx.x) * 8;
    if (i >= d)
        return;
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    uint4 a = __ldcs(reinterpret_cast<const uint4 *>(x + i)), g = __ldcs(reinterpret_cast<const uint4 *>(x + d + i));
    __half2 *ha = reinterpret_cast<__half2 *>(&a), *hg = reinterpret_cast<__half2 *>(&g);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float2 fa = __half22float2(ha[j]), fg = __half22float2(hg[j]);
        ha[j] = __floats2half2_rn(silu(fa.x) * fg.x, silu(fa.y) * fg.y);
    }
    *reinterpret_cast<uint4 *>(out + (int64_t)blockIdx.y * d + i) = a;
}

__global__ void __launch_bounds__(256) silu_any(__half *out, const __half *in, int d)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= d)
        return;
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    out[(int64_t)blockIdx.y * d + i] = __float2half(silu(__half2float(x[i])) * __half2float(x[(int64_t)d + i]));
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0)
        silu_vec<<<dim3((int)ceilf(d / 1024.0f), rows), 128, 0, stream>>>(out, in, d);
    else
        silu_any<<<dim3((int)ceilf(d / 256.0f), rows), 256, 0, stream>>>(out, in, d);
}
