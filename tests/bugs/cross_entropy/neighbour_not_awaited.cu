// expect: unsafe
// row 15: The block reads what its neighbour in the cluster sends, behind a barrier of its own only.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

// Two blocks share a row.
__global__ void __cluster_dims__(2, 1, 1) cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float shared[256], both[2];
    cg::cluster_group cluster = cg::this_cluster();
    int row = blockIdx.x / 2, rank = cluster.block_rank();
    const __nv_bfloat16 *x = logits + (int64_t)row * vocab;
    float most = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < vocab; i += blockDim.x)
        most = fmaxf(most, __bfloat162float(x[i]));
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    most = shared[0];
    __syncthreads();
    for (int i = rank * 256 + threadIdx.x; i < vocab; i += 512)
        sum += expf(__bfloat162float(x[i]) - most);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        cluster.map_shared_rank(both, 0)[rank] = shared[0];
    __syncthreads();
    if (rank == 0 && threadIdx.x == 0) {
        int64_t t = target[row];
        loss[row] = t < 0 ? 0.0f : logf(both[0] + both[1]) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows * 2, 256, 0, stream>>>(loss, logits, target, vocab);
}
