// A sum down each column, by a tree over shared memory.
// transform: share-columns 8
// applies: line 20
// has: __shared__ float partial[8][256];
// has: const unsigned int part = threadIdx.x / 8;
// has: const unsigned int column = blockIdx.x * 8 + threadIdx.x % 8;
// has: for (int i = part; i < rows; i += 128)
// has: partial[threadIdx.x % 8][part] = sum;
// has: for (int step = 128 / 2; step > 0; step /= 2)
// has: out[column] = partial[threadIdx.x % 8][0];
// has: if (columns % 8 == 0) {
// has: work_columns<<<(columns + 7) / 8, 1024, 0, stream>>>(out, in, rows, columns);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows, int stride)
{
    __shared__ float partial[256];
    const float *from = in + blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
        sum += from[i * stride];
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
