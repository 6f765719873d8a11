// Row softmax: the row stays in registers between its one load and its one store, where it fits.
#include <cstdint>
#include <math_constants.h>
#include <cooperative_groups.h>

template <int THREADS> __device__ float block_max(float v)
{
    __shared__ float partial[THREADS / 32];
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = partial[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int s = THREADS / 64; s > 0; s /= 2)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
    return v;
}

template <int THREADS> __device__ float block_sum(float v)
{
    __shared__ float partial[THREADS / 32];
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = partial[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int s = THREADS / 64; s > 0; s /= 2)
        v += __shfl_xor_sync(~0u, v, s);
    return v;
}

template <int THREADS, int N>
__global__ void __launch_bounds__(THREADS) softmax_registers(float4 *__restrict__ out, const float4 *__restrict__ in, int d4)
{
    int64_t row = (int64_t)blockIdx.x * d4;
    float4 v[N];
    float largest = -CUDART_INF_F;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * THREADS;
        v[k] = i < d4 ? __ldcs(in + row + i) : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        largest = fmaxf(largest, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    largest = block_max<THREADS>(largest);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        v[k].x = __expf(v[k].x - largest);
        v[k].y = __expf(v[k].y - largest);
        v[k].z = __expf(v[k].z - largest);
        v[k].w = __expf(v[k].w - largest);
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    float scale = 1.0f / block_sum<THREADS>(sum);
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = threadIdx.x + k * THREADS;
        if (i < d4)
            __stcs(out + row + i, make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale));
    }
}

// A row over a cluster of eight blocks.
template <int THREADS, int N>
__global__ void __cluster_dims__(8) __launch_bounds__(THREADS) softmax_cluster(float4 *__restrict__ out, const float4 *__restrict__ in, int d4)
{
    __shared__ float2 all[8];
    auto cluster = cooperative_groups::this_cluster();
    auto begun = cluster.barrier_arrive();
    int rank = blockIdx.x % 8;
    int64_t row = (int64_t)(blockIdx.x / 8) * d4;
    float4 v[N];
    float largest = -CUDART_INF_F;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = (k * 8 + rank) * THREADS + threadIdx.x;
        v[k] = i < d4 ? __ldcs(in + row + i) : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        largest = fmaxf(largest, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    largest = block_max<THREADS>(largest);
    float base = largest == -CUDART_INF_F ? 0.0f : largest;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        v[k].x = __expf(v[k].x - base);
        v[k].y = __expf(v[k].y - base);
        v[k].z = __expf(v[k].z - base);
        v[k].w = __expf(v[k].w - base);
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    sum = block_sum<THREADS>(sum);
    cluster.barrier_wait(static_cast<decltype(begun) &&>(begun));
    if (threadIdx.x < 8)
        cluster.map_shared_rank(all, threadIdx.x)[rank] = make_float2(largest, sum);
    cluster.sync();
    float top = all[0].x;
#pragma unroll
    for (int k = 1; k < 8; k++)
        top = fmaxf(top, all[k].x);
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; k++)
        total += __expf(all[k].x - top) * all[k].y;
    float scale = __expf(largest - top) / total;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = (k * 8 + rank) * THREADS + threadIdx.x;
        if (i < d4)
            __stcs(out + row + i, make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale));
    }
}

template <int THREADS> __global__ void __launch_bounds__(THREADS) softmax_loop(float *__restrict__ out, const float *__restrict__ in, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    float largest = -CUDART_INF_F;
    for (int64_t i = threadIdx.x; i < d; i += THREADS)
        largest = fmaxf(largest, in[row + i]);
    largest = block_max<THREADS>(largest);
    float sum = 0;
    for (int64_t i = threadIdx.x; i < d; i += THREADS)
        sum += __expf(in[row + i] - largest);
    float scale = 1.0f / block_sum<THREADS>(sum);
    for (int64_t i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = __expf(in[row + i] - largest) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    bool vector = d % 4 == 0 && (((uintptr_t)out | (uintptr_t)in) & 15) == 0;
    float4 *o = (float4 *)out;
    const float4 *x = (const float4 *)in;
    int d4 = d / 4;
    if (vector && rows <= 32 && d4 > 1024 && d4 <= 8192)
        softmax_cluster<256, 4><<<rows * 8, 256, 0, stream>>>(o, x, d4);
    else if (vector && d4 <= 1024)
        softmax_registers<256, 4><<<rows, 256, 0, stream>>>(o, x, d4);
    else if (vector && d4 <= 2048)
        softmax_registers<512, 4><<<rows, 512, 0, stream>>>(o, x, d4);
    else if (vector && d4 <= 8192)
        softmax_registers<1024, 8><<<rows, 1024, 0, stream>>>(o, x, d4);
    else
        softmax_loop<512><<<rows, 512, 0, stream>>>(out, in, d);
}
