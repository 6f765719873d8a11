// RIGHT: four blocks of a cluster share a row; each has the largest and the sum of its quarter, all read the four through distributed shared memory between two cluster barriers. An empty quarter has -inf and 0 and weighs 0.
#include <cooperative_groups.h>
#include <cstdint>
#include <math_constants.h>

namespace cg = cooperative_groups;

constexpr int T = 256, C = 4;

__device__ float2 merge(float2 a, float2 b)
{
    float m = fmaxf(a.x, b.x);
    if (m == -CUDART_INF_F)
        return a;
    return make_float2(m, a.y * expf(a.x - m) + b.y * expf(b.x - m));
}

__global__ void __cluster_dims__(C, 1, 1) softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float2 warps[T / 32], quarter;
    cg::cluster_group cluster = cg::this_cluster();
    int64_t row = (int64_t)(blockIdx.x / C) * d;
    int rank = (int)cluster.block_rank();
    float2 own = make_float2(-CUDART_INF_F, 0.f);
    for (int64_t i = rank * T + threadIdx.x; i < d; i += C * T) {
        float v = in[row + i];
        if (v > own.x) {
            own.y *= expf(own.x - v);
            own.x = v;
        }
        own.y += expf(v - own.x);
    }
    for (int s = 16; s; s >>= 1)
        own = merge(own, make_float2(__shfl_xor_sync(~0u, own.x, s), __shfl_xor_sync(~0u, own.y, s)));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < T / 32; w++)
            own = merge(own, warps[w]);
        quarter = own;
    }
    cluster.sync();
    float2 all = make_float2(-CUDART_INF_F, 0.f);
    for (int k = 0; k < C; k++)
        all = merge(all, *cluster.map_shared_rank(&quarter, k));
    cluster.sync();
    float inverse = 1.0f / all.y;
    for (int64_t i = rank * T + threadIdx.x; i < d; i += C * T)
        out[row + i] = expf(in[row + i] - all.x) * inverse;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows * C, T, 0, stream>>>(out, in, d);
}
