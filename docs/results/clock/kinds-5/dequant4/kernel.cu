#include <cuda_runtime.h>
// Two nibbles a byte, groups of 32 with a scale; a thread a value.
__global__ void widen(float *out, const unsigned char *q, const float *scale, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int byte = q[i / 2], nibble = i % 2 ? byte >> 4 : byte & 15;
    out[i] = (float)(nibble - 8) * scale[i / 32];
}
extern "C" void dequant4(float *out, const unsigned char *q, const float *scale, int rows, int d, cudaStream_t stream)
{
    long long n = (long long)rows * d;
    widen<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, q, scale, n);
}
