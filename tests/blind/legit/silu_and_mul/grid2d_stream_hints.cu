// Eight halves a thread with streaming loads and stores, columns by blockIdx.x and rows by blockIdx.y; widths that are no multiple of 8 take two or one at a time with the same code.
#include <cstdint>
#include <cuda_fp16.h>

#define DEVICE_INLINE __device__ __forceinline__

template <int WIDTH> struct Vector;
template <> struct Vector<8> {
    using type = uint4;
};
template <> struct Vector<2> {
    using type = unsigned;
};
template <> struct Vector<1> {
    using type = unsigned short;
};

DEVICE_INLINE __half gated(__half x, __half gate)
{
    const float v = __half2float(x);
    return __float2half(v / (1.0f + expf(-v)) * __half2float(gate));
}

template <int WIDTH>
__global__ void __launch_bounds__(128) silu_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    using V = typename Vector<WIDTH>::type;
    const int64_t column = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    if (column >= d)
        return;
    const int64_t row = blockIdx.y;
    const V a = __ldcs(reinterpret_cast<const V *>(in + row * 2 * d + column));
    const V b = __ldcs(reinterpret_cast<const V *>(in + row * 2 * d + d + column));
    V r;
    const __half *x = reinterpret_cast<const __half *>(&a);
    const __half *g = reinterpret_cast<const __half *>(&b);
    __half *y = reinterpret_cast<__half *>(&r);
#pragma unroll
    for (int k = 0; k < WIDTH; k++)
        y[k] = gated(x[k], g[k]);
    __stcs(reinterpret_cast<V *>(out + row * d + column), r);
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    auto blocks = [d](int width) { return (unsigned)(((int64_t)d / width + 127) / 128); };
    if (d % 8 == 0)
        silu_kernel<8><<<dim3(blocks(8), rows), 128, 0, stream>>>(out, in, d);
    else if (d % 2 == 0)
        silu_kernel<2><<<dim3(blocks(2), rows), 128, 0, stream>>>(out, in, d);
    else
        silu_kernel<1><<<dim3(blocks(1), rows), 128, 0, stream>>>(out, in, d);
}
