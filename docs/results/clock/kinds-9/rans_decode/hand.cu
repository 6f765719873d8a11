#include <cuda_runtime.h>
// What a slot means lies in shared memory, in one word and a byte; words come and bytes go four at a time.
__global__ void decode(unsigned *__restrict__ out, const unsigned *__restrict__ state,
                       const unsigned long long *__restrict__ words, const unsigned char *__restrict__ symbol,
                       const unsigned short *__restrict__ often, const unsigned short *__restrict__ start, int streams,
                       int n)
{
    __shared__ int step[4096];
    __shared__ unsigned char name[4096];
    for (int k = threadIdx.x; k < 4096; k += 128) {
        int s = symbol[k];
        name[k] = (unsigned char)s;
        step[k] = (k - start[s]) * 65536 + often[s];
    }
    __syncthreads();
    int i = blockIdx.x * 128 + threadIdx.x, used = 0;
    if (i >= streams)
        return;
    unsigned x = state[i];
    unsigned long long some = 0;
    const unsigned long long *next = words + (long long)i * n;
    unsigned *to = out + (long long)i * n;
    for (int k = 0; k < n; k++) {
        unsigned four = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            unsigned slot = x & 4095;
            int by = step[slot];
            four |= (unsigned)name[slot] << 8 * b;
            x = (by & 65535) * (x >> 12) + (unsigned)(by >> 16);
            if (x < 65536) {
                if (used++ % 4 == 0)
                    some = *next++;
                x = x << 16 | (unsigned)(some & 65535);
                some >>= 16;
            }
        }
        to[k] = four;
    }
}
extern "C" void rans_decode(unsigned char *out, const unsigned *state, const unsigned short *words,
                            const unsigned char *symbol, const unsigned short *often, const unsigned short *start,
                            int streams, int n, cudaStream_t stream)
{
    decode<<<(streams + 127) / 128, 128, 0, stream>>>((unsigned *)out, state, (const unsigned long long *)words, symbol,
                                                      often, start, streams, n / 4);
}
