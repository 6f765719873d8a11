// Large groups are shared by a cluster of four blocks: sums are exchanged through distributed shared memory, with barriers before the first use, after the stores and before the end.
#include <cstdint>

constexpr int T = 512, CLUSTER = 4;

__device__ __forceinline__ float block_sum(float v, float *s)
{
#pragma unroll
    for (int k = 16; k; k >>= 1)
        v += __shfl_xor_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
#pragma unroll
    for (int w = 0; w < T / 32; w++)
        v += s[w];
    return v;
}

__device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ __forceinline__ float cluster_sum(float v, float *boxes, unsigned rank)
{
    if (threadIdx.x < CLUSTER) {
        unsigned box = (unsigned)__cvta_generic_to_shared(boxes + rank), there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(box), "r"(threadIdx.x));
        asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(v) : "memory");
    }
    cluster_barrier();
    v = 0.0f;
#pragma unroll
    for (int r = 0; r < CLUSTER; r++)
        v += boxes[r];
    return v;
}

template <bool SHARED_GROUP> __global__ void __launch_bounds__(T) group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw, int groups, float eps)
{
    __shared__ float s[2][T / 32], boxes[2][CLUSTER];
    constexpr int PARTS = SHARED_GROUP ? CLUSTER : 1;
    const unsigned rank = blockIdx.x % PARTS;
    const int group = blockIdx.x / PARTS, per = c / groups, count = per * hw;
    const int64_t first = ((int64_t)blockIdx.y * c + (int64_t)group * per) * hw;
    if (SHARED_GROUP)
        cluster_barrier();
    float v = 0.0f;
    for (int i = rank * T + threadIdx.x; i < count; i += T * PARTS)
        v += x[first + i];
    v = block_sum(v, s[0]);
    if (SHARED_GROUP)
        v = cluster_sum(v, boxes[0], rank);
    const float mean = v / count;
    v = 0.0f;
    for (int i = rank * T + threadIdx.x; i < count; i += T * PARTS) {
        float d = x[first + i] - mean;
        v += d * d;
    }
    v = block_sum(v, s[1]);
    if (SHARED_GROUP)
        v = cluster_sum(v, boxes[1], rank);
    const float rstd = rsqrtf(v / count + eps);
    for (int p = 0; p < per; p++) {
        const int channel = group * per + p;
        const float g = gamma[channel], b = beta[channel];
        const float *from = x + first + (int64_t)p * hw;
        float *to = y + first + (int64_t)p * hw;
        for (int i = rank * T + threadIdx.x; i < hw; i += T * PARTS)
            to[i] = (from[i] - mean) * rstd * g + b;
    }
    if (SHARED_GROUP)
        cluster_barrier();
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw, int groups, float eps, cudaStream_t stream)
{
    if ((int64_t)c / groups * hw < 16384) {
        group_norm_kernel<false><<<dim3(groups, n), T, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
        return;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(groups * CLUSTER, n);
    config.blockDim = dim3(T);
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = CLUSTER;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, group_norm_kernel<true>, y, x, gamma, beta, c, hw, groups, eps);
}
