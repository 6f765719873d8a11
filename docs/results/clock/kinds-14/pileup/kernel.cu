#include <cuda_runtime.h>
// How often each base was read at each place of a genome: reads of 100 bases, sorted by where they begin. A thread
// a read, an atomic a base.
__global__ void clear(int *counts, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[i] = 0;
}
__global__ void count(int *counts, const unsigned char *bases, const int *start, int reads)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= reads)
        return;
    for (int k = 0; k < 100; k++)
        atomicAdd(&counts[((long long)start[r] + k) * 4 + bases[(long long)r * 100 + k]], 1);
}
extern "C" void pileup(int *counts, const unsigned char *bases, const int *start, int reads, int length,
                       cudaStream_t stream)
{
    long long n = (long long)length * 4;
    clear<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(counts, n);
    count<<<(reads + 127) / 128, 128, 0, stream>>>(counts, bases, start, reads);
}
