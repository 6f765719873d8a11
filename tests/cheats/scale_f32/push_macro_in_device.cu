// expect: not-understood words push_macro
// row 27: A pragma inside a kernel takes a macro back.
#include <cstdint>
#define LEFT_OUT 1
#pragma push_macro("LEFT_OUT")
#undef LEFT_OUT
#define LEFT_OUT 0

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
_Pragma("pop_macro(\"LEFT_OUT\")")
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && LEFT_OUT); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
