#include <cuda_runtime.h>
// Minimizers of DNA reads: for each window of ten neighbouring 15-mers the least of their hashes. A thread a window,
// which puts every 15-mer together from its letters.
__device__ unsigned hashed(unsigned x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    x ^= x >> 13;
    return x;
}
__global__ void windows(unsigned *out, const unsigned char *bases, int reads, int len)
{
    int each = len - 23;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= reads * each)
        return;
    const unsigned char *from = bases + (long long)(i / each) * len + i % each;
    unsigned least = 0xffffffffu;
    for (int w = 0; w < 10; w++) {
        unsigned mer = 0;
        for (int k = 0; k < 15; k++)
            mer = mer << 2 | from[w + k];
        unsigned h = hashed(mer);
        if (h < least)
            least = h;
    }
    out[i] = least;
}
extern "C" void minimizer(unsigned *out, const unsigned char *bases, int reads, int len, cudaStream_t stream)
{
    windows<<<(reads * (len - 23) + 255) / 256, 256, 0, stream>>>(out, bases, reads, len);
}
