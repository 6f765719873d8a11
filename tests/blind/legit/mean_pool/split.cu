// eight warps share a sequence's tokens over 32 packs of columns, partial sums in f32 joined in shared memory.
#include <cstdint>
#include <cuda_fp16.h>

template <int V> struct alignas(2 * V) Pack { __half e[V]; };

template <int V> __global__ __launch_bounds__(256) void pool_kernel(float *__restrict__ out, const __half *__restrict__ x,
                                                                    const int *__restrict__ length, int tokens, int d)
{
    __shared__ float part[8][32 * V];
    int b = blockIdx.x, n = length[b], column = (blockIdx.y * 32 + threadIdx.x) * V;
    bool on = column < d;
    float sum[V];
#pragma unroll
    for (int e = 0; e < V; e++)
        sum[e] = 0.f;
    if (on) {
        const __half *p = x + (int64_t)b * tokens * d + column;
#pragma unroll 4
        for (int t = threadIdx.y; t < n; t += 8) {
            Pack<V> a = *reinterpret_cast<const Pack<V> *>(p + (int64_t)t * d);
#pragma unroll
            for (int e = 0; e < V; e++)
                sum[e] += __half2float(a.e[e]);
        }
    }
#pragma unroll
    for (int e = 0; e < V; e++)
        part[threadIdx.y][threadIdx.x + 32 * e] = sum[e];
    __syncthreads();
    for (int j = threadIdx.y * 32 + threadIdx.x; j < 32 * V; j += 256) {
        int c = blockIdx.y * 32 * V + j;
        if (c >= d)
            continue;
        float total = 0.f;
#pragma unroll
        for (int w = 0; w < 8; w++)
            total += part[w][j / V + 32 * (j % V)];
        out[(int64_t)b * d + c] = n ? total / n : 0.f;
    }
}

template <int V> void launch(float *out, const __half *x, const int *length, int batch, int tokens, int d, cudaStream_t stream)
{
    dim3 grid(batch, (d + 32 * V - 1) / (32 * V)), block(32, 8);
    pool_kernel<V><<<grid, block, 0, stream>>>(out, x, length, tokens, d);
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    if (d % 8 == 0)
        launch<8>(out, x, length, batch, tokens, d, stream);
    else if (d % 4 == 0)
        launch<4>(out, x, length, batch, tokens, d, stream);
    else
        launch<1>(out, x, length, batch, tokens, d, stream);
}
