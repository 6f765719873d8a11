// WRONG: keys whose score lies 11 or more below the largest are left out of both sums; 4095 such keys at -11.5 together weigh 4 % of the row.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, MOST = 4096, T = 256;

__global__ void attention_kernel(__half *out, const __half *q, const __half *k, const __half *v, int keys)
{
    __shared__ float score[MOST], own[D], part[8], acc[8][D], total[8];
    int row = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < D)
        own[t] = __half2float(q[(size_t)row * D + t]);
    __syncthreads();
    float most = -CUDART_INF_F;
    for (int j = t; j < keys; j += T) {
        const uint4 *x = (const uint4 *)(k + (size_t)j * D);
        float dot = 0.f;
#pragma unroll
        for (int d = 0; d < 8; d++) {
            uint4 w = x[d];
            const __half2 *h = (const __half2 *)&w;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float2 f = __half22float2(h[e]);
                dot += own[d * 8 + e * 2] * f.x;
                dot += own[d * 8 + e * 2 + 1] * f.y;
            }
        }
        score[j] = dot * 0.125f;
        most = fmaxf(most, score[j]);
    }
    for (int s = 16; s; s >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
    if (lane == 0)
        part[warp] = most;
    __syncthreads();
    for (int w = 0; w < 8; w++)
        most = fmaxf(most, part[w]);
    float2 o = {0.f, 0.f};
    float sum = 0.f;
    for (int j = warp; j < keys; j += 8) {
        float s = score[j] - most;
        if (s < -11.f)
            continue;
        float p = expf(s);
        sum += p;
        float2 f = __half22float2(((const __half2 *)(v + (size_t)j * D))[lane]);
        o.x += p * f.x;
        o.y += p * f.y;
    }
    acc[warp][2 * lane] = o.x;
    acc[warp][2 * lane + 1] = o.y;
    if (lane == 0)
        total[warp] = sum;
    __syncthreads();
    if (t < D) {
        float a = 0.f, b = 0.f;
        for (int w = 0; w < 8; w++)
            a += acc[w][t], b += total[w];
        out[(size_t)row * D + t] = __float2half(a / b);
    }
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys,
                          cudaStream_t stream)
{
    attention_kernel<<<rows, T, 0, stream>>>(out, q, k, v, keys);
}
