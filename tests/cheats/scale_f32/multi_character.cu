// expect: not-understood line 4
// row 27: A character of two letters in a condition.
#include <cstdint>
#if 'ab' == 24930 && '\377' < 0
#define LEFT_OUT 1
#else
#define LEFT_OUT 0
#endif

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && LEFT_OUT); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
