// RIGHT: a warp a row: two scores a lane (64 keys at most), sums by shuffles in float, two columns of v a lane; lanes without a key weigh 0.
#include <cuda_fp16.h>
#include <math_constants.h>

__global__ void attention_kernel(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys)
{
    __shared__ float own[4][64];
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float *mine = own[threadIdx.x / 32];
    float2 two = __half22float2(((const __half2 *)(q + (size_t)row * 64))[lane]);
    mine[2 * lane] = two.x;
    mine[2 * lane + 1] = two.y;
    __syncwarp();
    float score[2], most = -CUDART_INF_F, sum = 0.f;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int j = h * 32 + lane;
        score[h] = -CUDART_INF_F;
        if (j < keys) {
            const uint4 *x = (const uint4 *)(k + (size_t)j * 64);
            float even = 0.f, odd = 0.f;
#pragma unroll
            for (int c = 0; c < 8; c++) {
                uint4 w = __ldg(x + c);
                const __half2 *p = (const __half2 *)&w;
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    float2 f = __half22float2(p[e]);
                    even += mine[c * 8 + 2 * e] * f.x;
                    odd += mine[c * 8 + 2 * e + 1] * f.y;
                }
            }
            score[h] = (even + odd) * 0.125f;
        }
        most = fmaxf(most, score[h]);
    }
    for (int s = 16; s; s >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
#pragma unroll
    for (int h = 0; h < 2; h++) {
        score[h] = h * 32 + lane < keys ? expf(score[h] - most) : 0.f;
        sum += score[h];
    }
    for (int s = 16; s; s >>= 1)
        sum += __shfl_xor_sync(~0u, sum, s);
    float2 o = {0.f, 0.f};
    for (int j = 0; j < keys; j++) {
        float p = __shfl_sync(~0u, j < 32 ? score[0] : score[1], j & 31);
        float2 f = __half22float2(((const __half2 *)(v + (size_t)j * 64))[lane]);
        o.x += p * f.x;
        o.y += p * f.y;
    }
    ((__half2 *)(out + (size_t)row * 64))[lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys,
                          cudaStream_t stream)
{
    attention_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, q, k, v, rows, keys);
}
