#include <cuda_runtime.h>
// Eight lanes a key, sixteen bytes each, with their part of the query in registers; four keys a group.
__global__ void score(float *__restrict__ scores, const float4 *__restrict__ query, const int4 *__restrict__ key, const float *__restrict__ scale, int keys)
{
    int lane = threadIdx.x % 8, first = blockIdx.x * 64 + threadIdx.x / 8, h = blockIdx.y;
    float q[16];
#pragma unroll
    for (int c = 0; c < 4; c++)
        *(float4 *)&q[4 * c] = query[32 * h + 4 * lane + c];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        int k = first + 16 * r;
        long long at = (long long)h * keys + min(k, keys - 1);
        int4 v = key[at * 8 + lane];
        const signed char *b = (const signed char *)&v;
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < 16; c++)
            sum += q[c] * (float)b[c];
#pragma unroll
        for (int o = 4; o > 0; o /= 2)
            sum += __shfl_xor_sync(~0u, sum, o);
        if (lane == 0 && k < keys)
            scores[at] = sum * scale[at];
    }
}
extern "C" void kv8_scores(float *scores, const float *query, const signed char *key, const float *scale, int heads, int keys, cudaStream_t stream)
{
    score<<<dim3((keys + 63) / 64, heads), 128, 0, stream>>>(scores, (const float4 *)query, (const int4 *)key, scale, keys);
}
