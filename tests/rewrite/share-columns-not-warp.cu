// Lanes give each other values: the threads of a column would be no warp.
// transform: share-columns -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows, int stride)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
        sum += in[i * stride + blockIdx.x];
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[blockIdx.x], sum);
}

extern "C" void entry(float *out, const float *in, int rows, int columns, cudaStream_t stream)
{
    work<<<columns, 256, 0, stream>>>(out, in, rows, columns);
}
