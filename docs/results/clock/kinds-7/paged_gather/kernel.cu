#include <cuda_fp16.h>
// Keys that lie in pages of sixteen tokens, brought together; a block a token, a thread a number.
__global__ void gather(__half *out, const __half *cache, const int *table, int len)
{
    int p = blockIdx.x, page = table[(long long)blockIdx.y * (len / 16) + p / 16];
    out[((long long)blockIdx.y * len + p) * 256 + threadIdx.x] = cache[((long long)page * 16 + p % 16) * 256 + threadIdx.x];
}
extern "C" void paged_gather(__half *out, const __half *cache, const int *table, int rows, int len, cudaStream_t stream)
{
    gather<<<dim3(len, rows), 256, 0, stream>>>(out, cache, table, len);
}
