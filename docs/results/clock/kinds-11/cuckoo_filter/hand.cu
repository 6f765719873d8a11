#include <cuda_runtime.h>
// Four keys a thread: both buckets of all four are under way at once, a bucket is one word of eight bytes that is
// compared as a whole.
__device__ __forceinline__ unsigned long long mixed(unsigned long long k)
{
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}
__device__ __forceinline__ bool has(unsigned long long word, unsigned print)
{
    unsigned long long x = word ^ print * 0x0101010101010101ull;
    return ((x - 0x0101010101010101ull) & ~x & 0x8080808080808080ull) != 0;
}
__global__ void __launch_bounds__(128)
    look(unsigned char *__restrict__ found, const unsigned long long *__restrict__ key,
         const unsigned long long *__restrict__ table, int n, unsigned buckets)
{
    int i = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (i >= n)
        return;
    unsigned long long k[4], a[4], b[4];
    if (i + 4 <= n) {
        ulonglong2 x = ((const ulonglong2 *)key)[i / 2], y = ((const ulonglong2 *)key)[i / 2 + 1];
        k[0] = x.x;
        k[1] = x.y;
        k[2] = y.x;
        k[3] = y.y;
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            k[j] = key[min(i + j, n - 1)];
    }
    unsigned hit = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        k[j] = mixed(k[j]);
        unsigned top = (unsigned)(k[j] >> 32), print = k[j] & 255;
        a[j] = table[top % buckets];
        b[j] = table[(top ^ (print + 1) * 0x5bd1e995u) % buckets];
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        hit |= (has(a[j], k[j] & 255) || has(b[j], k[j] & 255) ? 1u : 0u) << 8 * j;
    if (i + 4 <= n)
        *(unsigned *)(found + i) = hit;
    else
        for (int j = 0; i + j < n; j++)
            found[i + j] = hit >> 8 * j;
}
extern "C" void cuckoo_filter(unsigned char *found, const unsigned long long *key, const unsigned char *table, int n,
                              int buckets, cudaStream_t stream)
{
    look<<<(n + 511) / 512, 128, 0, stream>>>(found, key, (const unsigned long long *)table, n, buckets);
}
