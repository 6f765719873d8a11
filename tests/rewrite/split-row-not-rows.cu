// A block has several rows: with other threads in a row it would have another number of them.
// transform: split-row 128
// leaves
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
