// The grid of a kernel that no workload launches follows its block, too.
// transform: block-size 512
// launched: pairs 256
// applies: line 31
// has: pairs<<<(n + 1023) / 1024, 512, 0, stream>>>(out, in, n);
// has: work<<<(n + 511) / 512, 512, 0, stream>>>(out, in, n);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i] * 2.0f;
}

__global__ void pairs(float *out, const float *in, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i >= n)
        return;
    out[i] = in[i] * 2.0f;
    out[i + 1] = in[i + 1] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    if (n % 2)
        work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
    else
        pairs<<<(n + 511) / 512, 256, 0, stream>>>(out, in, n);
}
