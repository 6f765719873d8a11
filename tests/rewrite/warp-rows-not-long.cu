// No workload has a row that is short enough.
// transform: warp-rows -1
// fact: d low 4096 high 8192
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, d);
}
