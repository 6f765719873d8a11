// expect: wrong
// row 10: Computes in bf16, which has three digits less.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __half2 pair(__half2 a, __half2 x, __half2 y)
{
    float2 f = __half22float2(a), g = __half22float2(x), h = __half22float2(y);
    __nv_bfloat162 r = __hfma2(__floats2bfloat162_rn(f.x, f.y), __floats2bfloat162_rn(g.x, g.y), __floats2bfloat162_rn(h.x, h.y));
    return __floats2half2_rn(__low2float(r), __high2float(r));
}

__global__ void pairs(__half *y, const __half *x, const __half *a, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    __half2 *yv = (__half2 *)(y + row);
    const __half2 *xv = (const __half2 *)(x + row), *av = (const __half2 *)a;
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x)
        yv[i] = pair(av[i], xv[i], yv[i]);
}

__global__ void singles(__half *y, const __half *x, const __half *a, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        y[row + i] = __hadd(__hmul(a[i], x[row + i]), y[row + i]);
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    if (d % 2 == 0)
        pairs<<<rows, 256, 0, stream>>>(y, x, a, d);
    else
        singles<<<rows, 256, 0, stream>>>(y, x, a, d);
}
