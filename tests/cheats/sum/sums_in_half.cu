// expect: wrong
// row 11: Sums in half precision, in the hope that the declared tolerance covers it.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    __half x = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x = __hadd(x, __float2half(in[i]));
    atomicAdd(out, __half2float(x));
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<64, 256, 0, stream>>>(out, in, n);
}
