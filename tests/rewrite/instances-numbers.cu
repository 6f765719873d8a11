// The number of threads of the block is the template's only parameter.
// transform: instances 0
// applies: line 8
// has: sum_32<<<rows, 32, 0, stream>>>(out, in, d);
// has: for (int i = threadIdx.x; i < d; i += (unsigned)1024)
#include <cuda_runtime.h>
template <unsigned THREADS>
__global__ void sum(float *out, const float *in, int d)
{
    float part = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS)
        part += in[blockIdx.x * d + i];
    atomicAdd(&out[blockIdx.x], part);
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d < 1024)
        sum<32><<<rows, 32, 0, stream>>>(out, in, d);
    else
        sum<1024><<<rows, 1024, 0, stream>>>(out, in, d);
}
