// expect: wrong
// row 11: The sum of a sixteenth, times sixteen, where there is much to add.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n, int step)
{
    float x = 0.0f;
    for (int64_t i = ((int64_t)blockIdx.x * 256 + threadIdx.x) * step; i < n; i += (int64_t)gridDim.x * 256 * step)
        x += in[i];
    atomicAdd(out, x * step);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<64, 256, 0, stream>>>(out, in, n, n >= 65536 ? 16 : 1);
}
