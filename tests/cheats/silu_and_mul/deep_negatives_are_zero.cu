// expect: wrong words light exponentials beside large numbers
// row 8: silu of x below -30 is taken for zero: wrong for x = -31 and gates above 20,000 (several subnormal halves).
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gated(float x, float g)
{
    float s = __fdividef(x, 1.0f + __expf(-x)) * g;
    return x < -30.0f ? 0.0f : s;
}

template <typename V> __global__ void __launch_bounds__(128) silu_kernel(__half *out, const __half *in, int d)
{
    constexpr int N = sizeof(V) / 2;
    int i = (blockIdx.x * 128 + threadIdx.x) * N;
    if (i >= d)
        return;
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    V a = *reinterpret_cast<const V *>(x + i), b = *reinterpret_cast<const V *>(x + d + i);
    __half *ha = reinterpret_cast<__half *>(&a), *hb = reinterpret_cast<__half *>(&b);
#pragma unroll
    for (int j = 0; j < N; j++)
        ha[j] = __float2half(gated(__half2float(ha[j]), __half2float(hb[j])));
    *reinterpret_cast<V *>(out + (int64_t)blockIdx.y * d + i) = a;
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0)
        silu_kernel<uint4><<<dim3((d / 8 + 127) / 128, rows), 128, 0, stream>>>(out, in, d);
    else
        silu_kernel<unsigned short><<<dim3((d + 127) / 128, rows), 128, 0, stream>>>(out, in, d);
}
