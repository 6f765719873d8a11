// right: 64 by 64 tiles, 4 by 4 sums a thread added in the original's order of k; two tiles in shared memory in turn, so that one barrier a step is enough; c is read and written by the same thread.
#include <cuda_runtime.h>

template <int TM, int TN, int TK> struct Stage {
    float a[TK][TM + 4], b[TK][TN];
};

__device__ __forceinline__ float activate(float x)
{
    return fmaxf(x, 0.0f);
}

template <int TM, int TN, int TK, int SUB>
__global__ void __launch_bounds__(TM / SUB *TN / SUB) product_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b,
                                                                     const float *__restrict__ bias, int m, int n, int k)
{
    constexpr int THREADS = TM / SUB * TN / SUB, LA = TM * TK / THREADS, LB = TN * TK / THREADS, ACROSS = TN / SUB, DOWN = TM / SUB;
    static_assert(LA * THREADS == TM * TK && LB * THREADS == TN * TK, "whole loads");
    __shared__ Stage<TM, TN, TK> stage[2];
    const int t = threadIdx.x, tx = t % ACROSS, ty = t / ACROSS, row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    float sum[SUB][SUB] = {}, na[LA], nb[LB];
    auto load = [&](int at) {
#pragma unroll
        for (int i = 0; i < LA; i++) {
            int e = t + i * THREADS, r = row0 + e / TK, x = at + e % TK;
            na[i] = r < m && x < k ? a[(size_t)r * k + x] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < LB; i++) {
            int e = t + i * THREADS, x = at + e / TN, col = col0 + e % TN;
            nb[i] = x < k && col < n ? b[(size_t)x * n + col] : 0.0f;
        }
    };
    auto keep = [&](Stage<TM, TN, TK> &s) {
#pragma unroll
        for (int i = 0; i < LA; i++) {
            int e = t + i * THREADS;
            s.a[e % TK][e / TK] = na[i];
        }
#pragma unroll
        for (int i = 0; i < LB; i++) {
            int e = t + i * THREADS;
            s.b[e / TN][e % TN] = nb[i];
        }
    };
    load(0);
    keep(stage[0]);
    __syncthreads();
    for (int at = 0, now = 0; at < k; at += TK, now ^= 1) {
        const bool more = at + TK < k;
        if (more)
            load(at + TK);
#pragma unroll
        for (int i = 0; i < TK; i++) {
            float x[SUB], y[SUB];
#pragma unroll
            for (int u = 0; u < SUB; u++) {
                x[u] = stage[now].a[i][ty + u * DOWN];
                y[u] = stage[now].b[i][tx + u * ACROSS];
            }
#pragma unroll
            for (int u = 0; u < SUB; u++)
#pragma unroll
                for (int v = 0; v < SUB; v++)
                    sum[u][v] = fmaf(x[u], y[v], sum[u][v]);
        }
        if (more)
            keep(stage[now ^ 1]);
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < SUB; u++)
#pragma unroll
        for (int v = 0; v < SUB; v++) {
            int row = row0 + ty + u * DOWN, col = col0 + tx + v * ACROSS;
            if (row < m && col < n) {
                float *at = c + (size_t)row * n + col;
                *at = activate(0.5f * sum[u][v] + 0.25f * *at + bias[col]);
            }
        }
}

extern "C" void product(float *c, const float *a, const float *b, const float *bias, int m, int n, int k,
                        cudaStream_t stream)
{
    constexpr int TM = 64, TN = 64;
    product_kernel<TM, TN, 16, 4><<<dim3((n + TN - 1) / TN, (m + TM - 1) / TM), 256, 0, stream>>>(c, a, b, bias, m, n, k);
}
