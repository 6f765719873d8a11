// The second loop may read what another thread has stored in the first, where they do not meet.
// transform: split-loop -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    for (int r = 0; r < rows; r++)
        out[r * d + col] = 2 * in[r * d + col];
    for (int r = 1; r < rows; r++)
        out[(r + rows) * d + col] = out[(r - 1) * d + col];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(d + 127) / 128, 128, 0, stream>>>(out, in, rows, d);
}
