// One slot a warp, read by as many threads as there are warps: enough for any block.
// transform: block-size 1024
// applies: line 25
// has: work<<<rows, 1024, 0, stream>>>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    __shared__ float part[32];
    float sum = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        sum += in[blockIdx.x * d + i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>(out, in, d);
}
