// Threads meet in a function that the kernel calls: a thread that returned early would be missed.
// transform: coarsen-threads -1
// leaves
#include <cuda_runtime.h>

__device__ float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

__device__ float *place(float *out, int i)
{
    return out + i;
}

template <typename T> __device__ T mean(T x)
{
    return warp_sum(x) / 32;
}

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *place(out, i) = in[i] - mean<float>(in[i]);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
