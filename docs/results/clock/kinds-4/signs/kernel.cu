#include <cuda_runtime.h>
// One bit for each number above zero, a thread a word.
__global__ void pack(unsigned *out, const float *in, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned bits = 0;
    for (int k = 0; k < 32; k++)
        bits |= (unsigned)(in[(size_t)i * 32 + k] > 0.0f) << k;
    out[i] = bits;
}
extern "C" void signs(unsigned *out, const float *in, int words, cudaStream_t stream)
{
    pack<<<(words + 255) / 256, 256, 0, stream>>>(out, in, words);
}
