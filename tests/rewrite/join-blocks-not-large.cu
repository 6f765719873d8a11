// Four such blocks fill an SM.
// transform: join-blocks -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 511) / 512, 512, 0, stream>>>(out, in, n);
}
