// expect: wrong
// row 10: The factor 1/8 is multiplied into q in half precision, "which is exact for a power of two" - but not where q / 8 is subnormal: q = 6.5e-5 (2^-14 and some bits), k = 60000: the scores are 3.9 sqrt(64) / 8 and more, q / 8 has lost up to 3 of its digits (steps of 6e-8 in 8e-6), the scores are off by 0.2 to 0.7 %, the answer by several ulps. rows = 1, keys = 16.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, MOST = 64, WARPS = 4;

// A warp a row: a key or two a lane, then two columns a lane.
__global__ void attention_kernel(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys)
{
    __shared__ __half2 own[WARPS][D / 2];
    __shared__ float weights[WARPS][MOST];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * WARPS + warp;
    if (row >= rows)
        return;
    own[warp][lane] = __hmul2(((const __half2 *)q)[(size_t)row * 32 + lane], __float2half2_rn(0.125f));
    __syncwarp();
    float score[2] = {-CUDART_INF_F, -CUDART_INF_F};
    for (int h = 0; h < 2; h++) {
        int j = lane + 32 * h;
        if (j < keys) {
            float dot = 0.0f;
            for (int d = 0; d < 32; d++) {
                float2 a = __half22float2(own[warp][d]), b = __half22float2(((const __half2 *)k)[(size_t)j * 32 + d]);
                dot += a.x * b.x;
                dot += a.y * b.y;
            }
            score[h] = dot;
        }
    }
    float most = fmaxf(score[0], score[1]);
    for (int s = 16; s; s /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
    float p0 = expf(score[0] - most), p1 = expf(score[1] - most), sum = p0 + p1;
    weights[warp][lane] = p0;
    weights[warp][lane + 32] = p1;
    for (int s = 16; s; s /= 2)
        sum += __shfl_xor_sync(~0u, sum, s);
    __syncwarp();
    float2 o = {0.0f, 0.0f};
    for (int j = 0; j < keys; j++) {
        float2 y = __half22float2(((const __half2 *)v)[(size_t)j * 32 + lane]);
        o.x += weights[warp][j] * y.x;
        o.y += weights[warp][j] * y.y;
    }
    ((__half2 *)out)[(size_t)row * 32 + lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
    attention_kernel<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, q, k, v, rows, keys);
}
