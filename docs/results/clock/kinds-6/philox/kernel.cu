#include <cuda_runtime.h>
// Random words by ten rounds of a counter's products; a thread a counter, four words each.
__global__ void fill(unsigned *out, const unsigned *seed, int counters)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= counters)
        return;
    unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed[0], k1 = seed[1];
    for (int round = 0; round < 10; round++) {
        unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    long long at = (long long)i * 4;
    out[at] = c0;
    out[at + 1] = c1;
    out[at + 2] = c2;
    out[at + 3] = c3;
}
extern "C" void philox(unsigned *out, const unsigned *seed, int counters, cudaStream_t stream)
{
    fill<<<(counters + 255) / 256, 256, 0, stream>>>(out, seed, counters);
}
