// Four warps share a row, and say so: sixteen may. Shared memory follows.
// transform: block-height 16
// applies: line 33
// has: const dim3 threads(32, 16, 1);
#include <cuda_runtime.h>

__device__ float total(const float *row, int n, float *shared)
{
    float sum = 0.0f;
    for (int i = threadIdx.x + threadIdx.y * blockDim.x; i < n; i += blockDim.x * blockDim.y)
        sum += row[i];
    for (int step = 1; step < 32; step *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0)
        shared[threadIdx.y] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < blockDim.y; i++)
        sum += shared[i];
    return sum;
}

__global__ void normalise(float *out, const float *in, int n)
{
    extern __shared__ float part[];
    float sum = total(in + blockIdx.x * n, n, part);
    for (int i = threadIdx.x + threadIdx.y * blockDim.x; i < n; i += blockDim.x * blockDim.y)
        out[blockIdx.x * n + i] = in[blockIdx.x * n + i] / sum;
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    const dim3 threads(32, 4, 1);
    normalise<<<m, threads, threads.y * sizeof(float), stream>>>(out, in, n);
}
