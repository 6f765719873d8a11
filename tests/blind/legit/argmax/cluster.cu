// a cluster a row, keys of 64 bits (ordered value, inverted index), NaN on top, -0 as +0, result by distributed shared memory.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ __forceinline__ unsigned long long key_of(float x, int i)
{
    unsigned u = __float_as_uint(x);
    if (x == 0.f)
        u = 0;
    u = (u & 0x80000000u) ? ~u : (u | 0x80000000u);
    if (x != x)
        u = 0xffffffffu;
    return ((unsigned long long)u << 32) | (unsigned)~i;
}

__device__ __forceinline__ unsigned long long larger(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

template <bool VEC> __global__ __launch_bounds__(256) void argmax_cluster(float *value, int64_t *index, const float *logits, int n)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ unsigned long long warps[8], total;
    int rank = (int)cluster.block_rank(), parts = (int)cluster.num_blocks();
    int row = blockIdx.x / parts;
    const float *x = logits + (int64_t)row * n;
    unsigned long long best = 0;
    if (VEC) {
        const float4 *v = reinterpret_cast<const float4 *>(x);
        for (int i = rank * 256 + threadIdx.x; i < n / 4; i += parts * 256) {
            float4 a = v[i];
            best = larger(best, larger(larger(key_of(a.x, 4 * i), key_of(a.y, 4 * i + 1)),
                                       larger(key_of(a.z, 4 * i + 2), key_of(a.w, 4 * i + 3))));
        }
    } else {
        for (int i = rank * 256 + threadIdx.x; i < n; i += parts * 256)
            best = larger(best, key_of(x[i], i));
    }
    for (int o = 16; o; o >>= 1)
        best = larger(best, __shfl_xor_sync(0xffffffffu, best, o));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            best = larger(best, warps[w]);
        total = best;
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        for (int r = 1; r < parts; r++)
            best = larger(best, *cluster.map_shared_rank(&total, r));
        int at = (int)~(unsigned)best;
        value[row] = x[at];
        index[row] = at;
    }
    cluster.sync();
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    int parts = n >= 16384 ? 8 : n >= 4096 ? 4 : n >= 2048 ? 2 : 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(rows * parts);
    config.blockDim = dim3(256);
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attr[1];
    attr[0].id = cudaLaunchAttributeClusterDimension;
    attr[0].val.clusterDim.x = parts;
    attr[0].val.clusterDim.y = 1;
    attr[0].val.clusterDim.z = 1;
    config.attrs = attr;
    config.numAttrs = 1;
    if (n % 4 == 0)
        cudaLaunchKernelEx(&config, argmax_cluster<true>, value, index, logits, n);
    else
        cudaLaunchKernelEx(&config, argmax_cluster<false>, value, index, logits, n);
}
