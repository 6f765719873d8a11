// expect: wrong
// row 27: The line of a macro's call over several lines is its first under one compiler, its last under the other.
#include <cstdint>
#define AT(x) (__LINE__)

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && AT(
 1
 ) != __LINE__ - 2); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
