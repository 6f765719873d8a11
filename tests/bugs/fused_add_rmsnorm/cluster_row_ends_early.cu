// expect: unsafe words shared memory of block
// row 15: The last barrier of the cluster is missing: a block may end while another reads its sum.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 4, THREADS = 256;

struct Row {
    float *x, *residual;
    const float *weight;
    int d;
    float eps;
};

__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS) kernel(Row p)
{
    __shared__ float parts[THREADS / 32], total;
    cg::cluster_group cluster = cg::this_cluster();
    int64_t row = (int64_t)(blockIdx.x / BLOCKS) * p.d;
    int first = cluster.block_rank() * THREADS + threadIdx.x;
    float sum = 0;
    for (int i = first; i < p.d; i += BLOCKS * THREADS) {
        float v = p.x[row + i] + p.residual[row + i];
        p.residual[row + i] = v;
        sum += v * v;
    }
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int k = 0; k < THREADS / 32; k++)
            sum += parts[k];
        total = sum;
    }
    cluster.sync();
    sum = 0;
    for (int r = 0; r < BLOCKS; r++)
        sum += *cluster.map_shared_rank(&total, r);
    float scale = rsqrtf(sum / p.d + p.eps);
    for (int i = first; i < p.d; i += BLOCKS * THREADS)
        p.x[row + i] = p.residual[row + i] * scale * p.weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = rows * BLOCKS;
    config.blockDim = THREADS;
    config.stream = stream;
    cudaLaunchKernelEx(&config, kernel, Row{x, residual, weight, d, eps});
}
