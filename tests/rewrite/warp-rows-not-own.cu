// An element belongs to a thread by its number alone.
// transform: warp-rows -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] + in[threadIdx.x];
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, d);
}
