// Nothing ties the threads of a block together: more blocks do, without a cluster.
// transform: cluster-row -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, n, d);
}
