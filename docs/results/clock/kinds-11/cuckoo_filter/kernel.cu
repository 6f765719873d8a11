#include <cuda_runtime.h>
// Whether keys may be in a cuckoo filter: a key's eight bits are looked for in the eight slots of two buckets. A thread
// a key, a slot after the other.
__device__ unsigned long long mixed(unsigned long long k)
{
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}
__global__ void look(unsigned char *found, const unsigned long long *key, const unsigned char *table, int n,
                     int buckets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long hash = mixed(key[i]);
    unsigned print = hash & 255, where = (unsigned)(hash >> 32) % buckets;
    unsigned char hit = 0;
    for (int k = 0; k < 2 && !hit; k++) {
        for (int slot = 0; slot < 8 && !hit; slot++)
            if (table[8ll * where + slot] == print)
                hit = 1;
        where = ((unsigned)(hash >> 32) ^ (print + 1) * 0x5bd1e995u) % buckets;
    }
    found[i] = hit;
}
extern "C" void cuckoo_filter(unsigned char *found, const unsigned long long *key, const unsigned char *table, int n,
                              int buckets, cudaStream_t stream)
{
    look<<<(n + 255) / 256, 256, 0, stream>>>(found, key, table, n, buckets);
}
