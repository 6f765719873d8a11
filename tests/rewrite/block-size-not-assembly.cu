// A barrier in inline assembly, two calls away, waits for as many threads as there are.
// transform: block-size 512
// leaves
#include <cuda_runtime.h>

__device__ void wait_for(int threads)
{
    asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");
}

__device__ float settled(float x)
{
    wait_for(256);
    return x;
}

__global__ void work(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] * 2.0f;
    settled(0.0f);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<128, 256, 0, stream>>>(out, in, n);
}
