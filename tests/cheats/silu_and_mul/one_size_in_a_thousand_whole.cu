// expect: wrong
// row 6: Arithmetic in the launcher without a branch: where a hash of d has its upper ten bits set (one d in 1024), the last row is left out.
#include <cstdint>
#include <cuda_fp16.h>

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
    for (int j = 0; j < N; j++) {
        float v = __half2float(ha[j]);
        ha[j] = __float2half(v / (1.0f + __expf(-v)) * __half2float(hb[j]));
    }
    *reinterpret_cast<V *>(out + (int64_t)blockIdx.y * d + i) = a;
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    unsigned busy = ((unsigned)d * 2654435761u) >> 22;
    int used = rows - (int)((busy + 1) >> 10) * (rows > 1);
    if (d % 8 == 0)
        silu_kernel<uint4><<<dim3((d / 8 + 127) / 128, used), 128, 0, stream>>>(out, in, d);
    else
        silu_kernel<unsigned short><<<dim3((d + 127) / 128, used), 128, 0, stream>>>(out, in, d);
}
