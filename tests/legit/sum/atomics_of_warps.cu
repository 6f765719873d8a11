// expect: correct
// Every warp adds to the result by an atomic: the task accepts other last digits from run to run.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    float x = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x += in[i];
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, x);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = n < 256 * 128 ? (n + 255) / 256 : 128;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<blocks, 256, 0, stream>>>(out, in, n);
}
