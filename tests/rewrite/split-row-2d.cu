// A block has several rows, whose threads stay as many.
// transform: split-row 0
// applies: line 12
// has: for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < d; i += gridDim.y * blockDim.x)
// has: const int row_blocks = (d + 32 - 1) / 32;
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const int *from, int rows, int d)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows) {
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = in[from[row] * d + i];
    }
}

extern "C" void entry(float *out, const float *in, const int *from, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(out, in, from, rows, d);
}
