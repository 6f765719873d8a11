// What is stored twice cannot be sent: shared memory is the first block's, a helper's too.
// transform: cluster-row 4
// applies: line 31
// has: #include <cooperative_groups.h>
// has: __global__ void __cluster_dims__(4, 1, 1) work_cluster(
// has: block_rank() * 256 + threadIdx.x;
// has: auto *const part_of_row = cooperative_groups::this_cluster().map_shared_rank(part, 0);
// has: part_of_row[thread / 32] = v;
// has: cooperative_groups::this_cluster().sync();
// has: auto *const all_of_row = cooperative_groups::this_cluster().map_shared_rank(&all, 0);
// has: (*all_of_row) = total;
// has: for (int i = thread; i < d; i += 1024)
// has: out[(blockIdx.x / 4) * d + i]
// has: if (n <= 33 && d > 4096) {
// has: work_cluster<<<n * 4, 256, 0, stream>>>(out, in, n, d);
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
    __shared__ float all;
    if (threadIdx.x == 0)
        all = 0.0f;
    float total = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        total += in[blockIdx.x * d + i];
    total = block_sum(total);
    if (threadIdx.x == 0)
        all = total;
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] / all;
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, n, d);
}
