// expect: not-understood words # takes __GLIBC__
// row 27: A name of the host compiler, quoted by a macro, has another length under each compiler.
#include <cstdint>
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && sizeof(QUOTED(__GLIBC__)) == 2); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
