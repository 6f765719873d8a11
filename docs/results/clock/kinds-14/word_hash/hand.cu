#include <cuda_runtime.h>
// The text of 256 words comes into shared memory in vectors, where it fits; it is then read four bytes at a time, as is
// what does not fit.
__device__ __forceinline__ unsigned step(unsigned h, unsigned byte)
{
    return (h ^ byte) * 16777619u;
}
__device__ __forceinline__ unsigned over(const unsigned char *text, int k, int end)
{
    unsigned h = 2166136261u;
    for (; k < end && k & 3; k++)
        h = step(h, text[k]);
    for (; k + 4 <= end; k += 4) {
        unsigned four = *(const unsigned *)(text + k);
        h = step(step(step(step(h, four & 255), four >> 8 & 255), four >> 16 & 255), four >> 24);
    }
    for (; k < end; k++)
        h = step(h, text[k]);
    return h;
}
#define ROOM 8192
__global__ void __launch_bounds__(256) fnv(unsigned *__restrict__ hash, const unsigned char *__restrict__ text,
                                           const int *__restrict__ start, int words, int bytes)
{
    __shared__ __align__(16) unsigned char part[ROOM];
    int t = threadIdx.x, first = blockIdx.x * 256, last = min(first + 256, words), i = first + t;
    int from = start[first] & ~15, to = start[last];
    int begin = start[min(i, words)], end = start[min(i + 1, words)];
    if (to - from <= ROOM) {
        int whole = min((to - from + 15) / 16, (bytes - from) / 16);
        for (int k = t; k < whole; k += 256)
            ((uint4 *)part)[k] = ((const uint4 *)(text + from))[k];
        for (int k = whole * 16 + t; k < to - from; k += 256)
            part[k] = text[from + k];
        __syncthreads();
        if (i < words)
            hash[i] = over(part, begin - from, end - from);
    } else if (i < words)
        hash[i] = over(text, begin, end);
}
extern "C" void word_hash(unsigned *hash, const unsigned char *text, const int *start, int words, int bytes,
                          cudaStream_t stream)
{
    fnv<<<(words + 255) / 256, 256, 0, stream>>>(hash, text, start, words, bytes);
}
