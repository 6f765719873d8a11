// Loops that take vectors, with a number of threads that is written down, and a launch without braces.
// transform: fit-grid 0
// applies: line 11
// has: const int64_t work_blocks = ((int64_t)n + (128 * 4) - 1) / (128 * 4);
// has: dim3((unsigned int)(work_blocks > 0 && work_blocks < blocks.x ? work_blocks : blocks.x)
// has: const int64_t work_blocks_2
#include <cuda_runtime.h>

__global__ void work(float4 *out, const float4 *in, int n)
{
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; i < n; i += blockDim.x * gridDim.x * 4)
        out[i / 4] = in[i / 4];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    dim3 blocks((n + 127) / 128);
    if (n % 2)
        work<<<blocks, 128, 0, stream>>>((float4 *)out, (const float4 *)in, n);
    else
        work<<<n, 128, 0, stream>>>((float4 *)out, (const float4 *)in, n);
}
