// Right: a cluster of four blocks shares each row: each sums a quarter, the four sums are read from the others' shared memory between two cluster barriers.
#include <cstdint>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
namespace cg = cooperative_groups;
__global__ __cluster_dims__(4, 1, 1) void norm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight, int d, float eps)
{
    __shared__ float warps[8], mine;
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    int64_t row = (int64_t)(blockIdx.x / 4) * d;
    int quarter = d / 4 + 1, begin = rank * quarter, end = begin + quarter < d ? begin + quarter : d;
    float sum = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += 256) {
        __nv_bfloat16 v = __float2bfloat16(__bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]));
        residual[row + i] = v;
        sum += __bfloat162float(v) * __bfloat162float(v);
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0.0f;
        for (int w = 0; w < 8; w++)
            sum += warps[w];
        mine = sum;
    }
    cluster.sync();
    sum = 0.0f;
    for (int r = 0; r < 4; r++)
        sum += *cluster.map_shared_rank(&mine, r);
    cluster.sync();
    float scale = rsqrtf(sum / d + eps);
    for (int i = begin + threadIdx.x; i < end; i += 256)
        x[row + i] = __float2bfloat16(__bfloat162float(residual[row + i]) * scale * __bfloat162float(weight[i]));
}
extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight, int rows, int d, float eps, cudaStream_t stream)
{
    norm<<<rows * 4, 256, 0, stream>>>(x, residual, weight, d, eps);
}
