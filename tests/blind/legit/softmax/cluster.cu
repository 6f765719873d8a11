// a cluster of up to eight blocks a row, online maximum and sum in one pass, joined by distributed shared memory.
#include <cooperative_groups.h>
#include <cstdint>
#include <math_constants.h>
namespace cg = cooperative_groups;

struct Part { float m, s; };

__device__ __forceinline__ Part merge(Part a, Part b)
{
    float m = fmaxf(a.m, b.m);
    if (m == -CUDART_INF_F)
        return Part{m, 0.f};
    return Part{m, a.s * expf(a.m - m) + b.s * expf(b.m - m)};
}

__device__ __forceinline__ void add(Part &p, float x)
{
    if (x > p.m) {
        p.s = p.s * expf(p.m - x) + 1.f;
        p.m = x;
    } else {
        p.s += expf(x - p.m);
    }
}

template <bool VEC> __global__ __launch_bounds__(256) void softmax_cluster(float *__restrict__ out, const float *__restrict__ in, int d)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ Part warps[8], total;
    int rank = (int)cluster.block_rank(), parts = (int)cluster.num_blocks();
    int64_t row = (int64_t)(blockIdx.x / parts) * d;
    const float *x = in + row;
    float *y = out + row;
    int first = rank * 256 + threadIdx.x, step = parts * 256;
    Part p{-CUDART_INF_F, 0.f};
    if (VEC)
        for (int i = first; i < d / 4; i += step) {
            float4 a = reinterpret_cast<const float4 *>(x)[i];
            add(p, a.x);
            add(p, a.y);
            add(p, a.z);
            add(p, a.w);
        }
    else
        for (int i = first; i < d; i += step)
            add(p, x[i]);
    for (int o = 16; o; o >>= 1)
        p = merge(p, Part{__shfl_xor_sync(0xffffffffu, p.m, o), __shfl_xor_sync(0xffffffffu, p.s, o)});
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = p;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            p = merge(p, warps[w]);
        total = p;
    }
    cluster.sync();
    Part all = *cluster.map_shared_rank(&total, 0);
    for (int r = 1; r < parts; r++)
        all = merge(all, *cluster.map_shared_rank(&total, r));
    float inverse = 1.f / all.s;
    if (VEC)
        for (int i = first; i < d / 4; i += step) {
            float4 a = reinterpret_cast<const float4 *>(x)[i];
            a.x = expf(a.x - all.m) * inverse;
            a.y = expf(a.y - all.m) * inverse;
            a.z = expf(a.z - all.m) * inverse;
            a.w = expf(a.w - all.m) * inverse;
            __stcs(reinterpret_cast<float4 *>(y) + i, a);
        }
    else
        for (int i = first; i < d; i += step)
            y[i] = expf(x[i] - all.m) * inverse;
    cluster.sync();
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int parts = d >= 16384 ? 8 : d >= 8192 ? 4 : d >= 2048 ? 2 : 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(rows * parts);
    config.blockDim = dim3(256);
    config.stream = stream;
    cudaLaunchAttribute attr[1];
    attr[0].id = cudaLaunchAttributeClusterDimension;
    attr[0].val.clusterDim.x = parts;
    attr[0].val.clusterDim.y = 1;
    attr[0].val.clusterDim.z = 1;
    config.attrs = attr;
    config.numAttrs = 1;
    if (d % 4 == 0)
        cudaLaunchKernelEx(&config, softmax_cluster<true>, out, in, d);
    else
        cudaLaunchKernelEx(&config, softmax_cluster<false>, out, in, d);
}
