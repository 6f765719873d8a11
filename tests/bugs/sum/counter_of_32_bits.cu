// expect: wrong words read nothing of the inputs
// row 12: The number of elements has 32 bits: of 2^32 none are left.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int n)
{
    float x = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        x += in[i];
    atomicAdd(out, x);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<64, 256, 0, stream>>>(out, in, (int)n);
}
