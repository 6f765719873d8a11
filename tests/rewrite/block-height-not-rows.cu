// A row of its own for each height.
// transform: block-height -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int m, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    for (int i = threadIdx.x; row < m && i < n; i += blockDim.x)
        out[row * n + i] = 2.0f * in[row * n + i];
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    dim3 block(32, 4);
    work<<<(m + 3) / 4, block, 0, stream>>>(out, in, m, n);
}
