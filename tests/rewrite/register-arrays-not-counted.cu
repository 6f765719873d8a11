// Counters that the body moves, or that index nothing of the thread's own.
// transform: register-arrays 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    float own[16], sum = 0;
    int i = threadIdx.x;
    for (int k = 0; k < 16; k++) {
        own[k] = in[k];
        if (own[k] > 1)
            k++;
    }
    for (int k = 0; k < 16; k++)
        sum += in[k] * own[i % 16];
    for (i = 0; i < 16; i++)
        sum += own[i];
    out[threadIdx.x] = sum;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, in, n);
}
