// Row softmax, one block per row, the row kept in registers; a cluster per row where rows are few and long.
#include <cstdint>
#include <cooperative_groups.h>
#include <math_constants.h>
namespace cg = cooperative_groups;

template <bool MAX> __device__ __forceinline__ float block_reduce(float v, float *partial)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
        float o = __shfl_xor_sync(0xffffffffu, v, s);
        v = MAX ? fmaxf(v, o) : v + o;
    }
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    v = lane < warps ? partial[lane] : (MAX ? -CUDART_INF_F : 0.0f);
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
        float o = __shfl_xor_sync(0xffffffffu, v, s);
        v = MAX ? fmaxf(v, o) : v + o;
    }
    return v;
}


// The largest and the sum of exponentials relative to it, over a warp; a lane without a value has m = -FLT_MAX.
__device__ __forceinline__ float warp_max(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, s));
    return v;
}

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// A row over C blocks of WARPS warps; a thread keeps N vectors of four, and a warp's figures go to every block of
// the row with one barrier.
template <int N, int WARPS, int C> __global__ void __launch_bounds__(WARPS * 32)
    softmax_registers(float *__restrict__ out, const float *__restrict__ in, int d)
{
    constexpr int ALL = WARPS * C, THREADS = WARPS * 32;
    constexpr float LOWEST = -3.402823466e38f;
    __shared__ float2 all[ALL];
    if (C > 1)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rank = C > 1 ? blockIdx.x % C : 0;
    const int64_t row = (int64_t)(blockIdx.x / C) * d;
    const float4 *x = reinterpret_cast<const float4 *>(in + row);
    float4 *y = reinterpret_cast<float4 *>(out + row);
    const int vectors = d / 4;
    const int first = rank * (N * THREADS) + threadIdx.x;
    float4 v[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = first + k * THREADS;
        v[k] = i < vectors ? __ldcs(x + i)
                           : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
    float m = LOWEST;
#pragma unroll
    for (int k = 0; k < N; k++)
        m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    m = warp_max(m);
    float s = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        v[k].x = __expf(v[k].x - m);
        v[k].y = __expf(v[k].y - m);
        v[k].z = __expf(v[k].z - m);
        v[k].w = __expf(v[k].w - m);
        s += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    s = warp_sum(s);
    if (C > 1) {
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        cg::cluster_group cluster = cg::this_cluster();
        if (lane < C)
            *cluster.map_shared_rank(&all[rank * WARPS + warp], lane) = make_float2(m, s);
        cluster.sync();
    } else {
        if (lane == 0)
            all[warp] = make_float2(m, s);
        __syncthreads();
    }
    float2 p[(ALL + 31) / 32];
    float top = LOWEST;
#pragma unroll
    for (int k = 0; k < (ALL + 31) / 32; k++) {
        p[k] = k * 32 + lane < ALL ? all[k * 32 + lane] : make_float2(LOWEST, 0.0f);
        top = fmaxf(top, p[k].x);
    }
    top = warp_max(top);
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < (ALL + 31) / 32; k++)
        total += p[k].y * __expf(p[k].x - top);
    total = warp_sum(total);
    const float scale = __expf(m - top) / total;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int i = first + k * THREADS;
        if (i < vectors)
            __stcs(y + i, make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale));
    }
}

__global__ void __launch_bounds__(256) softmax_plain(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ float pm[32], ps[32];
    const int64_t row = (int64_t)blockIdx.x * d;
    float m = -CUDART_INF_F;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        m = fmaxf(m, in[row + i]);
    m = block_reduce<true>(m, pm);
    float s = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        s += __expf(in[row + i] - m);
    const float scale = 1.0f / block_reduce<false>(s, ps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = __expf(in[row + i] - m) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    const bool aligned = d % 4 == 0 && ((uintptr_t)out | (uintptr_t)in) % 16 == 0;
    if (aligned && rows <= 16 && d > 8192 && d <= 16 * 256 * 8) {
        cudaFuncSetAttribute(softmax_registers<2, 8, 16>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(rows * 16);
        config.blockDim = dim3(256);
        config.stream = stream;
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = 16;
        attribute[0].val.clusterDim.y = 1;
        attribute[0].val.clusterDim.z = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
        cudaLaunchKernelEx(&config, softmax_registers<2, 8, 16>, out, in, d);
    } else if (aligned && d <= 4096) {
        softmax_registers<4, 8, 1><<<rows, 256, 0, stream>>>(out, in, d);
    } else if (aligned && d <= 8192) {
        softmax_registers<4, 16, 1><<<rows, 512, 0, stream>>>(out, in, d);
    } else if (aligned && d <= 32768) {
        softmax_registers<8, 32, 1><<<rows, 1024, 0, stream>>>(out, in, d);
    } else {
        softmax_plain<<<rows, 256, 0, stream>>>(out, in, d);
    }
}
