// A macro that is another name for a load, called in a device function.
// transform: expand-macros 0
// applies: line 7
// has: return __ldg(in + i);
#include <cuda_runtime.h>
#define LOAD(p) __ldg(p)
__device__ float value(const float *in, int i)
{
    return LOAD(in + i);
}
__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value(in, i);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
