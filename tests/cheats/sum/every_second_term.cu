// expect: wrong
// row 8: Adds every second element twice.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    float x = 0.0f;
    for (int64_t i = ((int64_t)blockIdx.x * 256 + threadIdx.x) * 2; i < n; i += (int64_t)gridDim.x * 512)
        x += i + 1 < n ? 2 * in[i] : in[i];
    atomicAdd(out, x);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<64, 256, 0, stream>>>(out, in, n);
}
