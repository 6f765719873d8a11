// expect: wrong
// row 12: In place, and the guard leaves out row 65,534, the last that the domain has.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void axpy_kernel(__half *y, const __half *x, const __half *a, int d)
{
    if (blockIdx.x >= 65534)
        return;
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        y[row + i] = __hadd(__hmul(a[i], x[row + i]), y[row + i]);
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    axpy_kernel<<<rows, 128, 0, stream>>>(y, x, a, d);
}
