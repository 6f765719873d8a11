// wrong because: a block may end while another of its cluster still reads its second partial sum: no cluster barrier after the last remote read; n = 1, c = 1, cg = 1, hw = 5 (any shape).
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
constexpr int THREADS = 256, PARTS = 4;

__device__ float block_sum(float x)
{
    __shared__ float s[THREADS / 32];
    for (int k = 16; k; k >>= 1)
        x += __shfl_xor_sync(~0u, x, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < THREADS / 32 ? s[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int k = 16; k; k >>= 1)
            x += __shfl_xor_sync(~0u, x, k);
    return x; // in the first warp
}

// A cluster of four blocks a group.
__global__ void __cluster_dims__(PARTS, 1, 1) __launch_bounds__(THREADS)
    group_norm_kernel(float *y, const float *__restrict__ x, const float *__restrict__ gamma, const float *__restrict__ beta, int c, int hw,
                      int groups, float eps)
{
    __shared__ float mine[2], both[2];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), group = blockIdx.x / PARTS, per = c / groups, count = per * hw;
    long long first = ((long long)blockIdx.y * c + group * per) * hw;
    float sum = 0;
    for (int i = rank * THREADS + threadIdx.x; i < count; i += PARTS * THREADS)
        sum += x[first + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        mine[0] = sum;
    cluster.sync();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int k = 0; k < PARTS; k++)
            sum += *cluster.map_shared_rank(&mine[0], k);
        both[0] = sum / count;
    }
    __syncthreads();
    float mean = both[0];
    sum = 0;
    for (int i = rank * THREADS + threadIdx.x; i < count; i += PARTS * THREADS)
        sum += (x[first + i] - mean) * (x[first + i] - mean);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        mine[1] = sum;
    cluster.sync();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int k = 0; k < PARTS; k++)
            sum += *cluster.map_shared_rank(&mine[1], k);
        both[1] = rsqrtf(sum / count + eps);
    }
    __syncthreads();
    float rstd = both[1];
    for (int i = rank * THREADS + threadIdx.x; i < count; i += PARTS * THREADS) {
        int channel = group * per + i / hw;
        y[first + i] = (x[first + i] - mean) * rstd * gamma[channel] + beta[channel];
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups * PARTS, n), THREADS, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
