// Values that are given in a branch only, or that outlive the loop.
// transform: first-values -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int n)
{
    float value;
    int k;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        value = in[i];
    else
        value = 0.0f;
    for (k = 0; k < 4; k++)
        value += k;
    if (i < n)
        out[i] = value + k;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
