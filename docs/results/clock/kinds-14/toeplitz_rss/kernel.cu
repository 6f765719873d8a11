#include <cuda_runtime.h>
// The Toeplitz hash by which network cards spread flows over queues: for each set bit of a packet's addresses and ports
// the 32 bits of the key that begin there. A thread a packet, bit by bit.
__global__ void spread(unsigned *hash, const unsigned *tuple, const unsigned *key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = 0;
    for (int w = 0; w < 3; w++)
        for (int bit = 0; bit < 32; bit++)
            if (tuple[(long long)i * 3 + w] >> (31 - bit) & 1)
                h ^= bit ? key[w] << bit | key[w + 1] >> (32 - bit) : key[w];
    hash[i] = h;
}
extern "C" void toeplitz_rss(unsigned *hash, const unsigned *tuple, const unsigned *key, int n, cudaStream_t stream)
{
    spread<<<(n + 255) / 256, 256, 0, stream>>>(hash, tuple, key, n);
}
