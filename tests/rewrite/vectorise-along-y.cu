// Rows along the grid's x, elements along its y.
// transform: vectorise 16
// applies: line 9
// has: const int column = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
// has: work_vec4<<<dim3(grid.x, (grid.y + 3) / 4), block, 0, stream>>>(out, in, d);
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column < d)
        out[blockIdx.x * d + column] += in[blockIdx.x * d + column];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows, (d + 255) / 256);
    dim3 block(256);
    work<<<grid, block, 0, stream>>>(out, in, d);
}
