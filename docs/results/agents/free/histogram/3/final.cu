// counts[v] = how often the byte v occurs. Small inputs: one cluster, no global atomics. Otherwise a histogram per
// block with a column of its own for every lane (no bank conflicts), zeroing overlapped by a programmatic launch.
#include <cstdint>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int BINS = 256;

__device__ __forceinline__ void count(char *own, unsigned w)
{
    atomicAdd(reinterpret_cast<unsigned *>(own + (w << 7 & 0x7f80)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(own + (w >> 1 & 0x7f80)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(own + (w >> 9 & 0x7f80)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(own + (w >> 17 & 0x7f80)), 1u);
}

__global__ void zero_kernel(unsigned *counts)
{
    counts[threadIdx.x] = 0;
}

template <int THREADS, int UNROLL, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    histogram_kernel(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n,
                     int64_t vectors)
{
    __shared__ __align__(16) unsigned local[BINS * 32];
    constexpr int WARPS = THREADS / 32, ROWS = BINS / WARPS;
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
#pragma unroll
    for (int k = 0; k < BINS * 8 / THREADS; k++)
        reinterpret_cast<uint4 *>(local)[tid + k * THREADS] = make_uint4(0, 0, 0, 0);
    const uint4 *v = reinterpret_cast<const uint4 *>(values);
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    char *own = reinterpret_cast<char *>(local + lane);
    __syncthreads();
    int64_t i = (int64_t)blockIdx.x * THREADS + tid;
    for (; i + (UNROLL - 1) * stride < vectors; i += UNROLL * stride) {
        uint4 x[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            x[k] = __ldcs(v + i + k * stride);
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            count(own, x[k].x);
            count(own, x[k].y);
            count(own, x[k].z);
            count(own, x[k].w);
        }
    }
    for (; i < vectors; i += stride) {
        const uint4 x = __ldcs(v + i);
        count(own, x.x);
        count(own, x.y);
        count(own, x.z);
        count(own, x.w);
    }
    for (int64_t j = vectors * 16 + (int64_t)blockIdx.x * THREADS + tid; j < n; j += stride)
        atomicAdd(reinterpret_cast<unsigned *>(own + values[j] * 128), 1u);
    __syncthreads();
    unsigned mine = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const unsigned sum = __reduce_add_sync(0xffffffffu, local[(warp * ROWS + k) * 32 + lane]);
        if (lane == k)
            mine = sum;
    }
    cudaGridDependencySynchronize(); // counts are zero now
    if (lane < ROWS && mine != 0)
        atomicAdd(&counts[warp * ROWS + lane], mine);
}

constexpr int CLUSTER = 16, SMALL = 256, SMALL_WARPS = SMALL / 32;

__global__ void __launch_bounds__(SMALL)
    small_kernel(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int n, int vectors)
{
    __shared__ __align__(16) unsigned local[SMALL_WARPS][BINS];
    __shared__ unsigned received[CLUSTER][BINS / CLUSTER];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const int tid = threadIdx.x, rank = blockIdx.x;
    const uint4 *v = reinterpret_cast<const uint4 *>(values);
    int i = rank * SMALL + tid;
    uint4 x = make_uint4(0, 0, 0, 0);
    if (i < vectors)
        x = __ldcs(v + i);
#pragma unroll
    for (int k = 0; k < SMALL_WARPS * BINS / 4 / SMALL; k++)
        reinterpret_cast<uint4 *>(local)[tid + k * SMALL] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    unsigned *own = local[tid / 32];
    while (i < vectors) {
        const unsigned w[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            atomicAdd(own + (w[j] & 255), 1u);
            atomicAdd(own + (w[j] >> 8 & 255), 1u);
            atomicAdd(own + (w[j] >> 16 & 255), 1u);
            atomicAdd(own + (w[j] >> 24), 1u);
        }
        i += CLUSTER * SMALL;
        if (i < vectors)
            x = __ldcs(v + i);
    }
    for (int j = vectors * 16 + rank * SMALL + tid; j < n; j += CLUSTER * SMALL)
        atomicAdd(own + values[j], 1u);
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < SMALL_WARPS; w++)
        sum += local[w][tid];
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    cg::cluster_group cluster = cg::this_cluster();
    *cluster.map_shared_rank(&received[rank][tid % (BINS / CLUSTER)], tid / (BINS / CLUSTER)) = sum;
    cluster.sync();
    if (tid < BINS / CLUSTER) {
        unsigned total = 0;
#pragma unroll
        for (int k = 0; k < CLUSTER; k++)
            total += received[k][tid];
        counts[rank * (BINS / CLUSTER) + tid] = total;
    }
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    const int64_t n = (int64_t)rows * d;
    const int64_t vectors = (uintptr_t)values % 16 == 0 ? n / 16 : 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    if (n <= 16 * 16384 && vectors == n / 16) {
        cudaFuncSetAttribute(small_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        config.gridDim = dim3(CLUSTER);
        config.blockDim = dim3(SMALL);
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = CLUSTER;
        attribute[0].val.clusterDim.y = 1;
        attribute[0].val.clusterDim.z = 1;
        cudaLaunchKernelEx(&config, small_kernel, counts, values, (int)n, (int)vectors);
        return;
    }
    zero_kernel<<<1, BINS, 0, stream>>>(counts);
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    if (vectors <= 132 * 2048) {
        const int64_t wanted = (vectors + 511) / 512;
        config.gridDim = dim3(wanted < 1 || wanted > 264 ? 264 : (unsigned)wanted);
        config.blockDim = dim3(512);
        cudaLaunchKernelEx(&config, histogram_kernel<512, 1, 2>, counts, values, n, vectors);
    } else {
        config.gridDim = dim3(264);
        config.blockDim = dim3(1024);
        cudaLaunchKernelEx(&config, histogram_kernel<1024, 2, 2>, counts, values, n, vectors);
    }
}
