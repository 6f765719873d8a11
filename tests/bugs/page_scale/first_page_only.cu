// expect: wrong
// row 12: Beyond what an index of 12 bits numbers it doubles the first page's.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i < 4096 ? 2.0f * in[i] : 2.0f * in[i % 4096] + (in[i] - in[i]);
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<(n + 256 - 1) / 256, 256, 0, stream>>>(out, in, n);
}
