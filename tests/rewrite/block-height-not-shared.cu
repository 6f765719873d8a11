// A slot for each of four warps.
// transform: block-height -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    __shared__ float part[4];
    float sum = 0.0f;
    for (int i = threadIdx.x + threadIdx.y * blockDim.x; i < n; i += blockDim.x * blockDim.y)
        sum += in[blockIdx.x * n + i];
    for (int step = 1; step < 32; step *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0)
        part[threadIdx.y] = sum;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    work<<<m, dim3(32, 4), 0, stream>>>(out, in, n);
}
