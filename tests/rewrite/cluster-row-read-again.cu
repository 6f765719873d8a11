// A barrier also lets threads read what others wrote to the device's memory: nothing is sent, all wait at it.
// transform: cluster-row 4
// applies: line 11
// has: out[(blockIdx.x / 4) * d + d - 1 - i]
// has: auto *const all_of_row = cooperative_groups::this_cluster().map_shared_rank(&all, 0);
// has: cooperative_groups::this_cluster().sync();
// lacks: cluster_send
#include <cuda_runtime.h>

// All rows are turned round.
__global__ void work(float *out, const float *in, float *first, int n, int d)
{
    __shared__ float all;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i];
    if (threadIdx.x == 0)
        all = in[blockIdx.x * d];
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        first[blockIdx.x * d + i] = out[blockIdx.x * d + d - 1 - i] * all;
}
extern "C" void entry(float *out, const float *in, float *first, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, first, n, d);
}
