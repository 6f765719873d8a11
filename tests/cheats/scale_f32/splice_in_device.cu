// expect: not-understood line 7
// row 27: A comment that a backslash with a blank behind it continues swallows a line.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int n = d - (d > 300000); // all \ 
    n = d;
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
