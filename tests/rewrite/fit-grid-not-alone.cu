// A block's own result, and loops with two bounds: fewer blocks are not the same.
// transform: fit-grid -1
// leaves
#include <cuda_runtime.h>

__global__ void sums(float *out, const float *in, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

__global__ void both(float *out, const float *in, int n, int m)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += blockDim.x * gridDim.x)
        out[n + i] = in[i] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int n, int m, cudaStream_t stream)
{
    sums<<<n, 256, 0, stream>>>(out, in, n);
    both<<<n, 256, 0, stream>>>(out, in, n, m);
}
