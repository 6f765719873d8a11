// The second call would write where the first one's values may still be read: all wait at barriers.
// transform: cluster-row 4
// applies: line 22
// has: part_of_row[thread / 32] = v;
// has: total = block_sum_cluster(total);
// lacks: cluster_send
#include <cuda_runtime.h>

__device__ float block_sum(float v)
{
    __shared__ float part[32];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % 32];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}
__global__ void work(float *out, const float *in, int n, int d)
{
    for (int turn = 0; turn < 2; turn++) {
        float total = 0.0f;
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            total += in[turn * d * n + blockIdx.x * d + i];
        total = block_sum(total);
        __syncthreads();
        if (threadIdx.x == 0)
            out[turn * n + blockIdx.x] = total;
    }
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, n, d);
}
