#include <cuda_runtime.h>
// Streams packed by how often each byte occurs (asymmetric numerals) become bytes again; a thread a stream.
__global__ void decode(unsigned char *out, const unsigned *state, const unsigned short *words,
                       const unsigned char *symbol, const unsigned short *often, const unsigned short *start,
                       int streams, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= streams)
        return;
    unsigned x = state[i];
    const unsigned short *next = words + (long long)i * n;
    for (int k = 0; k < n; k++) {
        unsigned slot = x & 4095, s = symbol[slot];
        out[(long long)i * n + k] = (unsigned char)s;
        x = often[s] * (x >> 12) + slot - start[s];
        if (x < 65536)
            x = x << 16 | *next++;
    }
}
extern "C" void rans_decode(unsigned char *out, const unsigned *state, const unsigned short *words,
                            const unsigned char *symbol, const unsigned short *often, const unsigned short *start,
                            int streams, int n, cudaStream_t stream)
{
    decode<<<(streams + 63) / 64, 64, 0, stream>>>(out, state, words, symbol, often, start, streams, n);
}
