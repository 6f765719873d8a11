// A thread that leaves a loop of its own cannot go on with another element; one whose number nobody bounds neither.
// transform: privatise -1
// leaves
#include <cuda_runtime.h>

__global__ void leaves(float *sums, const unsigned *bin, const float *weight, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 4; k++)
        if (weight[i * 4 + k] < 0.0f)
            return;
    atomicAdd(&sums[bin[i] & 63], weight[i]);
}

__global__ void exact(float *sums, const unsigned *bin, const float *weight)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[bin[i] & 63], weight[i]);
}

extern "C" void entry(float *sums, const unsigned *bin, const float *weight, int n, cudaStream_t stream)
{
    leaves<<<(n + 255) / 256, 256, 0, stream>>>(sums, bin, weight, n);
    exact<<<n / 256, 256, 0, stream>>>(sums, bin, weight);
}
