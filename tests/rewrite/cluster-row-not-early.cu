// A block leaves early: its memory would be gone before the others have read it.
// transform: cluster-row -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float first;
    if (blockIdx.x >= n)
        return;
    if (threadIdx.x == 0)
        first = in[blockIdx.x * d];
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] - first;
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, n, d);
}
