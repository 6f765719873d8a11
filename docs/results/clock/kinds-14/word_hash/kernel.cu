#include <cuda_runtime.h>
// The FNV-1a hash of each word of a text, whose words begin at the places given. A thread a word, byte by byte.
__global__ void fnv(unsigned *hash, const unsigned char *text, const int *start, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned h = 2166136261u;
    for (int k = start[i]; k < start[i + 1]; k++)
        h = (h ^ text[k]) * 16777619u;
    hash[i] = h;
}
extern "C" void word_hash(unsigned *hash, const unsigned char *text, const int *start, int words, int bytes,
                          cudaStream_t stream)
{
    fnv<<<(words + 255) / 256, 256, 0, stream>>>(hash, text, start, words);
}
