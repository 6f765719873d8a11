#include <cuda_fp16.h>
// Eight scores a thread, rows one after the other in one dimension.
__global__ void bias(uint4 *__restrict__ scores, const float *__restrict__ slope, int queries, int n, long long all)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= all)
        return;
    unsigned row = (unsigned)(i / n);
    int q = (int)(row % (unsigned)queries), k = (int)(i - (long long)row * n) * 8;
    float s = slope[row / (unsigned)queries];
    uint4 v = scores[i];
    __half2 *h = (__half2 *)&v;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        float2 f = __half22float2(h[p]);
        f.x -= s * fabsf((float)(q - k - 2 * p));
        f.y -= s * fabsf((float)(q - k - 2 * p - 1));
        h[p] = __floats2half2_rn(f.x, f.y);
    }
    scores[i] = v;
}
extern "C" void alibi_bias(__half *scores, const float *slope, int heads, int queries, int keys, cudaStream_t stream)
{
    long long all = (long long)heads * queries * (keys / 8);
    bias<<<(unsigned)((all + 255) / 256), 256, 0, stream>>>((uint4 *)scores, slope, queries, keys / 8, all);
}
