// Neighbouring threads read neighbouring elements already.
// transform: share-columns -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows, int stride)
{
    __shared__ float partial[256];
    const float *from = in + blockIdx.x * stride;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
        sum += from[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

extern "C" void entry(float *out, const float *in, int rows, int columns, cudaStream_t stream)
{
    work<<<columns, 256, 0, stream>>>(out, in, rows, columns);
}
