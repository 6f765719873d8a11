// The kernel knows how many warps its block has.
// transform: warp-rows -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    __shared__ float part[8];
    float total = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        total += in[blockIdx.x * d + i];
    for (int o = 16; o > 0; o /= 2)
        total += __shfl_xor_sync(0xffffffffu, total, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = total;
    __syncthreads();
    total = 0.0f;
    for (int w = 0; w < 8; w++)
        total += part[w];
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] / total;
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, d);
}
