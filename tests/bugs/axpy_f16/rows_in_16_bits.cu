// expect: wrong
// row 12: In place, and the number of rows in a short: no block has a row from 32,768 on.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void axpy_kernel(__half *y, const __half *x, const __half *a, short rows, int d)
{
    short n = blockIdx.x;
    if (n < 0)
        return;
    int64_t row = (int64_t)n * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        y[row + i] = __hadd(__hmul(a[i], x[row + i]), y[row + i]);
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    axpy_kernel<<<rows, 128, 0, stream>>>(y, x, a, (short)rows, d);
}
