// Another kernel is launched with the same number of blocks, made for its own.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i] * 2.0f;
}

__global__ void other(float *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x / 2;
    if (i >= n || threadIdx.x % 2)
        return;
    out[i] += 1.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    int blocks = (n + 63) / 64;
    work<<<blocks, 64, 0, stream>>>(out, in, n);
    other<<<blocks, 128, 0, stream>>>(out, n);
}
