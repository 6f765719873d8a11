// Blocks along y have the same rows of another head; the row's number is written with the number of threads.
// transform: stage-rows 0
// applies: line 15
// has: key_rows[at / 64 * 68 + at % 64] = key[(long long)64 * blockIdx.y * keys + first_row * 64 + at];
// has: sum += query[h * 64 + c] * (float)key_rows[threadIdx.x * 68 + c];
#include <cstdint>

__global__ void score(float *scores, const float *query, const signed char *key, int keys)
{
    int k = blockIdx.x * 128 + threadIdx.x, h = blockIdx.y;
    if (k >= keys)
        return;
    float sum = 0.0f;
    for (int c = 0; c < 64; c++)
        sum += query[h * 64 + c] * (float)key[((long long)h * keys + k) * 64 + c];
    scores[h * keys + k] = sum;
}

extern "C" void entry(float *scores, const float *query, const signed char *key, int keys, int heads, cudaStream_t stream)
{
    score<<<dim3((keys + 127) / 128, heads), 128, 0, stream>>>(scores, query, key, keys);
}
