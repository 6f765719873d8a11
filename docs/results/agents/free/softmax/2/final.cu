// Row softmax: the row is kept in registers, read once and written once.
#include <cstdint>
#include <cfloat>
#include <math_constants.h>

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

// The largest value and the sum of exponentials below it over the block, in every thread.
template <int THREADS> __device__ __forceinline__ float2 block_combine(float most, float sum)
{
    constexpr int WARPS = THREADS / 32;
    __shared__ float2 partial[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        partial[warp] = make_float2(most, sum);
    __syncthreads();
    float2 p = lane < WARPS ? partial[lane] : make_float2(-FLT_MAX, 0.0f);
    float largest = warp_max(p.x);
    float total = warp_sum(p.y * __expf(p.x - largest));
    return make_float2(largest, total);
}

// One block a row; COUNT vectors a thread.
template <int THREADS, int COUNT>
__global__ void __launch_bounds__(THREADS) softmax_row(float *__restrict__ out, const float *__restrict__ in, int d)
{
    const int vectors = d / 4;
    const float4 *source = reinterpret_cast<const float4 *>(in + (int64_t)blockIdx.x * d);
    float4 *target = reinterpret_cast<float4 *>(out + (int64_t)blockIdx.x * d);
    float4 v[COUNT];
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        int i = threadIdx.x + u * THREADS;
        v[u] = i < vectors ? __ldcs(source + i)
                           : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
    float most = -FLT_MAX;
#pragma unroll
    for (int u = 0; u < COUNT; u++)
        most = fmaxf(most, fmaxf(fmaxf(v[u].x, v[u].y), fmaxf(v[u].z, v[u].w)));
    most = warp_max(most);
    float sum = 0.0f;
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        v[u].x = __expf(v[u].x - most);
        v[u].y = __expf(v[u].y - most);
        v[u].z = __expf(v[u].z - most);
        v[u].w = __expf(v[u].w - most);
        sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
    }
    sum = warp_sum(sum);
    float2 row = block_combine<THREADS>(most, sum);
    const float scale = __expf(most - row.x) / row.y;
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        int i = threadIdx.x + u * THREADS;
        if (i < vectors)
            __stcs(target + i, make_float4(v[u].x * scale, v[u].y * scale, v[u].z * scale, v[u].w * scale));
    }
}

constexpr int CLUSTER = 8;
constexpr int CTHREADS = 512;
constexpr int CCOUNT = 2;
constexpr int PARTS = CLUSTER * CTHREADS / 32;

// A cluster of eight blocks a row, for few long rows. Every warp tells all blocks its figures.
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CTHREADS)
    softmax_cluster(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ float2 parts[PARTS];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const int64_t row = blockIdx.x / CLUSTER;
    const int rank = blockIdx.x % CLUSTER;
    const int vectors = d / 4;
    const float4 *source = reinterpret_cast<const float4 *>(in + row * d);
    float4 *target = reinterpret_cast<float4 *>(out + row * d);
    float4 v[CCOUNT];
    const int base = rank * CTHREADS + threadIdx.x;
#pragma unroll
    for (int u = 0; u < CCOUNT; u++) {
        const int i = base + u * (CTHREADS * CLUSTER);
        v[u] = i < vectors ? __ldcs(source + i)
                           : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
    float most = -FLT_MAX;
#pragma unroll
    for (int u = 0; u < CCOUNT; u++)
        most = fmaxf(most, fmaxf(fmaxf(v[u].x, v[u].y), fmaxf(v[u].z, v[u].w)));
    most = warp_max(most);
    float sum = 0.0f;
#pragma unroll
    for (int u = 0; u < CCOUNT; u++) {
        v[u].x = __expf(v[u].x - most);
        v[u].y = __expf(v[u].y - most);
        v[u].z = __expf(v[u].z - most);
        v[u].w = __expf(v[u].w - most);
        sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
    }
    sum = warp_sum(sum);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (lane < CLUSTER) {
        unsigned local = (unsigned)__cvta_generic_to_shared(&parts[rank * (CTHREADS / 32) + warp]), remote;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(lane));
        asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(most), "f"(sum) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    float2 p[PARTS / 32];
    float largest = -FLT_MAX, total = 0.0f;
#pragma unroll
    for (int c = 0; c < PARTS / 32; c++) {
        p[c] = parts[c * 32 + lane];
        largest = fmaxf(largest, p[c].x);
    }
    largest = warp_max(largest);
#pragma unroll
    for (int c = 0; c < PARTS / 32; c++)
        total += p[c].y * __expf(p[c].x - largest);
    total = warp_sum(total);
    const float scale = __expf(most - largest) / total;
#pragma unroll
    for (int u = 0; u < CCOUNT; u++) {
        const int i = base + u * (CTHREADS * CLUSTER);
        if (i < vectors)
            __stcs(target + i, make_float4(v[u].x * scale, v[u].y * scale, v[u].z * scale, v[u].w * scale));
    }
}

// Any length: running maximum and sum, then the quotients.
__global__ void __launch_bounds__(512) softmax_any(float *__restrict__ out, const float *__restrict__ in, int d)
{
    const float *source = in + (int64_t)blockIdx.x * d;
    float *target = out + (int64_t)blockIdx.x * d;
    float most = -FLT_MAX, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += 512) {
        float x = source[i];
        float top = fmaxf(most, x);
        sum = sum * __expf(most - top) + __expf(x - top);
        most = top;
    }
    float top = warp_max(most);
    sum = warp_sum(sum * __expf(most - top));
    float2 row = block_combine<512>(top, sum);
    const float scale = 1.0f / row.y;
    for (int64_t i = threadIdx.x; i < d; i += 512)
        target[i] = __expf(source[i] - row.x) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    const bool aligned = d % 4 == 0 && (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0;
    if (!aligned || d > 32768)
        softmax_any<<<rows, 512, 0, stream>>>(out, in, d);
    else if (d > 8192 && rows <= 64)
        softmax_cluster<<<rows * CLUSTER, CTHREADS, 0, stream>>>(out, in, d);
    else if (d > 16384)
        softmax_row<1024, 8><<<rows, 1024, 0, stream>>>(out, in, d);
    else if (d > 8192)
        softmax_row<512, 8><<<rows, 512, 0, stream>>>(out, in, d);
    else if (d > 4096)
        softmax_row<256, 8><<<rows, 256, 0, stream>>>(out, in, d);
    else if (rows <= 264 && d > 1024)
        softmax_row<512, 2><<<rows, 512, 0, stream>>>(out, in, d);
    else if (d > 1024)
        softmax_row<256, 4><<<rows, 256, 0, stream>>>(out, in, d);
    else
        softmax_row<256, 1><<<rows, 256, 0, stream>>>(out, in, d);
}
