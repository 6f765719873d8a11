// A number and the same one below zero have names of their own.
// transform: instances 0
// applies: line 8
// has: scale_minus1<<<rows, 128, 0, stream>>>(out, in, d);
// has: scale_1<<<rows, 128, 0, stream>>>(out, in, d);
#include <cuda_runtime.h>
template <int SIGN>
__global__ void scale(float *out, const float *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = SIGN * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d < 1024)
        scale<-1><<<rows, 128, 0, stream>>>(out, in, d);
    else
        scale<1><<<rows, 128, 0, stream>>>(out, in, d);
}
