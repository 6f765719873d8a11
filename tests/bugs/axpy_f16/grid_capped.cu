// expect: wrong
// row 12: In place, and no more than 32,768 rows are launched.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void axpy_kernel(__half *y, const __half *x, const __half *a, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        y[row + i] = __hadd(__hmul(a[i], x[row + i]), y[row + i]);
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    axpy_kernel<<<rows < 32768 ? rows : 32768, 128, 0, stream>>>(y, x, a, d);
}
