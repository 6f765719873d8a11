// No bound check, and a kernel that the launcher also hands on by its name.
// transform: coarsen-threads -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    cudaFuncSetCacheConfig(work, cudaFuncCachePreferL1);
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
