#include <cuda_runtime.h>
// Two counters a thread, products of 64 bits, a vector a store.
__global__ void fill(uint4 *__restrict__ out, const unsigned *__restrict__ seed, int counters)
{
    int first = blockIdx.x * 512 + threadIdx.x;
    unsigned s0 = seed[0], s1 = seed[1];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        int i = first + q * 256;
        unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = s0, k1 = s1;
#pragma unroll
        for (int round = 0; round < 10; round++) {
            unsigned long long p = 0xD2511F53ull * c0, r = 0xCD9E8D57ull * c2;
            c0 = (unsigned)(r >> 32) ^ c1 ^ k0;
            c1 = (unsigned)r;
            c2 = (unsigned)(p >> 32) ^ c3 ^ k1;
            c3 = (unsigned)p;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        if (i < counters)
            out[i] = make_uint4(c0, c1, c2, c3);
    }
}
extern "C" void philox(unsigned *out, const unsigned *seed, int counters, cudaStream_t stream)
{
    fill<<<(counters + 511) / 512, 256, 0, stream>>>((uint4 *)out, seed, counters);
}
