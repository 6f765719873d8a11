// A block takes eight rows along its y: one of a row alone would leave seven out.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows, int d)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = in[row * d + i] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(out, in, rows, d);
}
