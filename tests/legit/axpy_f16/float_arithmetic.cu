// expect: correct
// Computes in float and rounds once.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void pairs(__half *y, const __half *x, const __half *a, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    __half2 *yv = (__half2 *)(y + row);
    const __half2 *xv = (const __half2 *)(x + row), *av = (const __half2 *)a;
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x)
        yv[i] = __floats2half2_rn(fmaf(__low2float(av[i]), __low2float(xv[i]), __low2float(yv[i])), fmaf(__high2float(av[i]), __high2float(xv[i]), __high2float(yv[i])));
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
