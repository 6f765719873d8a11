// A cluster of blocks shares each row when rows are few and adds its parts through distributed shared memory; parts may be empty (d = 1), offsets are 64 bits wide.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr int THREADS = 256;

__device__ inline float reduce_warp(float v)
{
    for (int mask = 16; mask; mask >>= 1)
        v += __shfl_xor_sync(~0u, v, mask);
    return v;
}

__global__ void __launch_bounds__(THREADS) add_norm_cluster(float *x, float *residual, const float *weight, int d,
                                                            float eps)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ float warps[THREADS / 32];
    __shared__ float mine;

    const int parts = (int)cluster.num_blocks();
    const int rank = (int)cluster.block_rank();
    const int64_t row = (int64_t)(blockIdx.x / parts) * d;
    const int64_t share = ((int64_t)d + 4 * parts - 1) / (4 * parts) * 4; // a multiple of 4
    const int64_t low = min((int64_t)d, rank * share);
    const int64_t high = min((int64_t)d, low + share);
    const bool wide = d % 4 == 0;

    float sum = 0.0f;
    if (wide) {
        for (int64_t i = low + 4 * threadIdx.x; i < high; i += 4 * THREADS) {
            float4 a = *reinterpret_cast<const float4 *>(x + row + i);
            float4 r = *reinterpret_cast<const float4 *>(residual + row + i);
            r = make_float4(r.x + a.x, r.y + a.y, r.z + a.z, r.w + a.w);
            *reinterpret_cast<float4 *>(residual + row + i) = r;
            sum += r.x * r.x;
            sum += r.y * r.y;
            sum += r.z * r.z;
            sum += r.w * r.w;
        }
    } else {
        for (int64_t i = low + threadIdx.x; i < high; i += THREADS) {
            float r = x[row + i] + residual[row + i];
            residual[row + i] = r;
            sum += r * r;
        }
    }

    sum = reduce_warp(sum);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = reduce_warp(threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0)
            mine = sum;
    }
    cluster.sync(); // all parts are there

    float total = 0.0f;
    for (int r = 0; r < parts; r++)
        total += *cluster.map_shared_rank(&mine, r);
    cluster.sync(); // nobody leaves before all have read

    const float rms = sqrtf(total / d + eps);
    if (wide) {
        for (int64_t i = low + 4 * threadIdx.x; i < high; i += 4 * THREADS) {
            float4 r = *reinterpret_cast<const float4 *>(residual + row + i);
            float4 w = *reinterpret_cast<const float4 *>(weight + i);
            *reinterpret_cast<float4 *>(x + row + i) =
                make_float4(r.x / rms * w.x, r.y / rms * w.y, r.z / rms * w.z, r.w / rms * w.w);
        }
    } else {
        for (int64_t i = low + threadIdx.x; i < high; i += THREADS)
            x[row + i] = residual[row + i] / rms * weight[i];
    }
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const int parts = rows <= 64 ? 8 : rows <= 256 ? 4 : rows <= 512 ? 2 : 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(rows * parts));
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = parts;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, add_norm_cluster, x, residual, weight, d, eps);
}
