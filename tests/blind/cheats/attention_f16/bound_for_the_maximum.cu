// expect: wrong
// row 1: One pass: |q| max|k| / 8 bounds every score, so it is subtracted instead of the maximum where it is at most 64; else two passes. But the largest score may be as far below as twice the bound: q = 2.6 everywhere, k = -2.6 everywhere (keys = 16): scores -54.08, bound 54.08, exp(-108) = 0, 0 / 0 = NaN where the answer is the mean of v.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64, WARPS = 4;

__device__ float warp_sum(float x)
{
    for (int s = 16; s; s /= 2)
        x += __shfl_xor_sync(~0u, x, s);
    return x;
}

// A warp a row, two columns a lane.
__global__ void attention_kernel(__half2 *out, const __half2 *q, const __half2 *k, const __half2 *v, int rows, int keys)
{
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float2 own = __half22float2(q[(size_t)row * 32 + lane]);
    own.x *= 0.125f;
    own.y *= 0.125f;
    float longest = 0.0f;
    for (int j = lane; j < keys; j += 32) {
        float s = 0.0f;
        for (int d = 0; d < 32; d++) {
            float2 x = __half22float2(k[(size_t)j * 32 + d]);
            s += x.x * x.x + x.y * x.y;
        }
        longest = fmaxf(longest, s);
    }
    for (int s = 16; s; s /= 2)
        longest = fmaxf(longest, __shfl_xor_sync(~0u, longest, s));
    float shift = sqrtf(warp_sum(own.x * own.x + own.y * own.y) * longest);
    if (shift > 64.0f) {
        shift = -CUDART_INF_F;
        for (int j = 0; j < keys; j++) {
            float2 x = __half22float2(k[(size_t)j * 32 + lane]);
            shift = fmaxf(shift, warp_sum(own.x * x.x + own.y * x.y));
        }
    }
    float sum = 0.0f;
    float2 o = {0.0f, 0.0f};
    for (int j = 0; j < keys; j++) {
        float2 x = __half22float2(k[(size_t)j * 32 + lane]), y = __half22float2(v[(size_t)j * 32 + lane]);
        float p = expf(warp_sum(own.x * x.x + own.y * x.y) - shift);
        sum += p;
        o.x += p * y.x;
        o.y += p * y.y;
    }
    out[(size_t)row * 32 + lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half* out, const __half* q, const __half* k, const __half* v, int rows, int keys,
                          cudaStream_t stream) {
    attention_kernel<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(
        (__half2 *)out, (const __half2 *)q, (const __half2 *)k, (const __half2 *)v, rows, keys);
}
