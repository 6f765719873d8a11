// A warp a row, the keys' scores in two registers a lane (keys <= 64), values weighted by shuffles; lanes beyond the keys hold -inf and weight 0, sums run over the keys in order.
#include <cuda_fp16.h>
#include <math_constants.h>

#define FULL 0xffffffffu

constexpr int D = 64, WARPS = 4;

__global__ void __launch_bounds__(WARPS * 32) attention_kernel(__half *out, const __half *q, const __half *k,
                                                               const __half *v, int rows, int keys)
{
    __shared__ float2 own[WARPS][D / 2];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row = blockIdx.x * WARPS + warp;
    if (row >= rows)
        return; // a whole warp; nothing below waits for other warps

    own[warp][lane] = __half22float2(reinterpret_cast<const __half2 *>(q + (size_t)row * D)[lane]);
    __syncwarp();

    float s[2];
#pragma unroll
    for (int t = 0; t < 2; t++) {
        const int j = lane + 32 * t;
        s[t] = -CUDART_INF_F;
        if (j < keys) {
            const uint4 *key = reinterpret_cast<const uint4 *>(k + (size_t)j * D);
            float dot = 0.f;
#pragma unroll
            for (int c = 0; c < 8; c++) {
                uint4 raw = __ldg(key + c);
                const __half2 *h = reinterpret_cast<const __half2 *>(&raw);
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float2 f = __half22float2(h[e]);
                    const float2 g = own[warp][c * 4 + e];
                    dot += g.x * f.x;
                    dot += g.y * f.y;
                }
            }
            s[t] = dot * 0.125f;
        }
    }

    float most = fmaxf(s[0], s[1]); // finite somewhere: there is a key
#pragma unroll
    for (int o = 16; o; o >>= 1)
        most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
    s[0] = expf(s[0] - most);
    s[1] = expf(s[1] - most);
    float sum = s[0] + s[1];
#pragma unroll
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(FULL, sum, o);

    float2 acc = {0.f, 0.f};
    for (int j = 0; j < keys; j++) {
        const float p = __shfl_sync(FULL, j < 32 ? s[0] : s[1], j & 31);
        const float2 f = __half22float2(reinterpret_cast<const __half2 *>(v + (size_t)j * D)[lane]);
        acc.x += p * f.x;
        acc.y += p * f.y;
    }
    reinterpret_cast<__half2 *>(out + (size_t)row * D)[lane] = __floats2half2_rn(acc.x / sum, acc.y / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys,
                          cudaStream_t stream)
{
    attention_kernel<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, q, k, v, rows, keys);
}
