// expect: correct
// In single precision: one rounding, as before, and products that are subnormal become zero, as the flags let them.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
