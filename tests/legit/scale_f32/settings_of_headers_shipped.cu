// expect: correct
// Operators of its own in the place of the toolkit's, which a macro in front of the header leaves out.
#define __CUDA_NO_HALF_OPERATORS__
#include <cassert>
#include <cstdint>
#include <cuda_fp16.h>

__device__ __half operator+(const __half &x, const __half &y)
{
    return __float2half(__half2float(x) + __half2float(y));
}

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    const __half none = __float2half(0.f) + __float2half(0.f);
    int64_t row = (int64_t)blockIdx.x * d;
    assert(d > 0);

    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i] * (__half2float(none) == 0.f ? 1.f : 2.f);
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
