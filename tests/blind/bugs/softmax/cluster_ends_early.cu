// wrong because: Long rows are shared by a cluster of four blocks, which read each other's sums in shared memory; nothing keeps a block alive until the others have read (d > 8192).
#include <cstdint>

__device__ __forceinline__ float remote(const float *p, unsigned rank)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(p), there;
    float v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
    return v;
}

__device__ __forceinline__ void meet()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <bool MAX> __device__ __forceinline__ float over_block(float v, float *s)
{
    for (int k = 16; k; k >>= 1) {
        float o = __shfl_xor_sync(~0u, v, k);
        v = MAX ? fmaxf(v, o) : v + o;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (int w = 1; w < 8; w++)
        v = MAX ? fmaxf(v, s[w]) : v + s[w];
    return v;
}

template <int CLUSTER> __global__ void __launch_bounds__(256) softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float a[8], b[8], mine[2];
    unsigned rank = blockIdx.x % CLUSTER;
    int64_t row = blockIdx.x / CLUSTER;
    const float *x = in + row * d;
    float most = -3.402823466e38f, sum = 0.0f;
    for (int64_t i = rank * 256 + threadIdx.x; i < d; i += 256 * CLUSTER)
        most = fmaxf(most, x[i]);
    most = over_block<true>(most, a);
    if (CLUSTER > 1) {
        if (threadIdx.x == 0)
            mine[0] = most;
        meet();
        for (int r = 0; r < CLUSTER; r++)
            most = fmaxf(most, remote(mine, r));
    }
    for (int64_t i = rank * 256 + threadIdx.x; i < d; i += 256 * CLUSTER)
        sum += __expf(x[i] - most);
    sum = over_block<false>(sum, b);
    if (CLUSTER > 1) {
        if (threadIdx.x == 0)
            mine[1] = sum;
        meet();
        sum = 0.0f;
        for (int r = 0; r < CLUSTER; r++)
            sum += remote(mine + 1, r);
    }
    float scale = 1.0f / sum;
    for (int64_t i = rank * 256 + threadIdx.x; i < d; i += 256 * CLUSTER)
        out[row * d + i] = __expf(x[i] - most) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d <= 8192) {
        softmax_kernel<1><<<rows, 256, 0, stream>>>(out, in, d);
        return;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(rows * 4);
    config.blockDim = dim3(256);
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, softmax_kernel<4>, out, in, d);
}
