#include <cuda_runtime.h>
// A thread eight values: a word of nibbles, two stores of 16 bytes.
__global__ void widen(float4 *__restrict__ out, const unsigned *__restrict__ q, const float *__restrict__ scale, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w = q[i];
    float s = scale[i / 4], v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = (float)((int)(w >> 4 * k & 15) - 8) * s;
    out[2 * i] = make_float4(v[0], v[1], v[2], v[3]);
    out[2 * i + 1] = make_float4(v[4], v[5], v[6], v[7]);
}
extern "C" void dequant4(float *out, const unsigned char *q, const float *scale, int rows, int d, cudaStream_t stream)
{
    long long n = (long long)rows * d / 8;
    widen<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>((float4 *)out, (const unsigned *)q, scale, n);
}
