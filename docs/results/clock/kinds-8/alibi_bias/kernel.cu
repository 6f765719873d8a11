#include <cuda_fp16.h>
// Scores less what a key's distance from its query costs; a thread a score.
__global__ void bias(__half *scores, const float *slope, int queries, int keys)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y, h = blockIdx.z;
    if (k >= keys)
        return;
    long long i = ((long long)h * queries + q) * keys + k;
    scores[i] = __float2half(__half2float(scores[i]) - slope[h] * fabsf((float)(q - k)));
}
extern "C" void alibi_bias(__half *scores, const float *slope, int heads, int queries, int keys, cudaStream_t stream)
{
    bias<<<dim3((keys + 255) / 256, queries, heads), 256, 0, stream>>>(scores, slope, queries, keys);
}
