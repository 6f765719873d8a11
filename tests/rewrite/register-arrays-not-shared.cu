// Arrays of the block, a limit that only the run knows, a pragma that is there, and too many turns.
// transform: register-arrays 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n, int terms)
{
    __shared__ float all[64];
    float own[16], long_one[1024], sum = 0;
    for (int k = 0; k < 64; k++)
        all[k] = in[k];
    for (int k = 0; k < terms; k++)
        own[k] = all[k];
#pragma unroll 4
    for (int k = 0; k < 16; k++)
        sum += own[k];
    for (int k = 0; k < 1024; k++)
        long_one[k] = sum;
    out[threadIdx.x] = long_one[n];
}

extern "C" void entry(float *out, const float *in, int n, int terms, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, in, n, terms);
}
