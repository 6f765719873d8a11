// expect: correct
// The exponential by a cubic on the FMA units, off by 9e-5 of itself (probabilities in half, as tensor cores take them, are off by 2.4e-4); the maximum rescales only when it has grown by 8. A warp a row, a key at a time for all lanes.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int WARPS = 4;

// 2^x for x <= 8
__device__ float exp2_cubic(float x)
{
    x = fmaxf(x, -126.0f);
    float whole = floorf(x), f = x - whole;
    float p = fmaf(fmaf(fmaf(0.077119089f, f, 0.22756439f), f, 0.69514614f), f, 1.0f);
    return __int_as_float(__float_as_int(p) + ((int)whole << 23));
}

__global__ void attention_kernel(__half2 *out, const __half2 *q, const __half2 *k, const __half2 *v, int rows, int keys)
{
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float2 own = __half22float2(q[(size_t)row * 32 + lane]), o = {0.0f, 0.0f};
    float most = -CUDART_INF_F, sum = 0.0f;
    for (int j = 0; j < keys; j++) {
        float2 x = __half22float2(k[(size_t)j * 32 + lane]), y = __half22float2(v[(size_t)j * 32 + lane]);
        float score = own.x * x.x + own.y * x.y;
        for (int s = 16; s; s /= 2)
            score += __shfl_xor_sync(~0u, score, s);
        score *= 0.125f * 1.44269504f;
        if (score > most + 8.0f || j == 0) {
            float down = j == 0 ? 0.0f : exp2f(most - score);
            sum *= down;
            o.x *= down;
            o.y *= down;
            most = score;
        }
        float p = exp2_cubic(score - most);
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
