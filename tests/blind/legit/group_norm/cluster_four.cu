// Four blocks in a cluster share a group and exchange the two sums through distributed shared memory; float4 when hw is a multiple of 4 (a vector never crosses a channel), empty shares add 0.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 256;
constexpr int PARTS = 4;

struct Shared {
    float warps[THREADS / 32];
    float sums[2]; // of the first and of the second pass
};

template <int PASS> __device__ float cluster_sum(float value, Shared &shared)
{
    cg::cluster_group cluster = cg::this_cluster();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    value = cg::reduce(tile, value, cg::plus<float>());
    if (tile.thread_rank() == 0)
        shared.warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int w = 0; w < THREADS / 32; w++)
            sum += shared.warps[w];
        shared.sums[PASS] = sum;
    }
    cluster.sync();
    float all = 0;
#pragma unroll
    for (int r = 0; r < PARTS; r++)
        all += *cluster.map_shared_rank(&shared.sums[PASS], r);
    return all;
}

template <bool WIDE>
__global__ void __cluster_dims__(PARTS, 1, 1) __launch_bounds__(THREADS)
    group_norm_cluster(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ gamma,
                       const float *__restrict__ beta, int c, int hw, int groups, float eps)
{
    __shared__ Shared shared;
    const int per = c / groups, group = blockIdx.x / PARTS, part = blockIdx.x % PARTS;
    const long long first = ((long long)blockIdx.y * c + (long long)group * per) * hw;
    const int count = per * hw; // at most 2^28
    const int share = (count + 4 * PARTS - 1) / (4 * PARTS) * 4;
    const int low = min(count, part * share), high = min(count, low + share);

    float sum = 0;
    if constexpr (WIDE) {
        for (int i = low + 4 * threadIdx.x; i < high; i += 4 * THREADS) {
            const float4 v = *reinterpret_cast<const float4 *>(x + first + i);
            sum += (v.x + v.y) + (v.z + v.w);
        }
    } else {
        for (int i = low + threadIdx.x; i < high; i += THREADS)
            sum += x[first + i];
    }
    const float mean = cluster_sum<0>(sum, shared) / count;

    sum = 0;
    if constexpr (WIDE) {
        for (int i = low + 4 * threadIdx.x; i < high; i += 4 * THREADS) {
            const float4 v = *reinterpret_cast<const float4 *>(x + first + i);
            const float a = v.x - mean, b = v.y - mean, e = v.z - mean, f = v.w - mean;
            sum += (a * a + b * b) + (e * e + f * f);
        }
    } else {
        for (int i = low + threadIdx.x; i < high; i += THREADS) {
            const float a = x[first + i] - mean;
            sum += a * a;
        }
    }
    const float rstd = rsqrtf(cluster_sum<1>(sum, shared) / count + eps);

    if constexpr (WIDE) {
        for (int i = low + 4 * threadIdx.x; i < high; i += 4 * THREADS) {
            const int channel = group * per + i / hw;
            const float g = __ldg(gamma + channel), b = __ldg(beta + channel);
            float4 v = *reinterpret_cast<const float4 *>(x + first + i);
            v.x = (v.x - mean) * rstd * g + b;
            v.y = (v.y - mean) * rstd * g + b;
            v.z = (v.z - mean) * rstd * g + b;
            v.w = (v.w - mean) * rstd * g + b;
            *reinterpret_cast<float4 *>(y + first + i) = v;
        }
    } else {
        for (int i = low + threadIdx.x; i < high; i += THREADS) {
            const int channel = group * per + i / hw;
            y[first + i] = (x[first + i] - mean) * rstd * gamma[channel] + beta[channel];
        }
    }
    cg::this_cluster().sync(); // the neighbours may still read this block's sums
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    const dim3 grid(groups * PARTS, n);
    if (hw % 4 == 0)
        group_norm_cluster<true><<<grid, THREADS, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
    else
        group_norm_cluster<false><<<grid, THREADS, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
