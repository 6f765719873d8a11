#include <cuda_runtime.h>
// A table of 256 hashes for each of the twelve bytes in shared memory, which each block makes once and then uses for
// many packets: twelve look-ups in place of 96 bits.
__global__ void __launch_bounds__(256)
    spread(unsigned *__restrict__ hash, const unsigned *__restrict__ tuple, const unsigned *__restrict__ key, int n)
{
    __shared__ unsigned table[12][256];
    int t = threadIdx.x;
    unsigned words[4] = {key[0], key[1], key[2], key[3]};
#pragma unroll
    for (int place = 0; place < 12; place++) {
        unsigned h = 0;
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            int at = place * 8 + bit;
            unsigned window = __funnelshift_l(words[at / 32 + 1], words[at / 32], at & 31);
            h ^= t & 128 >> bit ? window : 0u;
        }
        table[place][t] = h;
    }
    __syncthreads();
    for (long long i = (long long)blockIdx.x * 256 + t; i < n; i += (long long)gridDim.x * 256) {
        unsigned a = tuple[i * 3], b = tuple[i * 3 + 1], c = tuple[i * 3 + 2];
        unsigned x = table[0][a >> 24] ^ table[1][a >> 16 & 255] ^ table[2][a >> 8 & 255] ^ table[3][a & 255];
        unsigned y = table[4][b >> 24] ^ table[5][b >> 16 & 255] ^ table[6][b >> 8 & 255] ^ table[7][b & 255];
        unsigned z = table[8][c >> 24] ^ table[9][c >> 16 & 255] ^ table[10][c >> 8 & 255] ^ table[11][c & 255];
        hash[i] = x ^ y ^ z;
    }
}
extern "C" void toeplitz_rss(unsigned *hash, const unsigned *tuple, const unsigned *key, int n, cudaStream_t stream)
{
    int blocks = (n + 255) / 256;
    spread<<<blocks < 132 * 8 ? blocks : 132 * 8, 256, 0, stream>>>(hash, tuple, key, n);
}
