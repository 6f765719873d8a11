// Right: few long rows are shared by four blocks of a cluster, which exchange their maxima and then their sums through
// shared memory; other shapes take one block a row, by the same template.
#include <cooperative_groups.h>
#include <cstdint>
#include <math_constants.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

template <int PARTS>
__global__ void __launch_bounds__(THREADS) softmax_parts(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ float maxima[WARPS], sums[WARPS];
    __shared__ float block_max, block_sum;
    const int part = blockIdx.x % PARTS;
    const int64_t row = (int64_t)(blockIdx.x / PARTS) * d;
    const int first = part * THREADS + threadIdx.x;
    const int warp = threadIdx.x / 32;

    float m = -CUDART_INF_F;
    for (int i = first; i < d; i += PARTS * THREADS)
        m = fmaxf(m, in[row + i]);
    for (int step = 16; step > 0; step /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, step));
    if (threadIdx.x % 32 == 0)
        maxima[warp] = m;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        m = fmaxf(m, maxima[w]);
    if (PARTS > 1) {
        cg::cluster_group cluster = cg::this_cluster();
        if (threadIdx.x == 0)
            block_max = m;
        cluster.sync();
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            m = fmaxf(m, *cluster.map_shared_rank(&block_max, p));
    }

    float s = 0.0f;
    for (int i = first; i < d; i += PARTS * THREADS)
        s += expf(in[row + i] - m);
    for (int step = 16; step > 0; step /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, step);
    if (threadIdx.x % 32 == 0)
        sums[warp] = s;
    __syncthreads();
    s = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        s += sums[w];
    if (PARTS > 1) {
        cg::cluster_group cluster = cg::this_cluster();
        if (threadIdx.x == 0)
            block_sum = s;
        cluster.sync();
        s = 0.0f;
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            s += *cluster.map_shared_rank(&block_sum, p);
        cluster.sync(); // nobody leaves while others still read
    }

    for (int i = first; i < d; i += PARTS * THREADS)
        out[row + i] = expf(in[row + i] - m) / s;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (rows <= 264 && d >= 2048) {
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(rows * 4);
        config.blockDim = dim3(THREADS);
        config.dynamicSmemBytes = 0;
        config.stream = stream;
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = 4;
        attribute[0].val.clusterDim.y = 1;
        attribute[0].val.clusterDim.z = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
        cudaLaunchKernelEx(&config, softmax_parts<4>, out, in, d);
    } else {
        softmax_parts<1><<<rows, THREADS, 0, stream>>>(out, in, d);
    }
}
