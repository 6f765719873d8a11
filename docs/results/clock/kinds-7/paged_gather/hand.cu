#include <cuda_fp16.h>
// A block a page, two vectors a thread.
__global__ void gather(uint4 *__restrict__ out, const uint4 *__restrict__ cache, const int *__restrict__ table, int pages)
{
    long long at = (long long)blockIdx.y * pages + blockIdx.x;
    const uint4 *from = cache + (long long)table[at] * 512;
    uint4 a = from[threadIdx.x], b = from[threadIdx.x + 256];
    out[at * 512 + threadIdx.x] = a;
    out[at * 512 + threadIdx.x + 256] = b;
}
extern "C" void paged_gather(__half *out, const __half *cache, const int *table, int rows, int len, cudaStream_t stream)
{
    gather<<<dim3(len / 16, rows), 256, 0, stream>>>((uint4 *)out, (const uint4 *)cache, table, len / 16);
}
