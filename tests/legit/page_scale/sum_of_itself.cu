// expect: correct
// Smaller blocks, the sum of an element and itself.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + in[i];
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<(n + 128 - 1) / 128, 128, 0, stream>>>(out, in, n);
}
