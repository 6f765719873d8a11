// Both sides are in order already.
// transform: tile -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < d)
        out[row * d + col] = 2.0f * in[row * d + col];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 block(16, 16);
    dim3 grid((d + 15) / 16, (n + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, in, n, d);
}
