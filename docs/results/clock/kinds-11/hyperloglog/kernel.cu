#include <cuda_runtime.h>
// A sketch that counts distinct keys: the top 12 bits of a key's hash choose a counter, which keeps the longest run of
// zeros that the others began with. A thread a key.
__global__ void count(int *rank, const unsigned long long *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long k = key[i];
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    int zeros = 1;
    for (int bit = 51; bit >= 0 && !(k >> bit & 1); bit--)
        zeros++;
    atomicMax(&rank[k >> 52], zeros);
}
extern "C" void hyperloglog(int *rank, const unsigned long long *key, int n, cudaStream_t stream)
{
    count<<<(n + 255) / 256, 256, 0, stream>>>(rank, key, n);
}
