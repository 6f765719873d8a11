// Grid and block are dim3 variables: their first sizes are compared.
// transform: drop-grid-stride 0
// applies: line 9
// has: if ((int64_t)grid.x * block.x >= n)
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 block, grid;
    block.x = 256;
    grid.x = (n + 255) / 256;
    work<<<grid, block, 0, stream>>>(out, in, n, d);
}
