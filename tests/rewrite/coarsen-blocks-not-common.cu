// Nothing is read at a place that blocks along y share, but for one number of all threads.
// transform: coarsen-blocks -1
// leaves
#include <cstdint>

__global__ void scale(float *out, const float *in, const float *by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[blockIdx.y * n + i] = in[blockIdx.y * n + i] * by[0];
}

extern "C" void entry(float *out, const float *in, const float *by, int n, int rows, cudaStream_t stream)
{
    scale<<<dim3((n + 255) / 256, rows), 256, 0, stream>>>(out, in, by, n);
}
