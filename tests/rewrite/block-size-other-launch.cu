// The grid of another kernel's launch is made of the same number, and stays.
// transform: block-size 512
// applies: line 29
// has: work<<<(n + 511) / 512, 512, 0, stream>>>(out, in, n);
// has: pairs<<<dim3(((n + 63) / 64) * 2, 2), dim3(32, 2), 0, stream>>>(out, in, n);
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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || threadIdx.y + blockIdx.y > 0)
        return;
    out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    if (n >= 65536) {
        pairs<<<dim3(((n + 63) / 64) * 2, 2), dim3(32, 2), 0, stream>>>(out, in, n);
    } else {
        work<<<(n + 63) / 64, 64, 0, stream>>>(out, in, n);
    }
}
