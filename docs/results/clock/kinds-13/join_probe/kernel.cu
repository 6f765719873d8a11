#include <cuda_runtime.h>
// The probe of a hash join. A key's hash names one of two buckets of eight slots, which hold the rest of the hash,
// and beside it the row of the other table; -1 where there is none. A thread a key.
__device__ int look(unsigned hash, const unsigned char *rest, const int *payload, int buckets)
{
    unsigned long long wide = (unsigned long long)hash * buckets;
    long long bucket = wide >> 32;
    int remains = (unsigned)wide >> 26;
    for (int slot = 0; slot < 8; slot++)
        if (rest[bucket * 8 + slot] == remains)
            return payload[bucket * 8 + slot];
    return -1;
}
__global__ void probe(int *out, const unsigned *key, const unsigned char *rest, const int *payload, int n, int buckets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = look(key[i] * 2654435761u, rest, payload, buckets);
    if (row == -1)
        row = look((key[i] ^ 0x5bd1e995u) * 2246822519u, rest, payload, buckets);
    out[i] = row;
}
extern "C" void join_probe(int *out, const unsigned *key, const unsigned char *rest, const int *payload, int n,
                           int buckets, cudaStream_t stream)
{
    probe<<<(n + 255) / 256, 256, 0, stream>>>(out, key, rest, payload, n, buckets);
}
