#include <cuda_runtime.h>
// A token's queries times a cache of keys in bytes, each with a scale; a thread a key.
__global__ void score(float *scores, const float *query, const signed char *key, const float *scale, int keys)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (k >= keys)
        return;
    const signed char *own = key + ((long long)h * keys + k) * 128;
    float sum = 0.0f;
    for (int c = 0; c < 128; c++)
        sum += query[128 * h + c] * (float)own[c];
    scores[(long long)h * keys + k] = sum * scale[(long long)h * keys + k];
}
extern "C" void kv8_scores(float *scores, const float *query, const signed char *key, const float *scale, int heads, int keys, cudaStream_t stream)
{
    score<<<dim3((keys + 127) / 128, heads), 128, 0, stream>>>(scores, query, key, scale, keys);
}
