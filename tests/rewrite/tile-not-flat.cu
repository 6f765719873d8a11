// Row and column are of different widths.
// transform: tile -1
// leaves
#include <cuda_runtime.h>

__global__ void turn(float *out, const float *in, const int rows, const int cols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = i / rows;
    const int c = i % cols;
    if (i < rows * cols)
        out[c * rows + r] = in[i];
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    turn<<<(m * n + 255) / 256, 256, 0, stream>>>(out, in, m, n);
}
